// Whether a change may be released, asked of the command as a person or another tool asks it: packages on disk, their
// changesets, an exit code. And that a released surface is kept as it was built.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Classification, classify } from "../src/classify.ts";
import { type Family, FamilyError, readFamily } from "../src/families.ts";
import { judgeRelease } from "../src/judge.ts";
import { readReleased, writeReleased } from "../src/released.ts";
import { readSurface } from "../src/surface.ts";
import { type Declarations, writePackage } from "./project.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
let folder = "";
// Each comparison on disk reads the compiler's libraries anew, about a second on a machine at rest.
const slow = { timeout: 120_000 };

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-release-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const index = (text: string): Declarations => ({ index: text });

function side(name: string, version: string, declarations: Declarations): Family {
  writePackage(join(folder, name, "core"), "@memory/core", version, declarations);
  return readFamily(join(folder, name));
}

type Row = readonly [
  name: string,
  released: string,
  before: string,
  after: string,
  changesets: readonly string[],
  version?: string,
];

/** What stands in the way of each row's release, all of them compared in one program. */
function judgeAll(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const overlay = new Map<string, string>();
  const family = (place: string, version: string, text: string): Family => {
    const path = `/rows/${place}/index.d.ts`;
    overlay.set(path, `${text}\nexport {};\n`);
    const doors = [{ name: "index", path }];
    return [{ name: "@memory/core", version, folder: dirname(path), doors }];
  };
  const sides = rows.map(([name, released, before, after, sizes, version = released], index) => ({
    name,
    before: family(`before/${index}`, released, before),
    after: family(`after/${index}`, version, after),
    changesets: sizes.map((size) => `---\n"@memory/core": ${size}\n---\n\nWords.\n`),
  }));
  const surface = readSurface([...sides.map(({ before }) => before), ...sides.map(({ after }) => after)], overlay);
  return new Map(
    sides.map(({ name, before, after, changesets }) => {
      const classification = classify(before, after, surface);
      return [name, judgeRelease({ before, after, classification, changesets })];
    }),
  );
}

const one = "export declare function read(): string;";
const two = `${one}\nexport declare function write(): void;`;
const deprecated = (words: string) => `${one}\n/** @deprecated ${words} */\nexport declare function write(): void;`;
const told = "since 1.1.0, use read, removed in 2.0.0";
const toldEarly = "since 0.3.0, use read, removed in 0.4.0";
const other = "/** Reads. */\nexport declare function read(): string;";

const wide = "export declare function read(key: string | number): void;";
const narrow = "export declare function read(key: string): void;";
const get = "export declare function get(): string;";
const hit = "export interface Hit { readonly id: string; readonly score: number }";
const bareHit = "export interface Hit { readonly id: string }";
const longer = deprecated("since 0.3.0, use read, removed in 0.5.0");

const passing: readonly Row[] = [
  ["with nothing changed and no changeset", "1.2.0", one, one, []],
  ["with words and a patch", "1.2.0", one, other, ["patch"]],
  ["with an addition and a minor", "1.2.0", one, two, ["minor"]],
  ["with an addition and a major beside a patch", "1.2.0", one, two, ["patch", "major"]],
  ["with a deprecation and a minor", "1.2.0", two, deprecated(told), ["minor"]],
  ["with the removal of what was deprecated and a major", "1.2.0", deprecated(told), one, ["major"]],
  ["before 1.0 with the removal of what was deprecated and a minor", "0.3.0", deprecated(toldEarly), one, ["minor"]],
  ["before 1.0 with a narrower parameter and a minor", "0.3.0", wide, narrow, ["minor"]],
  ["when the first version used the changesets up", "0.0.0", "", one, [], "0.1.0"],
  ["when a minor version used the changesets up", "1.2.0", one, two, [], "1.3.0"],
  ["when a major version used the changesets up", "1.2.0", deprecated(told), one, [], "2.0.0"],
];

