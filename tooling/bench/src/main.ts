// `npm run bench -- <suite>`: runs one suite of benchmarks.

import { benchCore } from "./core.ts";

const suites: Readonly<Record<string, () => Promise<void>>> = { core: benchCore };

const [name = ""] = process.argv.slice(2).filter((argument) => argument !== "--");
const suite = suites[name];
if (suite === undefined) {
  console.error(
    `There is ${name === "" ? "no suite given" : `no suite "${name}"`}; there are: ${Object.keys(suites).join(", ")}`,
  );
  process.exitCode = 1;
} else {
  await suite();
}
