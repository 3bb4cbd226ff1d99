// A user's memory with everything in it that could get lost on the way.

import { exportScope, type MemoryScope, type MemoryStore } from "@memory/core";

/** The width of the vectors. */
export const WIDTH = 3;

/** Whose memory it is. */
export const ann: MemoryScope = { tenantId: "acme", userId: "ann" };

const AWKWARD: readonly unknown[] = [
  "plain",
  "two\u2028lines\u2029and\nmore",
  "half a pair \ud800 and NUL \u0000",
  { ["__proto__"]: 1, "": null, nested: [[[]]] },
  [2 ** 53 - 1, 1e-308, -0.5],
  JSON.parse('{"__proto__":{"a":1}}'),
];

/** Writes it. `episodes` says how many there are. */
export async function remember(store: MemoryStore, episodes: number = 300): Promise<void> {
  const session = { ...ann, sessionId: "s:1%", agent: "planner" };
  const source = "test";
  for (const [n, value] of AWKWARD.entries()) {
    const own = { key: `k${n}`, value: JSON.parse(JSON.stringify(value)), source };
    await store.write(ann, { ...own, confidence: 0.5 });
    await store.append(session, "turns", own.value);
    await store.upsert(session, own);
    await store.index(ann, { ...own, embedding: [1, n, 0.1], metadata: { n, kept: true } });
  }
  await store.append(ann, "turns", ["a nested array"]);
  await store.expire(ann, "k0", { ttlMs: 3_600_000 });
  // A contradiction, its settlement, a note about the past, an id that is used again.
  for (const id of ["x", "y"]) await store.supersede(ann, { id, key: "city", value: id, source, subject: id });
  await store.supersede(ann, { id: "z", key: "city", value: "z", source, subject: "x" }, { resolves: ["y"] });
  await store.supersede(ann, { id: "z", key: "city", value: "before", source, subject: "x", validFrom: 1_000 });
  await store.supersede(ann, { key: "later", value: 1, source, validFrom: Date.now() + 9_000_000, predicate: ["is"] });
  await store.upsert(ann, { key: "mail", value: "write to ann@example.org", source });
  await store.logAll(
    session,
    Array.from({ length: episodes }, (_, n) => ({
      id: `e${n}`,
      key: `trip ${n % 7}`,
      value: AWKWARD[n % 2] === "plain" ? n : `text ${n}`,
      source,
      validFrom: 1_000 + (n % 50),
      ...(n % 3 === 0 ? { validTo: 5_000, metadata: { n } } : {}),
    })),
  );
}

/** Everything of the user, as JSON lines; how long a key still has is all that may differ from one look to the next. */
export async function everything(store: MemoryStore): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { expiresInMs, ...line } of exportScope(store, ann)) {
    found.push(JSON.stringify({ ...line, expires: expiresInMs !== undefined }));
  }
  return found;
}