const refused: readonly (readonly [Row, says: string])[] = [
  [["with words and no changeset", "1.2.0", one, other, []], "needs a patch changeset and has none"],
  [["with an addition and no changeset", "1.2.0", one, two, []], "needs a minor changeset and has none"],
  [["with an addition and a patch", "1.2.0", one, two, ["patch"]], "needs a minor changeset and has patch"],
  [["before 1.0 with an addition and a patch", "0.3.0", one, two, ["patch"]], "needs a minor changeset and has patch"],
  [
    ["with a deprecation and a patch", "1.2.0", two, deprecated(told), ["patch"]],
    "needs a minor changeset and has patch",
  ],
  [
    ["with a narrower parameter and a minor", "1.2.0", wide, narrow, ["minor"]],
    "needs a major changeset and has minor",
  ],
  [
    ["when a patch version used the changesets up", "1.2.0", one, two, [], "1.2.1"],
    "needs a minor changeset and has patch",
  ],
  [["with a removal and a major, but no deprecation", "1.2.0", two, one, ["major"]], "was not @deprecated in 1.2.0"],
  [
    ["before 1.0 with a removal and a minor, but no deprecation", "0.3.0", two, one, ["minor"]],
    "was not @deprecated in 0.3.0",
  ],
  [["with a rename and a major, but no deprecation", "1.2.0", one, get, ["major"]], "was not @deprecated in 1.2.0"],
  [
    ["with a member less and a major, but no deprecation", "1.2.0", hit, bareHit, ["major"]],
    "was not @deprecated in 1.2.0",
  ],
  [
    ["with the removal of what is promised for longer", "0.3.0", longer, one, ["minor"]],
    "promises it until 0.5.0, and this would be 0.4.0",
  ],
  [
    [
      "before 1.0 with the removal of what was deprecated, but a patch",
      "0.4.0",
      deprecated("since 0.4.0, use read"),
      one,
      ["patch"],
    ],
    "needs a minor changeset and has patch",
  ],
];

const judged = judgeAll([...passing, ...refused.map(([row]) => row)]);

test.each(passing.map(([name]) => name))("a release passes %s", (name) => {
  expect(judged.get(name)).toEqual([]);
});

test.each(refused.map(([[name], says]) => ({ name, says })))("a release is refused $name", ({ name, says }) => {
  const problems = judged.get(name) ?? [];
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(says);
});

test("what is removed after 1.0 needs the major too where it was deprecated", () => {
  const rows: readonly Row[] = [["removed", "1.2.0", deprecated(told), one, ["minor"]]];
  const problems = judgeAll(rows).get("removed") ?? [];
  expect(problems.map((problem) => /needs a major|promises it until 2\.0\.0/.exec(problem)?.[0])).toEqual([
    "needs a major",
    "promises it until 2.0.0",
  ]);
});

