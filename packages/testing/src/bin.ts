#!/usr/bin/env node
// `memory-conformance REPORT.json...`: prints reports as Markdown, and ends with 1 unless every adapter conforms: the
// gate of a CI job over reports that were written elsewhere.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ConformanceDocument } from "./document.ts";
import { formatDocument } from "./markdown.ts";

const USAGE = "memory-conformance [--quiet] REPORT.json...\n";

// What every version of the schema has and is printed; a file that was cut or made by hand may name the schema and lack it.
const OBJECTS = ["adapter", "versions"] as const;
const LISTS = ["kept", "failed", "skipped", "refusals", "announced", "unsettled"] as const;

/** A file that cannot be read as a report. */
class UsageError extends Error {}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quiet: { type: "boolean", short: "q" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
  } else {
    if (positionals.length === 0) throw new UsageError("no report is named");
    const documents = positionals.map(read);
    if (values.quiet !== true) process.stdout.write(documents.map(formatDocument).join("\n"));
    if (!documents.every(({ conforms }) => conforms)) process.exitCode = 1;
  }
} catch (error) {
  const isArgument = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isArgument && !(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}

function read(path: string): ConformanceDocument {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isDocument(parsed)) throw new UsageError(`${path} is no conformance report of the schema memory-conformance/1`);
  return parsed;
}

function isDocument(value: unknown): value is ConformanceDocument {
  if (typeof value !== "object" || value === null || Reflect.get(value, "schema") !== "memory-conformance/1")
    return false;
  const isObject = (name: string) => typeof (Reflect.get(value, name) ?? undefined) === "object";
  const isList = (name: string) => Array.isArray(Reflect.get(value, name));
  return OBJECTS.every(isObject) && LISTS.every(isList) && typeof Reflect.get(value, "conforms") === "boolean";
}
