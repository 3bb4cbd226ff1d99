// `npm run bench -- <suite> [options]`: runs one suite of benchmarks.

import { parseArgs } from "node:util";
import { benchCore } from "./core.ts";
import { benchPgvector, PARTS, type Part } from "./pgvector.ts";
import { benchPostgres } from "./postgres.ts";
import { benchRedis } from "./redis.ts";

const USAGE = `npm run bench -- core | postgres | redis [--quick]
npm run bench -- pgvector [--quick] [--only ${PARTS.join(",")}] [--largest N] [--no-graphs] [--docs]`;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  allowPositionals: true,
  allowNegative: true,
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    largest: { type: "string" },
    graphs: { type: "boolean", default: true },
    docs: { type: "boolean", default: false },
  },
});
const { quick } = values;

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  core: () => benchCore(),
  pgvector: () =>
    benchPgvector({
      quick,
      ...(values.only === undefined ? {} : { only: values.only.split(",").filter(isPart) }),
      ...(values.largest === undefined ? {} : { largest: Number(values.largest) }),
      hasGraphs: values.graphs,
      writesDocs: values.docs,
    }),
  postgres: () => benchPostgres({ quick }),
  redis: () => benchRedis({ quick }),
};

const [name = ""] = positionals;
const suite = suites[name];
const isKnown = (values.only ?? PARTS[0]).split(",").every(isPart) && !(Number(values.largest ?? 1_000) < 1_000);
if (suite === undefined || !isKnown) {
  const found = name === "" ? "no suite given" : suite === undefined ? `no suite "${name}"` : "no such part or size";
  console.error(`There is ${found}; there are: ${Object.keys(suites).join(", ")}\n${USAGE}`);
  process.exitCode = 1;
} else {
  await suite();
}

function isPart(text: string): text is Part {
  return PARTS.some((part) => part === text);
}