describe("a family", slow, () => {
  const driver = "export interface Driver { get(key: string): string }";
  const users = `import type { Driver } from "@memory/core/driver";\nexport declare function open(driver: Driver): void;`;

  function writeFamily(name: string, text: string): Family {
    writePackage(join(folder, name, "core"), "@memory/core", "1.0.0", { index: one, driver: text }, ["driver"]);
    writePackage(join(folder, name, "redis"), "@memory/redis", "1.0.0", index(users));
    return readFamily(join(folder, name));
  }

  test("is one: who makes a type of one package is seen in the others, and the finding is where it is declared", () => {
    const before = writeFamily("before", driver);
    const after = writeFamily("after", "export interface Driver { get(key: string): string; put(): void }");
    expect(classify(before, after)).toMatchObject({
      change: "breaking",
      sizes: { "@memory/core": "major" },
      findings: [{ reason: "required-member", packageName: "@memory/core", path: "Driver.put" }],
    });
  });

  test("finds a door that went, name by name", () => {
    const before = writeFamily("before", driver);
    writePackage(join(folder, "after", "core"), "@memory/core", "1.0.0", index(`${one}\n${driver}`));
    const { findings } = classify(before, readFamily(join(folder, "after")));
    expect(findings.filter(({ reason }) => reason === "removed").map(({ path }) => path)).toEqual([
      "driver: Driver",
      "index: open",
    ]);
  });

  test("takes a class with private state of the one build for that of the other", () => {
    const text = "export declare class Secret { #private; reveal(): string }".replace("#private;", "\n#private;\n");
    const open = "export declare function open(secret: Secret | string): Secret;";
    const before = side("before", "1.0.0", index(`${text}\n${open}`));
    const after = side("after", "1.0.0", index(`${text}\n${open}`));
    expect(classify(before, after).findings).toEqual([]);
  });

  test("that was never released is all new", () => {
    const { size, findings } = classify([], side("after", "0.0.0", index(two)));
    expect(size).toBe("minor");
    expect(findings.map(({ reason, path }) => `${reason}: ${path}`)).toEqual([
      "added: index: read",
      "added: index: write",
    ]);
  });

  test("with a door that is not built cannot be read", () => {
    const before = side("before", "1.0.0", index(one));
    rmSync(join(folder, "before", "core", "dist"), { recursive: true });
    expect(before).toHaveLength(1);
    expect(() => readFamily(join(folder, "before"))).toThrow(FamilyError);
  });

  test("that imports what is not there cannot be compared, since it would count as any", () => {
    const family = side("before", "1.0.0", index(`export type { Part } from "./part.ts";`));
    expect(() => classify(family, family)).toThrow(FamilyError);
  });
});

describe("what was released", slow, () => {
  test("is kept beside the package, and differs from it by nothing until something changes", () => {
    const write = (part: string) =>
      side("packages", "1.0.0", { index: `export type { Part } from "./model/part.ts";`, "model/part": part });
    write("export interface Part { readonly size: number }");
    const packages = join(folder, "packages");
    expect(readReleased(packages)).toEqual([]);
    writeReleased(packages);
    const kept = readFileSync(join(packages, "core", "etc", "released", "model", "part.d.ts"), "utf8");
    expect(kept).toBe("export interface Part { readonly size: number }\n");
    expect(classify(readReleased(packages), readFamily(packages)).findings).toEqual([]);
    const changed = write("export interface Part { readonly size: string }");
    expect(classify(readReleased(packages), changed).change).toBe("breaking");
  });
});

describe("the command", slow, () => {
  const run = (...args: readonly string[]) => {
    const result = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: "utf8" });
    return { code: result.status, out: result.stdout, err: result.stderr };
  };

  test("classify prints the classification as JSON, and ends with 1 for what breaks and 0 for what does not", () => {
    side("before", "1.0.0", index(two));
    side("after", "1.0.0", index(one));
    const broken = run("classify", "--before", "before", "--after", "after");
    const parsed: Classification = JSON.parse(broken.out);
    expect(parsed).toMatchObject({ change: "breaking", size: "major", findings: [{ path: "index: write" }] });
    expect(broken.code).toBe(1);
    expect(run("classify", "--before", "after", "--after", "before").code).toBe(0);
  });

  test("check reads the changesets, and release keeps the surface that the next check goes by", () => {
    side("packages", "1.0.0", index(deprecated(told)));
    expect(run("release", "--packages", "packages").code).toBe(0);
    side("packages", "1.0.0", index(one));
    mkdirSync(join(folder, "changesets"));
    const check = () => run("check", "--after", "packages", "--changesets", "changesets");
    expect(check()).toMatchObject({ code: 1 });
    writeFileSync(join(folder, "changesets", "shim.md"), `---\n"@memory/core": major\n---\n\nGone.\n`);
    expect(check()).toMatchObject({ code: 0 });
  });

  test("ends with 2 where nothing could be compared", () => {
    expect(run("classify", "--before", "before").code).toBe(2);
    expect(run("publish").code).toBe(2);
    expect(run("check", "--nonsense").code).toBe(2);
    side("before", "1.0.0", index(`export type { Part } from "./part.ts";`));
    expect(run("classify", "--before", "before", "--after", "before").code).toBe(2);
  });
});
