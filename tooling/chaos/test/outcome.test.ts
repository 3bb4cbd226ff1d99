// What an error of no class of ours says of itself in a history.

import { expect, it } from "vitest";
import { endingOf } from "../src/outcome.ts";

it("an error of no class of ours is told by its class, code and places, and nothing of its message", () => {
  const { code } = endingOf(Object.assign(new TypeError("of a secret"), { code: "ERR_TYPE" }));
  expect(code).toMatch(/^untyped:TypeError ERR_TYPE at \(?outcome\.test\.ts:\d+:\d+\)? /);
  expect(code).not.toContain("secret");
  expect(endingOf("a secret").code).toBe("untyped:string");
});
