// What a source file is refused for.

import { expect, test } from "vitest";
import { checkSources } from "./sources.ts";

const problems = (text: string, path = "packages/core/src/a.ts") =>
  checkSources([
    { folder: "packages/core", manifest: { name: "@memory/core" }, sources: [{ path, text }], paths: new Set() },
  ]);

test.each(["// What stands here.\n", "/** What stands here. */\n", "#!/usr/bin/env node\n// What stands here.\n"])(
  "a header comment is seen in %j",
  (text) => {
    expect(problems(`${text}export const a = 1;\n`)).toEqual([]);
  },
);

test.each([
  `import a from "a";\n// Too late.\n`,
  `// Head.\nexport default 1;\n`,
  `// Head.\n// ${"TO"}DO later\n`,
  `// Head.\n// @${"ts"}-ignore\n`,
])("%j is refused", (text) => {
  expect(problems(text)).toHaveLength(1);
});

test("settings of a tool may be a default export", () => {
  expect(problems("// Head.\nexport default {};\n", "tooling/vitest/vitest.config.ts")).toEqual([]);
});
