// `npm run bench -- <suite> [--quick]`: runs one suite of benchmarks.

import { benchCore } from "./core.ts";
import { benchPgvector } from "./pgvector.ts";
import { benchPostgres } from "./postgres.ts";
import { benchRedis } from "./redis.ts";

const suites: Readonly<Record<string, (options: { readonly quick: boolean }) => Promise<unknown>>> = {
  core: benchCore,
  pgvector: benchPgvector,
  postgres: benchPostgres,
  redis: benchRedis,
};

const args = process.argv.slice(2).filter((argument) => argument !== "--");
const quick = args.includes("--quick");
const [name = ""] = args.filter((argument) => argument !== "--quick");
const suite = suites[name];
if (suite === undefined) {
  console.error(
    `There is ${name === "" ? "no suite given" : `no suite "${name}"`}; there are: ${Object.keys(suites).join(", ")}`,
  );
  process.exitCode = 1;
} else {
  await suite({ quick });
}
