// What must not be remembered is masked before it is stored and before it is compared, on every write path.

import assert from "node:assert/strict";
import { type JsonValue, type MemoryRecordInput, type MemoryStore, PatternRedactor, redact } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { KINDS, kindAccess, needsKind, record } from "../kinds.ts";

const MAIL = "ada@example.com";
const MASK = "[redacted]";

// Each with what it becomes. None of them is real: the card numbers are the issuers' published test numbers.
const SECRETS: readonly (readonly [what: string, text: string, masked: string])[] = [
  ["an e-mail address", `write to ${MAIL} today`, `write to ${MASK} today`],
  ["two e-mail addresses", `${MAIL},bob.b+x@mail.example.org`, `${MASK},${MASK}`],
  ["an API key", `key=sk-proj-${"aB3dE6gH".repeat(4)};`, `key=${MASK};`],
  ["a GitHub token", `ghp_${"aB3dE6gH9".repeat(4)}`, MASK],
  ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", MASK],
  ["a bearer token", "Authorization: Bearer abcdef1234567890XYZ", `Authorization: Bearer ${MASK}`],
  ["a JSON web token", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${"c2lnbmF0dXJl".repeat(3)}`, MASK],
  ["32 hex digits", "digest 0123456789abcdef0123456789ABCDEF.", `digest ${MASK}.`],
  ["a card number", "card 4111111111111111 please", `card ${MASK} please`],
  ["a card number with blanks", "card 4111 1111 1111 1111 please", `card ${MASK} please`],
  ["a card number with hyphens", "5555-5555-5555-4444", MASK],
  ["a card number of 15 digits", "3782 822463 10005", MASK],
  ["a card number of 14 digits", "30569309025904", MASK],
];

const NO_SECRETS: readonly JsonValue[] = [
  "01890a5d-ac96-774b-bcce-b302099a8057",
  "2026-11-03T09:30:00.000Z",
  "1767225600000",
  1_767_225_600_000,
  4_111_111_111_111_111,
  "0123456789abcdef0123456789abcde",
  "4111 1111 1111 1112",
  "the bearer of good news",
  "ada at example.com",
  "@ada",
  "[redacted]",
  "sk-",
];

const perKind: readonly ConformanceCase[] = KINDS.flatMap((kind): readonly ConformanceCase[] => [
  {
    id: `redaction/${kind}-masks-before-it-stores`,
    promise: `A ${kind} write masks \`value\` at any depth, member names, \`source\`, \`subject\`, \`predicate\` and \`metadata\`, and says where in \`redacted\`; the answer is what is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const input: MemoryRecordInput = {
        key: "k",
        value: { a: [`to ${MAIL}`, { [MAIL]: 1 }], "b.c": MAIL, plain: "text" },
        source: `mail from ${MAIL}`,
        subject: MAIL,
        predicate: ["plain", MAIL],
        metadata: { who: MAIL, [MAIL]: "named", count: 1 },
      };
      const written = await put(store, context.scope(), input);
      const found = await get(store, context.scope(), "k");
      assert.deepEqual(found, written);
      assert.deepEqual(found?.value, { a: [`to ${MASK}`, { [MASK]: 1 }], "b.c": MASK, plain: "text" });
      assert.equal(found?.source, `mail from ${MASK}`);
      assert.equal(found?.subject, MASK);
      assert.deepEqual(found?.predicate, ["plain", MASK]);
      assert.deepEqual(found?.metadata, { who: MASK, [MASK]: "named", count: 1 });
      assert.deepEqual(
        [...(found?.redacted ?? [])].sort(),
        [
          "value.a.0",
          "value.a.1.[redacted]",
          "value.b\\.c",
          "source",
          "subject",
          "predicate.1",
          "metadata.who",
          "metadata.[redacted]",
        ].sort(),
      );
    },
  },
  {
    id: `redaction/${kind}-leaves-identifiers`,
    promise: `Scope, key and id of a ${kind} record are identifiers: never masked, even where they look like a secret.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const scope = context.scope({ userId: MAIL });
      await put(store, scope, { ...record(MAIL), id: MAIL });
      const found = await get(store, scope, MAIL);
      assert.equal(found?.id, MAIL);
      assert.equal(found?.key, MAIL);
      assert.equal(found?.scope.userId, MAIL);
      assert.equal(found?.redacted, undefined);
    },
  },
  {
    id: `redaction/${kind}-asks-for-null`,
    promise: `With \`redactor: null\`, which must be asked for, a ${kind} record is stored as it is.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open({ redactor: null });
      const { put, get } = kindAccess(context, kind);
      await put(store, context.scope(), { ...record("k", { [MAIL]: MAIL }), source: MAIL });
      const found = await get(store, context.scope(), "k");
      assert.deepEqual(found?.value, { [MAIL]: MAIL });
      assert.equal(found?.source, MAIL);
      assert.equal(found?.redacted, undefined);
    },
  },
]);

/** The plainest write of any kind that the store holds, and its read. */
function anyKind(context: Parameters<ConformanceCase["run"]>[0]) {
  const kind = KINDS.find((one) => context.capabilities[one]);
  assert.ok(kind !== undefined);
  const { put, get } = kindAccess(context, kind);
  return async (store: MemoryStore, value: JsonValue) => {
    const key = context.unique();
    await put(store, context.scope(), record(key, value));
    const found = await get(store, context.scope(), key);
    assert.ok(found !== null);
    return found;
  };
}

/** Cases about redaction. */
export const redactionCases: readonly ConformanceCase[] = [
  {
    id: "redaction/default-patterns",
    promise:
      "The default redactor masks e-mail addresses, API keys, bearer tokens, JWTs, hex of 32 digits and more, and card numbers of 14 to 19 digits, by substring.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const roundTrip = anyKind(context);
      for (const [what, text, masked] of SECRETS) {
        const found = await roundTrip(store, text);
        assert.equal(found.value, masked, what);
        assert.deepEqual(found.redacted, ["value"], what);
      }
    },
  },
  {
    id: "redaction/no-false-secrets",
    promise: "UUIDs, ISO times, plain numbers and what fails its check are not secrets, and stay.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const roundTrip = anyKind(context);
      for (const value of NO_SECRETS) {
        const found = await roundTrip(store, value);
        assert.deepEqual(found.value, value);
        assert.equal(found.redacted, undefined, String(value));
      }
    },
  },
  {
    id: "redaction/extra-patterns-add",
    promise: "`extraPatterns` add to the built-in ones.",
    needs: {},
    async run(context) {
      const store = await context.open({ redactor: new PatternRedactor({ extraPatterns: [/booking-\d+/] }) });
      const found = await anyKind(context)(store, `booking-77 and booking-78 for ${MAIL}`);
      assert.equal(found.value, `${MASK} and ${MASK} for ${MASK}`);
    },
  },
  {
    id: "redaction/colliding-names-are-told-apart",
    promise: "Member names that are equal after masking are told apart by a number; none is lost.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const value = { "a@example.com": 1, plain: 2, "b@example.com": 3, "c@example.com": 4 };
      const found = await anyKind(context)(store, value);
      assert.deepEqual(found.value, { [MASK]: 1, plain: 2, [`${MASK}_2`]: 3, [`${MASK}_3`]: 4 });
    },
  },
  {
    id: "redaction/appends-are-masked",
    promise: "An appended element and its source are masked, and `redacted` says which elements.",
    needs: { working: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.append(scope, "k", "plain", { source: MAIL });
      await store.append(scope, "k", { who: MAIL });
      await store.append(scope, "k", MAIL);
      const found = await store.read(scope, "k");
      assert.deepEqual(found?.value, ["plain", { who: MASK }, MASK]);
      assert.equal(found?.source, MASK);
      assert.deepEqual([...(found?.redacted ?? [])].sort(), ["source", "value.1.who", "value.2"]);
    },
  },
  {
    id: "redaction/marks-go-with-their-value",
    promise:
      "The mark of a value that becomes the first element of a sequence goes with it, as each element's own does.",
    needs: { working: true },
    async run(context) {
      const store = await context.open();
      await store.write(context.scope(), record("k", "ask ana@example.org"));
      await store.append(context.scope(), "k", "plain");
      await store.append(context.scope(), "k", { to: "ben@example.org" });
      const whole = await store.read(context.scope(), "k");
      assert.deepEqual(whole?.value, ["ask [redacted]", "plain", { to: "[redacted]" }]);
      assert.deepEqual(whole?.redacted, ["value.0", "value.2.to"]);
      assert.deepEqual((await store.read(context.scope(), "k", { last: 1 }))?.redacted, ["value.0.to"]);
    },
  },
  {
    id: "redaction/logged-batches-are-masked",
    promise: "`logAll` masks every record.",
    needs: { episodic: true },
    async run(context) {
      const store = await context.open();
      const written = await store.logAll(context.scope(), [record("a", MAIL), record("b", MAIL)]);
      assert.deepEqual(
        written.map(({ value }) => value),
        [MASK, MASK],
      );
      const found = await store.episodes(context.scope());
      assert.deepEqual(
        found.map((hit) => hit.record.value),
        [MASK, MASK],
      );
    },
  },
  {
    id: "redaction/indexed-batches-are-masked",
    promise: "`indexAll` masks every record; search and recall give what is stored.",
    needs: { semantic: true },
    async run(context) {
      const store = await context.open();
      const embedding = context.vector(1);
      await store.indexAll(context.scope(), [
        { ...record("a", MAIL), embedding },
        { ...record("b", MAIL), embedding },
      ]);
      const found = await store.search(context.scope(), { embedding });
      assert.deepEqual(
        found.map((hit) => hit.record.value),
        [MASK, MASK],
      );
      assert.equal((await store.recall(context.scope(), "a"))?.value, MASK);
    },
  },
  {
    id: "redaction/masks-before-it-compares",
    promise: "Contents are compared after masking: the same episode logged again with its secret is the same episode.",
    needs: { episodic: true },
    async run(context) {
      const store = await context.open();
      const input = { ...record("k", `write to ${MAIL}`), id: context.unique("id"), validFrom: 1 };
      await store.log(context.scope(), input);
      await store.log(context.scope(), input);
      await store.log(context.scope(), { ...input, value: "write to bob@example.org" });
      assert.equal((await store.episodes(context.scope())).length, 1);
    },
  },
  {
    id: "redaction/supersede-is-masked",
    promise:
      "`supersede` masks before it stores, compares and judges: its answer, the belief and the history hold no secret.",
    needs: { profile: true, supersession: true },
    async run(context) {
      const store = await context.open();
      const input = { ...record("k", MAIL), id: context.unique("id"), subject: MAIL, predicate: ["mail"] };
      const first = await store.supersede(context.scope(), input);
      assert.equal(first.record.value, MASK);
      const repeat = await store.supersede(context.scope(), input);
      assert.equal(repeat.record.version, 1);
      const second = await store.supersede(context.scope(), { ...input, id: context.unique("id"), value: "none" });
      assert.equal(second.resolution, "supersede");
      assert.equal(second.superseded?.value, MASK);
      assert.deepEqual(
        (await store.history(context.scope(), "k")).map(({ value }) => value),
        [MASK, "none"],
      );
      assert.equal((await store.belief(context.scope(), "k")).record?.subject, MASK);
    },
  },
  {
    id: "redaction/masks-before-it-measures",
    promise: "A value is measured as it is stored, after masking.",
    needs: {},
    async run(context) {
      const store = await context.open({ maxValueBytes: 40 });
      const found = await anyKind(context)(store, `${"a".repeat(40)}@example.com`);
      assert.equal(found.value, MASK);
    },
  },
  {
    id: "redaction/redact-gives-what-is-stored",
    promise: "`redact(value)` gives what a store keeps of the value, so that what a caller embeds is what is stored.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const roundTrip = anyKind(context);
      const values: readonly JsonValue[] = [
        ...SECRETS.map(([, text]) => text),
        ...NO_SECRETS,
        { [MAIL]: [MAIL, { "b@example.com": MAIL }], "c@example.com": 1 },
      ];
      for (const value of values) assert.deepEqual((await roundTrip(store, value)).value, redact(value));
    },
  },
  ...perKind,
];
