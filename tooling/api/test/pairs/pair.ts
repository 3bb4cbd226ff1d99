// One small change of a public surface, and many of them compared in one program.

import { sizeOf } from "../../src/classify.ts";
import { compareFamilies } from "../../src/compare/exports.ts";
import type { Finding } from "../../src/compare/findings.ts";
import type { Family } from "../../src/families.ts";
import { readSurface } from "../../src/surface.ts";

/** What a change is called, the declarations before and after, and the findings of its class as `reason: path`. */
export type Pair = readonly [name: string, before: string, after: string, ...findings: readonly string[]];

/** A pair and everything that was found between its sides. */
export interface ComparedPair {
  readonly pair: Pair;
  readonly findings: readonly Finding[];
}

/** Compares every pair, each as the only door of a package of its own, in one program over all of them. */
export function comparePairs(pairs: readonly Pair[]): readonly ComparedPair[] {
  const overlay = new Map<string, string>();
  const sides = pairs.map(([, before, after], index) => {
    const family = (side: string, text: string): Family => {
      const folder = `/pairs/${side}/${index}`;
      const path = `${folder}/index.d.ts`;
      // A doc comment has to begin a line; of one behind other words on its line the compiler knows nothing.
      overlay.set(path, `${text.replaceAll(" /**", "\n/**")}\nexport {};\n`);
      return [{ name: "sample", version: "1.2.3", folder, doors: [{ name: "index", path }] }];
    };
    return { before: family("before", before), after: family("after", after) };
  });
  const surface = readSurface([...sides.map(({ before }) => before), ...sides.map(({ after }) => after)], overlay);
  return sides.map(({ before, after }, index) => ({
    pair: pairs[index] ?? ["", "", ""],
    findings: compareFamilies(surface, before, after),
  }));
}

/** What was found in words of a table: the size for a package after 1.0, and the findings of the gravest class. */
export function sumUp(findings: readonly Finding[]): readonly string[] {
  const [gravest] = findings;
  if (gravest === undefined) return ["none"];
  const shown = findings.filter(({ change }) => change === gravest.change);
  return [sizeOf(gravest.change, "1.2.3"), ...new Set(shown.map(({ reason, path }) => `${reason}: ${path}`))];
}
