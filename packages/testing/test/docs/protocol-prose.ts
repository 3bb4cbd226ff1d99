// The words of docs/protocol.md that are not made from cases: the introduction, the operations, and the promises that are
// proven by other tests.

/** What stands above the table of cases. */
export const INTRODUCTION: string = `
# The memory protocol

\`MemoryStore\` is one protocol over the four kinds of remembering that an agent does. The scope is the first argument of
every operation, options are the last, and every rule (scope, validation, masking, sizes, contradiction, decay, retry,
deadlines, cursors) is kept by \`@memory/core\`, whatever adapter is underneath. This page lists the operations, and every
promise with the conformance case that proves it over each adapter. How scopes, beliefs, erasure, redaction, capabilities
and errors work has a page each in this folder.

\`\`\`ts
import { memoryScope } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";

const store = new InMemoryMemoryStore();
const scope = memoryScope({ tenantId: "acme", userId: "ada" });

await store.append(scope, "conversation", { role: "user", text: "A window seat, please." });
await store.upsert(scope, { key: "seat", value: "window", source: "turn 1" });
await store.log(scope, { key: "booking", value: { flight: "AC 12" }, source: "booking tool" });

const seat = await store.profile(scope, "seat");
console.log(seat?.value); // "window"
await store.close();
\`\`\`

## The operations

Everything is a promise. What is refused is a rejection with a \`MemoryError\` and has stored nothing; an operation whose
capability is missing rejects with \`CapabilityError\`. Every operation takes \`{ signal }\` among its options. Round trips are
those of the reference adapters where nothing goes wrong; a retry after a transient failure adds one each.

### Working: the current task's scratch space

| operation | what it does | round trips |
| --- | --- | --- |
| \`write(scope, record)\` | stores or replaces the record at its key | 1 |
| \`read(scope, key, { last? })\` | the record or \`null\`; of a sequence only the newest \`last\` elements | 1 |
| \`append(scope, key, value, { source?, after? })\` | adds an element, once, and gives its position from 1; its cost does not grow with the sequence | 1 |
| \`expire(scope, key, { ttlMs })\` | lets the key read as absent after \`ttlMs\` (0: now); \`false\` where it is absent already | 1 |
| \`keys(scope, { keyPrefix?, reach?, limit?, cursor? })\` | a page of the keys that are there, without values | 1 |

### Profile: durable facts

| operation | what it does | round trips |
| --- | --- | --- |
| \`upsert(scope, record)\` | "this is now so": continues the key's single open lineage, or starts the key | 2 |
| \`supersede(scope, record, { expectedVersion?, resolves? })\` | writes a fact and lets the contradiction policy decide what it replaces | 2, and 2 more for each lost race |
| \`profile(scope, key, { asOf?, knownAt? })\` | the live record or \`null\`; a contradiction raises | 1 |
| \`belief(scope, key, { asOf?, knownAt? })\` | what is held about the key: record, weight, contradiction, what has decayed | 1 |
| \`beliefs(scope, { asOf?, knownAt?, keyPrefix?, reach?, limit?, cursor? })\` | a page of one belief for each (scope, key) | 1 |
| \`history(scope, key?, { reach? })\` | every version, by scope, key and version; \`eachVersion\` for a large scope | 1 for each 1,000 versions |

### Episodic: things that happened

| operation | what it does | round trips |
| --- | --- | --- |
| \`log(scope, record)\` | logs an episode, idempotently by (scope, id) | 1 |
| \`logAll(scope, records)\` | logs many, all or nothing | 1 for a few thousand |
| \`episodes(scope, { since?, until?, asOf?, key?, filter?, reach?, limit? })\` | the newest first | 1 |
| \`page(scope, query, { cursor? })\` | the same, a page at a time, every episode exactly once; \`eachEpisode\` walks them all. It is not a change feed: what is logged behind the cursor is not met | 1 |

### Semantic: things known, found by resemblance

| operation | what it does | round trips |
| --- | --- | --- |
| \`index(scope, record)\` | stores or replaces by key, value and vector together | 1 |
| \`indexAll(scope, records)\` | the same in bulk, all or nothing, the last of equal keys winning | 1 for a few thousand |
| \`recall(scope, key)\` | one record by its key, with its embedding, or \`null\` | 1 |
| \`search(scope, { embedding, limit?, filter?, minScore?, asOf?, reach? })\` | the closest first; where \`limit\` records match, \`limit\` come back | 1 |

### All kinds

| operation | what it does | round trips |
| --- | --- | --- |
| \`erase(scope, { kinds?, keys?, reach?, dryRun? })\` | makes everything meant unreadable at once, purges what was derived from it, then removes it; resumable | 3 and more, by how much there is |
| \`derived(scope, artefact)\` | registers what was built from a record, so that erasing the record purges it | 1 |
| \`derivations(scope, { reach?, limit?, cursor? })\` | a page of what is registered | 1 |
| \`verify()\` | checks at start-up that the server is there and as it must be | 1 and more |
| \`close()\` | lets what is in flight end, under a deadline, and closes what the store owns | none |

## How a promise is held

A case is data: an id, the promise, what it needs of a store, and the code that proves it. An adapter binds them all with
one call, under Vitest, \`node:test\` or any runner that has \`describe\` and \`test\`:

\`\`\`ts server
import { describe, test } from "node:test";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { memoryStoreConformance } from "@memory/testing";

declare function myDriver(): MemoryDriver; // yours

memoryStoreConformance({ describe, test }, { name: "mine", open: (options) => createMemoryStore(myDriver(), options) });
\`\`\`

What applies is read from the store's capabilities. A case that does not apply is skipped with its reason, after its
refusal twin has proven that the operation is refused. Cases make tenants of their own, so nothing is flushed and they run
side by side. Beside the cases, \`modelBasedRun\` drives random sequences of operations through an adapter and the in-memory
reference and compares everything that can be observed.
`;

