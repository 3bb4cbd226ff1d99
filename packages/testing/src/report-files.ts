// Where a report goes: into the files that the caller or the environment names. Written anew after every case, each time
// as a whole, so that it is there and true in any runner, also when the process is cut off.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ConformanceDocument, conformanceDocument } from "./document.ts";
import { formatDocument } from "./markdown.ts";
import type { ConformanceReport } from "./report.ts";

/** The environment's name for where reports go: paths as for the option `report`, separated by commas. */
const REPORT_VARIABLE = "MEMORY_CONFORMANCE_REPORT";

/**
 * The files that a report goes to. A path that ends in `.json` or `.md` is a file of that format; any other is a folder,
 * which gets one of each, named after the target.
 */
export function reportFiles(target: string, paths: readonly string[]): readonly string[] {
  const slug = target
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  const files = paths.flatMap((path) =>
    /\.(?:json|md)$/.test(path) ? [path] : [".json", ".md"].map((ending) => join(path, `${slug || "store"}${ending}`)),
  );
  return [...new Set(files)];
}

/** The paths that the option and the environment name together; none where the option is `false`. */
export function reportPaths(option: string | readonly string[] | false | undefined): readonly string[] {
  if (option === false) return [];
  const own = option === undefined ? [] : typeof option === "string" ? [option] : option;
  const named = (process.env[REPORT_VARIABLE] ?? "").split(",").map((path) => path.trim());
  return [...own, ...named].filter((path) => path !== "");
}

/** Writes the report as it stands; a reader sees this one or the one before, never half of one. */
export function writeReport(report: ConformanceReport, files: readonly string[]): void {
  if (files.length === 0) return;
  const document = conformanceDocument(report);
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, file.endsWith(".md") ? formatDocument(document) : jsonOf(document));
    renameSync(draft, file);
  }
}

function jsonOf(document: ConformanceDocument): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
