// Conditions of lists: ranges and equalities, whatever the key or the filter holds.

import { expect, test } from "vitest";
import { afterKey, metadataConditions, prefixConditions } from "./conditions.ts";
import { Params } from "./params.ts";

const scope = { tenantId: 'a"b' };

test.each([
  ["a", "b"],
  ["a%_", "a%`"],
  ["\ud7ff", "\ue000"],
  ["a\u{10ffff}", "b"],
])("keys that begin with %j are below %j", (prefix, end) => {
  const p = new Params();
  expect(prefixConditions(p, "a", prefix)).toEqual(["a.key>=$1::text", "a.key<$2::text"]);
  expect(p.values).toEqual([prefix, end]);
});

test("what begins with the greatest character has no upper end, and no prefix is no condition", () => {
  expect(prefixConditions(new Params(), "a", "\u{10ffff}")).toEqual(["a.key>=$1::text"]);
  expect(prefixConditions(new Params(), "a", "")).toEqual([]);
  expect(prefixConditions(new Params(), "a", undefined)).toEqual([]);
});

test("a page goes on behind a scope and a key", () => {
  const p = new Params();
  expect(afterKey(p, "b", { scope: { tenantId: "t", userId: "u" }, key: "k" })).toEqual([
    "(b.user_id,b.session_id,b.agent,b.key)>($1::text,$2::text,$3::text,$4::text)",
  ]);
  expect(p.values).toEqual(["u", "", "", "k"]);
  expect(afterKey(p, "b", undefined)).toEqual([]);
});

test("a filter is one condition a name, over the tenant's own metadata", () => {
  const p = new Params();
  const conditions = metadataConditions(p, "a", scope, { tier: ["gold", "silver"] });
  const metadata = "jsonb_set('{}'::jsonb, ARRAY[a.tenant_id], a.metadata)";
  expect(conditions).toEqual([`(${metadata} @> $1::text::jsonb OR ${metadata} @> $2::text::jsonb)`]);
  expect(p.values.map((value) => JSON.parse(String(value)))).toEqual([
    { 'a"b': { tier: "gold" } },
    { 'a"b': { tier: "silver" } },
  ]);
});

test("a name that objects inherit is a name", () => {
  const p = new Params();
  const filter = Object.fromEntries([["__proto__", [true]]]);
  expect(metadataConditions(p, "a", scope, filter)).toHaveLength(1);
  expect(p.values).toEqual(['{"a\\"b":{"__proto__":true}}']);
});

test("many values are one parameter", () => {
  const p = new Params();
  const values = [...Array(101).keys()];
  expect(metadataConditions(p, "a", scope, { n: values })).toHaveLength(1);
  expect(p.values).toHaveLength(1);
  expect(JSON.parse(String(p.values[0]))).toHaveLength(101);
});
