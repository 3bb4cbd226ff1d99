// Scopes and lists as parameters: nothing of a caller's ever stands in the text of a statement.

import { expect, test } from "vitest";
import { arrayLiteral, exactScope, Params, scopeParams } from "./params.ts";

const scope = { tenantId: "acme", sessionId: "s'1" };

test("an exact scope is every part, an absent one as the empty text", () => {
  const p = new Params();
  expect(p.scope("a", scope, "exact")).toBe(
    "a.tenant_id=$1::text AND a.user_id=$2::text AND a.session_id=$3::text AND a.agent=$4::text",
  );
  expect(p.values).toEqual(["acme", "", "s'1", ""]);
  expect(exactScope("a")).toBe(new Params().scope("a", scope, "exact"));
  expect(scopeParams(scope)).toEqual(p.values);
});

test("what is under a scope is only the parts that it names", () => {
  const p = new Params();
  expect(p.scope("a", scope, "under")).toBe("a.tenant_id=$1::text AND a.session_id=$2::text");
  expect(p.values).toEqual(["acme", "s'1"]);
});

test("placeholders count on over conditions", () => {
  const p = new Params();
  p.add(7, "::bigint");
  expect(p.parts(scope)).toEqual(["$2::text", "$3::text", "$4::text"]);
  expect(p.values).toEqual([7, "", "s'1", ""]);
});

test.each<[readonly (string | number)[], string]>([
  [[], "{}"],
  [["a", 1], '{"a",1}'],
  [['"', "\\", ",", "{}", ""], '{"\\"","\\\\",",","{}",""}'],
])("%j is the array literal %s", (values, literal) => {
  expect(arrayLiteral(values)).toBe(literal);
});
