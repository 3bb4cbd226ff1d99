// The reports of one package: one a door, from the built declarations, written or compared. They are reviewed like code.
// A type that a door shows has to be exported by one of the package's doors, or nobody could name it.

import { globSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { doorsOf } from "./doors.ts";
import { reportDoor } from "./report.ts";

/**
 * Writes etc/<door>.api.md of the package in `folder`, or only compares when `isCheck`, and says on the console what it did.
 * Gives whether all is as it has to be.
 */
export function reportPackage(folder: string, isCheck: boolean): boolean {
  let isSame = true;
  const complain = (text: string) => {
    isSame = false;
    console.error(text);
  };
  const shown = new Map<string, string>();
  const doors = doorsOf(folder);
  for (const door of doors) {
    const outcome = reportDoor(folder, door, isCheck);
    const path = join("etc", `${door.name}.api.md`);
    for (const problem of outcome.problems) complain(`${path}: ${problem}`);
    for (const symbol of outcome.unexported) shown.set(symbol, path);
    if (isCheck && outcome.isChanged) {
      complain(`${path}: the public API differs from its report; \`npm run api\` writes it anew`);
    } else {
      console.log(`${path}: ${outcome.isChanged ? "written" : "unchanged"}`);
    }
  }

  for (const path of globSync("etc/*.api.md", { cwd: folder })) {
    if (doors.some(({ name }) => basename(path) === `${name}.api.md`)) continue;
    if (isCheck) {
      complain(`${path}: there is no such door; \`npm run api\` removes its report`);
    } else {
      rmSync(join(folder, path));
      console.log(`${path}: removed, there is no such door`);
    }
  }

  const exported = exportedIn(folder);
  for (const [symbol, path] of shown) {
    if (!exported.has(symbol)) complain(`${path}: it shows ${symbol}, which no door exports`);
  }
  return isSame;
}

function exportedIn(folder: string): ReadonlySet<string> {
  const names = globSync("etc/*.api.md", { cwd: folder }).flatMap((path) =>
    [
      ...readFileSync(join(folder, path), "utf8").matchAll(
        /^export .*?\b(?:class|const|function|interface|type) (\w+)/gm,
      ),
    ].map((match) => match[1] ?? ""),
  );
  return new Set(names);
}
