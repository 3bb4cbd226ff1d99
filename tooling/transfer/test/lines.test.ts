// The file of an export: what was cut, bent or changed on the way is refused, wherever it was; and nobody else reads it.

import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportScope, importRecords, type MemoryExport } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { LineError, partOf, readLines, writeLines } from "../src/lines.ts";
import { transfer } from "../src/transfer.ts";
import { ann, everything, remember, WIDTH } from "./memory.ts";

let folder: string;
let whole: Buffer;
let records: number;

const opened = () => new InMemoryMemoryStore({ embeddingDimensions: WIDTH, redactor: null });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "memory-lines-"));
  const store = opened();
  for (const value of ["plain", "ü€😀", "two\u2028lines"]) await store.append(ann, value, { value });
  records = 3;
  const path = join(folder, "whole.jsonl");
  await writeLines(path, exportScope(store, ann));
  whole = await readFile(path);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The lines that the file gives, and what it ends with. */
async function read(content: Buffer | string): Promise<{ readonly lines: MemoryExport[]; readonly error?: unknown }> {
  const path = join(folder, "read.jsonl");
  await writeFile(path, content);
  const lines: MemoryExport[] = [];
  try {
    for await (const line of readLines(path)) lines.push(line);
    return { lines };
  } catch (error) {
    return { lines, error };
  }
}

test("a whole file gives every record, also with the ends of lines and the mark of another system", async () => {
  const { lines, error } = await read(whole);
  expect(error).toBeUndefined();
  expect(lines).toHaveLength(records);
  expect((await read(`\uFEFF${whole.toString("utf8").replaceAll("\n", "\r\n")}`)).lines).toEqual(lines);
});

test("cut at any byte it is refused, after the records that are whole", async () => {
  const { lines } = await read(whole);
  for (let at = 0; at < whole.length; at += 1) {
    const cut = await read(whole.subarray(0, at));
    expect(cut.error, `cut at ${at}`).toBeInstanceOf(LineError);
    expect(cut.lines).toEqual(lines.slice(0, cut.lines.length));
  }
});

describe("refused, and nothing of it told, is", () => {
  const text = () => whole.toString("utf8").split("\n").slice(0, -1);
  const joined = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  test.each<[string, () => Buffer | string]>([
    ["a file without one of its lines", () => joined(text().toSpliced(1, 1))],
    ["a file with a line twice", () => joined([text()[0] ?? "", ...text()])],
    ["what stands after its end", () => joined([...text(), text()[0] ?? ""])],
    ["two files one after the other", () => joined([...text(), ...text()])],
    ["an empty line", () => joined(text().toSpliced(1, 0, ""))],
    ["a text in Latin-1", () => Buffer.from(whole.toString("utf8").replaceAll("€😀", ""), "latin1")],
    ["a byte of a letter that was lost", () => Buffer.concat([whole.subarray(0, euro()), whole.subarray(euro() + 1)])],
    ["a text in UTF-16", () => Buffer.from(whole.toString("utf8"), "utf16le")],
  ])("%s", async (_what, content) => {
    const { error } = await read(content());
    expect(error).toBeInstanceOf(LineError);
    expect(String(error)).not.toMatch(/plain|acme|ann/);
  });

  const euro = () => whole.indexOf(Buffer.from("€")) + 1;
});

test("what cannot get lost on the way comes back from the file record for record", async () => {
  const store = opened();
  await remember(store, 30);
  const path = join(folder, "round.jsonl");
  await writeLines(path, exportScope(store, ann));
  const again = opened();
  await importRecords(again, readLines(path));
  expect(await everything(again)).toEqual(await everything(store));
});

describe("a file is for its owner only,", () => {
  async function* lines() {
    yield* (await read(whole)).lines;
  }

  it("whatever stood under its name before", async () => {
    const path = join(folder, "mode.jsonl");
    await writeFile(partOf(path), "");
    await chmod(partOf(path), 0o644);
    await writeLines(path, lines());
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it("and where a link led elsewhere, nothing is written there", async () => {
    const path = join(folder, "link.jsonl");
    const elsewhere = join(folder, "elsewhere");
    await writeFile(elsewhere, "kept");
    await symlink(elsewhere, partOf(path));
    await writeLines(path, lines());
    expect(await readFile(elsewhere, "utf8")).toBe("kept");
    expect(await readFile(path)).toEqual(whole);
  });
});

test("a folder that holds no database is not exported, and none is made there", async () => {
  const none = join(folder, "mistyped");
  const said: string[] = [];
  const args = [
    "export",
    "--from",
    `embedded:${none}`,
    "--tenant",
    "acme",
    "--file",
    join(folder, "f"),
    "--kinds",
    "profile",
  ];
  expect(await transfer(args, { environment: {}, say: (text) => said.push(text) })).toBe(2);
  expect(said.join()).toMatch(/no database/);
  await expect(stat(none)).rejects.toMatchObject({ code: "ENOENT" });
});
