// An export as a file of JSON lines, written and read as a stream. A file that was cut is never taken for a whole one: it
// is written under another name until it is complete, and a last line without its end is refused.

import { createReadStream, createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
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
  const file = createWriteStream(partOf(path), { mode: 0o600, flush: true });
  await pipeline(Readable.from(texts(lines)), file, { signal });
  await rename(partOf(path), path);
}

/**
 * Reads the lines, one at a time.
 *
 * @throws {LineError} As a rejection: a line is no JSON, or the last one has no end: the file was cut. The lines before it
 * were given.
 */
export async function* readLines(path: string): AsyncGenerator<MemoryExport, void, undefined> {
  let number = 0;
  let parts: string[] = [];
  // By hand: `node:readline` takes U+2028 for the end of a line too, and tells nobody that the last one has none.
  for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
    const [first = "", ...more] = String(chunk).split("\n");
    parts.push(first);
    for (const text of more) {
      number += 1;
      yield parse(parts.join(""), number);
      parts = [text];
    }
  }
  if (parts.some((part) => part !== "")) throw new LineError(number + 1, "has no end: the file was cut, export again");
}

async function* texts(lines: AsyncIterable<MemoryExport>): AsyncGenerator<string> {
  for await (const line of lines) {
    yield `${JSON.stringify(line).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
  }
}

// The parser's own message quotes the line.
function parse(text: string, number: number): MemoryExport {
  try {
    return JSON.parse(text);
  } catch {
    throw new LineError(number, "is no JSON");
  }
}
