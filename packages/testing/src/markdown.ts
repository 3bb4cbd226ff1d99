// The conformance report for people: Markdown that reads as text too. What is wrong stands first, what was kept last.

import type { ConformanceDocument, ReportedFailure, ReportedPromise, ReportedRandomRun } from "./document.ts";
import { PATH_VARIABLE, SEED_VARIABLE } from "./random-run.ts";

/** The report as Markdown: verdict, versions, what is broken, announced, not run, skipped and refused, and what is kept. */
export function formatDocument(document: ConformanceDocument): string {
  const { adapter, versions, capabilities } = document;
  const { kept, failed, skipped, refusals, announced, unsettled } = document;
  const name = adapter.version === null ? adapter.name : `${adapter.name} ${adapter.version}`;
  return [
    `# Conformance of ${name}`,
    verdictOf(document),
    table(
      ["tested with", ""],
      [
        ["adapter", name],
        ["@memory/core", versions.core],
        ["@memory/testing", versions.testing],
        ["held to", document.heldTo ?? "every case"],
        ["runtime", versions.runtime],
        ["test runner", versions.runner],
        ["server", versions.server],
        ["written at", document.writtenAt],
      ],
    ),
    ...(capabilities === null ? [] : [section("Capabilities", [capabilitiesOf(capabilities)])]),
    section(`Broken: ${failed.length}`, failed.map(failureText)),
    section(`Announced: ${announced.length}`, announced.length === 0 ? [] : [ANNOUNCED, ...announced.map(failureText)]),
    ...(document.random === null ? [] : [section("Random sequences", [randomText(document.random)])]),
    section(`Not settled: ${unsettled.length}`, listed(unsettled)),
    section(`Skipped: ${skipped.length}`, skippedText(document)),
    section(
      `Refusals checked: ${refusals.length}`,
      refusals.length === 0
        ? []
        : [
            table(
              ["lacks", "refused with CapabilityError", "in the place of"],
              refusals.map((one) => [one.capability, one.operations.join(", ") || "-", cases(one.cases.length)]),
            ),
          ],
    ),
    section(`Kept: ${kept.length}`, keptText(kept)),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

const ANNOUNCED =
  "Newer than what the adapter is held to, and not kept. They fail once it is held to the present suite.";

function verdictOf({ obstacle, complete, conforms, kept, failed, skipped, unsettled }: ConformanceDocument): string {
  const counts = `${kept.length} kept, ${failed.length} broken, ${skipped.length} skipped`;
  if (obstacle !== null) return `**Not tested**: no store could be opened. ${code(obstacle)}`;
  if (conforms) return `**Conforms**: ${counts}.`;
  if (complete) return `**Does not conform**: ${counts}.`;
  return `**Not complete**: ${counts}, ${unsettled.length} not settled.`;
}

function section(title: string, parts: readonly string[]): string {
  return parts.length === 0 ? "" : [`## ${title}`, ...parts].join("\n\n");
}

function failureText({ id, promise, section: heading, address, refusal, ...found }: ReportedFailure): string {
  return [
    `### ${id}`,
    `${promise} ([${heading}](${address}))${refusal ? " The store lacks it and must refuse it." : ""}`,
    fenced([
      `observed: ${found.observed}`,
      `expected: ${found.expected}`,
      ...(found.says === null ? [] : [`says:     ${found.says}`]),
    ]),
  ].join("\n\n");
}

function randomText({ reference, seed, sequences, comparisons, failure }: ReportedRandomRun): string {
  if (failure === null) {
    return `${sequences} sequences (seed ${seed}) were answered as ${reference} answers them; ${comparisons} answers compared.`;
  }
  const [world, ...steps] = failure.sequence;
  const variables = failure.path === null ? "" : `${SEED_VARIABLE}=${seed} ${PATH_VARIABLE}=${failure.path}`;
  return fenced([
    `differs from ${reference}${failure.says === null ? "" : `, at ${failure.says}`}`,
    `observed: ${failure.observed}`,
    `expected: ${failure.expected}`,
    ...(world === undefined ? [] : [`in ${world}`]),
    ...steps.map((step, at) => `${at + 1}. ${step}`),
    ...(variables === "" ? [] : [`replay with ${variables}`]),
  ]);
}

function skippedText({ skipped }: ConformanceDocument): readonly string[] {
  const byReason = Map.groupBy(skipped, ({ reason, refusal }) =>
    refusal ? `${reason}; that it is refused was checked` : reason,
  );
  return [...byReason].map(([reason, ones]) => [`${reason} (${cases(ones.length)}):`, ...listed(ones)].join("\n\n"));
}

function keptText(kept: readonly ReportedPromise[]): readonly string[] {
  const bySection = Map.groupBy(kept, ({ section: heading }) => heading);
  return [...bySection].map(([heading, ones]) => [`### ${heading}`, ...listed(ones)].join("\n\n"));
}

function listed(promises: readonly ReportedPromise[]): readonly string[] {
  return promises.length === 0 ? [] : [promises.map(({ id, promise }) => `- ${promise} ${code(id)}`).join("\n")];
}

function capabilitiesOf(capabilities: NonNullable<ConformanceDocument["capabilities"]>): string {
  const entries = Object.entries(capabilities);
  const flags = (value: boolean) => entries.filter(([, held]) => held === value).map(([name]) => name);
  const rest = entries.filter(([, value]) => typeof value !== "boolean" && value !== null);
  return [
    `- has: ${flags(true).join(", ") || "none"}`,
    `- lacks: ${flags(false).join(", ") || "none"}`,
    ...rest.map(([name, value]) => `- ${name}: ${String(value)}`),
  ].join("\n");
}

function cases(count: number): string {
  return count === 1 ? "1 case" : `${count} cases`;
}

function table(head: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const cell = (text: string | null) => (text ?? "not known").replaceAll("|", "\\|").replaceAll("\n", " ");
  const line = (cells: readonly (string | null)[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("\n", " ")}\``;
}

// A fence longer than any run of backticks in the text, so that the text cannot end it.
function fenced(lines: readonly string[]): string {
  const text = lines.join("\n");
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