/** Promises that are proven by other tests: the promise, then the paths. */
export const ELSEWHERE: readonly (readonly [promise: string, ...paths: string[]])[] = [
  [
    "Of an append, a supersede or a log whose answer is lost, the effect is there once, also while others write.",
    "packages/testing/test/availability.test.ts",
  ],
  [
    "A transient failure is retried with bounded attempts, doubling and full jitter, by the injected clock; a silent peer is bounded by `attemptTimeoutMs`.",
    "packages/testing/test/availability.test.ts",
    "packages/core/src/rules/retry.test.ts",
  ],
  [
    "When the budget is spent: `MemoryUnavailableError` with store, attempts and whether the effect may have happened. What is not transient is not retried.",
    "packages/testing/test/availability.test.ts",
  ],
  [
    "No more calls are in flight than the pool has connections, the queue is bounded, and a full one is `PoolExhaustedError` at once; one gate for each client object.",
    "packages/core/src/rules/gate.test.ts",
    "packages/testing/test/availability.test.ts",
  ],
  [
    "Every operation settles within its budget whatever fails, leaks no connection, leaves no unhandled rejection and shows no content in its error.",
    "packages/testing/test/availability.test.ts",
    "packages/core/src/rules/guard.test.ts",
  ],
  [
    "Redaction is linear in the length of the text, whatever it holds, and masking twice is masking once.",
    "packages/core/src/rules/redaction.test.ts",
    "packages/core/src/rules/patterns.test.ts",
  ],
  [
    "A connection string is refused where its password is a shipped default or the user's name.",
    "packages/core/src/settings.test.ts",
  ],
  ["A `SecretString` prints as asterisks everywhere.", "packages/core/src/secret.test.ts"],
  ["Keys of different scopes never meet in one encoded key.", "packages/core/src/rules/key.test.ts"],
  ["Ids are UUIDv7 in the order of their making.", "packages/core/src/model/id.test.ts"],
  [
    "In every order of arrival at most one version of a lineage is live at any instant.",
    "packages/testing/test/arrival.test.ts",
  ],
  [
    "Random sequences of operations leave the reference and a second model of the protocol equal.",
    "packages/testing/test/model.test.ts",
  ],
  [
    "A store that lacks a section or a finer capability refuses what it lacks and keeps every other promise.",
    "packages/testing/test/sections.test.ts",
  ],
  ["The suite shows in runners as it must, and fails where nothing ran.", "packages/testing/test/bindings.test.ts"],
  ["What is deprecated works and warns once a process.", "packages/core/src/rules/deprecate.test.ts"],
];
