// SecretString: nothing prints it, and a second copy of this package still knows it.

import { Console } from "node:console";
import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { MemoryUnavailableError } from "./model/errors.ts";
import { SecretString } from "./secret.ts";

const TEXT = "postgres://app:Tr0ub4dor@db/app";
const secret = new SecretString(TEXT);

function consoleOutput(value: unknown): string {
  let output = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      output += String(chunk);
      done();
    },
  });
  new Console(stream).log(value);
  return output;
}

describe("SecretString", () => {
  test("gives the text out on request only", () => {
    expect(secret.reveal()).toBe(TEXT);
  });

  test.each([
    ["String()", String(secret)],
    ["a template string", `${secret}`],
    ["concatenation", `${""}${secret}`],
    ["JSON", JSON.parse(JSON.stringify({ secret })).secret],
    ["toLocaleString", secret.toLocaleString()],
    ["inspect", inspect(secret)],
    ["inspect with showHidden", inspect(secret, { showHidden: true, depth: 9 })],
    ["format", format("%s", secret)],
    ["console.log", consoleOutput(secret).trim()],
  ])("shows asterisks in %s", (_name, shown) => {
    expect(shown).toBe("**********");
  });

  test.each([
    ["an object", inspect({ deep: { secret } }, { showHidden: true, depth: 9 })],
    ["a list", inspect([secret], { showHidden: true })],
    ["a map", inspect(new Map([["dsn", secret]]), { showHidden: true })],
    ["inspect without custom forms", inspect(secret, { customInspect: false, showHidden: true, getters: true })],
    ["an error's property", inspect(Object.assign(new Error("x"), { secret }), { showHidden: true })],
    ["an error's cause", inspect(new Error("x", { cause: secret }), { showHidden: true })],
    [
      "an error of this project",
      inspect(new MemoryUnavailableError("x", { store: "s", attempts: 1, outcome: "unknown" }, secret)),
    ],
    ["its own keys", inspect(Reflect.ownKeys(secret).map((key) => Reflect.get(secret, key)))],
    ["a structured clone", inspect(structuredClone({ ...secret }))],
  ])("does not show inside %s", (_name, shown) => {
    expect(shown).not.toContain("Tr0ub4dor");
  });

  test("is recognised, and its text given out, across two copies of this package", async () => {
    vi.resetModules();
    const other = await import("./secret.ts");
    expect(other.SecretString).not.toBe(SecretString);
    const foreign: unknown = new other.SecretString("x");
    expect(foreign instanceof SecretString).toBe(false);
    expect(SecretString.isSecretString(foreign) && foreign.reveal()).toBe("x");
  });

  test.each([[null], [undefined], ["text"], [{}], [{ reveal: () => "x" }]])(
    "does not take %o for a secret",
    (value) => {
      expect(SecretString.isSecretString(value)).toBe(false);
    },
  );
});
