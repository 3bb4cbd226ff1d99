// One hundred thousand random JSON values through write and read: none changed. The values come in blocks, each of its own
// seed, so that one that fails is named and made again.

import assert from "node:assert/strict";
import type { JsonValue } from "@memory/core";
import { memoryScope } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import fc from "fast-check";
import { expect, it } from "vitest";

const BLOCKS = 100;
const BLOCK = 1_000;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 6 }),
  fc.constantFrom("__proto__", "", "constructor", "\u0000", "\ud800", "a.b", "toJSON"),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.constantFrom(2 ** 53 - 1, 1e-308, 5e-324, Number.MAX_VALUE),
);
const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: false },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((members): JsonValue => Object.fromEntries(members)),
  ),
})).value;

it("brings 100,000 random JSON values back as they went in", async () => {
  const seed = Date.now() % 1_000_000;
  const store = new InMemoryMemoryStore({ redactor: null });
  const scope = memoryScope({ tenantId: "fuzz" });
  let compared = 0;
  for (let block = 0; block < BLOCKS; block += 1) {
    for (const value of fc.sample(json, { numRuns: BLOCK, seed: seed + block })) {
      await store.write(scope, { key: "value", value, source: "fuzz" });
      const record = await store.read(scope, "value");
      assert.deepStrictEqual(record?.value, value, `seed ${seed + block}`);
      compared += 1;
    }
  }
  expect(compared).toBe(BLOCKS * BLOCK);
});
