// An export as a file of JSON lines, written and read as a stream. A file that was cut is never taken for a whole one: it
// is written under another name until it is complete, and its last line says how many records stand before it.

import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MemoryExport } from "@memory/core";

/** A line of the file cannot be read. Nothing of its content is told. */
export class LineError extends Error {
  override readonly name = "LineError";
  constructor(line: number, problem: string) {
    super(`line ${line} ${problem}`);
  }
}

/** The name under which a file stands until it is complete. */
export function partOf(path: string): string {
  return `${path}.part`;
}

/**
 * Writes the lines, readable by their owner only, under {@link partOf} and then under `path`. What either name held before
 * is replaced, so that an export that was cut is done again from its start.
 */
export async function writeLines(
  path: string,
  lines: AsyncIterable<MemoryExport>,
  signal?: AbortSignal,
): Promise<void> {
  // What is there already, or leads elsewhere, would keep its own mode.
  await rm(partOf(path), { force: true });
  const file = createWriteStream(partOf(path), { flags: "wx", mode: 0o600, flush: true });
  await pipeline(Readable.from(texts(lines)), file, { signal });
  await rename(partOf(path), path);
}

/**
 * Reads the lines, one at a time.
 *
 * @throws {LineError} As a rejection: a line is no JSON, or not all of them are there. The lines before it were given.
 */
export async function* readLines(path: string): AsyncGenerator<MemoryExport, void, undefined> {
  let number = 0;
  let isWhole = false;
  for await (const text of eachLine(path)) {
    number += 1;
    const line = parse(text, number);
    if (isWhole) throw new LineError(number, "stands after the end");
    const records = countIn(line);
    if (records === undefined) yield line;
    else if (records !== number - 1) throw new LineError(number, `ends ${records} records; ${number - 1} are there`);
    else isWhole = true;
  }
  if (!isWhole) throw new LineError(number + 1, "is not there: the file was cut, export again");
}

// By hand: `node:readline` takes U+2028 for the end of a line too, and tells nobody that the last one has none.
async function* eachLine(path: string): AsyncGenerator<Buffer> {
  let number = 1;
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(path)) {
    let rest: Buffer = chunk;
    for (let at = rest.indexOf(0x0a); at !== -1; at = rest.indexOf(0x0a)) {
      yield Buffer.concat([...parts, rest.subarray(0, at)]);
      number += 1;
      parts = [];
      rest = rest.subarray(at + 1);
    }
    parts.push(rest);
  }
  if (parts.some(({ length }) => length > 0)) {
    throw new LineError(number, "has no end: the file was cut, export again");
  }
}

async function* texts(lines: AsyncIterable<MemoryExport>): AsyncGenerator<string> {
  let records = 0;
  for await (const line of lines) {
    records += 1;
    yield `${JSON.stringify(line).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
  }
  yield `${JSON.stringify({ records })}\n`;
}

// The parser's own message quotes the line.
function parse(text: Buffer, number: number): MemoryExport {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new LineError(number, "is no JSON in UTF-8");
  }
}

/** How many records stand before the line, where it is the one that says so. */
function countIn(line: unknown): number | undefined {
  if (typeof line !== "object" || line === null || "record" in line || !("records" in line)) return undefined;
  return typeof line.records === "number" ? line.records : undefined;
}
