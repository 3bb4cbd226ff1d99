// Each case is a small package with one import in it, and says whether that import is an arrow.

import { describe, expect, test } from "vitest";
import { checkArrows, importsOf } from "./arrows.ts";
import type { Member } from "./repository.ts";

function member(name: string, path: string, text: string): Member {
  const folder = `packages/${name}`;
  return {
    folder,
    manifest: {
      name: `@memory/${name}`,
      dependencies: { valibot: "1" },
      devDependencies: name === "core" ? {} : { "@memory/testing": "workspace:^", "@memory/postgres": "workspace:^" },
      peerDependencies: name === "core" ? {} : { "@memory/core": "workspace:^" },
    },
    sources: [{ path: `${folder}/${path}`, text }],
    paths: new Set(),
  };
}

const problems = (name: string, path: string, text: string) => checkArrows([member(name, path, text)]).length;

describe("arrows inside core", () => {
  test.each([
    ["src/rules/decay.ts", `import type { Decay } from "../model/record.ts";`],
    ["src/store.ts", `import { plan } from "./rules/beliefs.ts";`],
    ["src/index.ts", `export { store } from "./store.ts";`],
    ["src/rules/beliefs.ts", `import type { WritePlan } from "../model/driver.ts";`],
    ["src/driver.ts", `export { createMemoryStore } from "./store.ts";`],
    ["src/postgres-js/send.ts", `import type { Row } from "../sql/executor.ts";`],
    ["src/model/scope.test.ts", `import { store } from "../store.ts";`],
    ["src/model/scope.ts", `import * as v from "valibot";`],
    ["src/model/scope.ts", `/** Example:\n * import { x } from "../store.ts";\n */\n// import "../store.ts";`],
  ])("%s may say %s", (path, text) => {
    expect(problems("core", path, text)).toBe(0);
  });

  test.each([
    ["src/model/record.ts", `import { plan } from "../rules/beliefs.ts";`],
    ["src/model/record.ts", `import type { WritePlan } from "../driver.ts";`],
    ["src/rules/gate.ts", `import { driver } from "../driver.ts";`],
    ["src/rules/gate.ts", `import {\n  store,\n  other,\n} from "../store.ts";`],
    ["src/store.ts", `export * from "./index.ts";`],
    ["src/index.ts", `export * from "./sql.ts";`],
    ["src/driver.ts", `export { Pool } from "./postgres-js/pool.ts";`],
    ["src/sql/verify.ts", `import { send } from "../postgres-js/send.ts";`],
    ["src/rules/gate.ts", `const late = await import("../store.ts");`],
    ["src/stray.ts", `import { plan } from "./rules/beliefs.ts";`],
    ["src/store.ts", `import { sample } from "./store.test.ts";`],
  ])("%s may not say %s", (path, text) => {
    expect(problems("core", path, text)).toBe(1);
  });
});

describe("arrows between packages", () => {
  test.each([
    ["redis", "src/driver.ts", `import type { MemoryDriver } from "@memory/core/driver";`],
    ["redis", "src/driver.test.ts", `import { memoryStoreConformance } from "@memory/testing";`],
    ["testing", "test/self.test.ts", `import { cases } from "@memory/testing";`],
    ["routed", "test/live.test.ts", `import { PostgresMemoryStore } from "@memory/postgres";`],
    ["core", "src/store.ts", `import { createHash } from "node:crypto";`],
  ])("%s: %s may say %s", (name, path, text) => {
    expect(problems(name, path, text)).toBe(0);
  });

  test.each([
    ["core", "src/store.ts", `import { x } from "@memory/testing";`],
    ["core", "src/store.test.ts", `import { x } from "@memory/testing";`],
    ["redis", "src/driver.ts", `import { x } from "@memory/postgres";`],
    ["redis", "src/driver.ts", `import { x } from "@memory/testing";`],
    ["redis", "test/live.test.ts", `import { x } from "@memory/postgres";`],
    ["routed", "src/driver.ts", `import { x } from "@memory/postgres";`],
    ["redis", "src/driver.ts", `import { x } from "../../core/src/index.ts";`],
    ["redis", "src/driver.ts", `import { test } from "vitest";`],
    ["redis", "src/driver.ts", `import ioredis from "ioredis";`],
  ])("%s: %s may not say %s", (name, path, text) => {
    expect(problems(name, path, text)).toBe(1);
  });
});

test("every form of import is seen", () => {
  const text = `import "a";\nimport b from "b";\nimport { c, type d } from "c";\nexport * as e from "e";\nexport type { F } from "f";`;
  expect(importsOf(text)).toEqual(["a", "b", "c", "e", "f"]);
});
