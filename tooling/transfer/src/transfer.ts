// The command from its arguments to its exit code: an export to a file, or an import from one.

import { parseArgs } from "node:util";
import {
  exportScope,
  importRecords,
  isMemoryError,
  type MemoryExport,
  type MemoryKind,
  type MemoryScope,
  memoryScope,
} from "@memory/core";
import { EngineError, type EngineOptions, engineNamed, KINDS, type NamedEngine } from "./engine.ts";
import { LineError, readLines, writeLines } from "./lines.ts";

/** What the command runs in. */
export interface Surroundings {
  readonly environment: EngineOptions["environment"];
  /** Gets a line of text for a person. */
  readonly say: (text: string) => void;
  /** Stops it in order. */
  readonly signal?: AbortSignal | undefined;
}

/** What an engine takes beside its name. */
type Shape = Pick<EngineOptions, "dimensions" | "embedder" | "schema" | "collection" | "metric" | "rowSecurity">;

type Metric = NonNullable<EngineOptions["metric"]>;

const METRICS: readonly Metric[] = ["cosine", "l2", "inner"];

/** What each command would pass over in silence: whoever imports for one tenant must not think that the file's own does not count. */
const FOREIGN = {
  export: ["to", "as-is"],
  import: ["from", "tenant", "user", "session", "agent"],
} as const;

const HELP = `npm run transfer -- export --from ENGINE --tenant T [--user U] [--session S] [--agent A] --file FILE
npm run transfer -- import --to ENGINE --file FILE

  ENGINE             servers: Redis, PostgreSQL and pgvector, at MEMORY_REDIS_DSN, MEMORY_POSTGRES_DSN and
                     MEMORY_PGVECTOR_DSN (where it is not set, beside the former); keeps every kind
                     embedded:FOLDER: PostgreSQL in this process, its data in FOLDER; keeps no working memory
  --dimensions N     the width of the engine's vectors; needed where semantic records are among the kinds
  --embedder NAME    the model that makes them, where the engine's rows are stamped with it
  --schema NAME      where the servers' tables are, where it is not "memory"
  --collection NAME  which of several tables of vectors the servers have
  --metric METRIC    how its vectors are compared: ${METRICS.join(", ")}
  --row-security     the servers' tables have row security
  --file FILE        the export: a record a line, as JSON, and how many there are. Until it is whole it stands in FILE.part
  --kinds K,K        only these of ${KINDS.join(", ")}; what is left out is counted, and stands in no line's
                     number that a refusal names
  --as-is            imports without masking; without it what looks like a secret is masked, as in every write
  --help             this

What was cut is done by running it again: an export begins anew, an import passes over what is there already.
Exit code 1 when something is refused or cannot be reached, 2 when the arguments cannot be used.
`;

class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

/** The engine would lose what is to be imported. */
class LossError extends Error {
  override readonly name = "LossError";
}

/** Runs the command and gives its exit code. */
export async function transfer(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { say } = surroundings;
  try {
    const { command, ...given } = parseArguments(args);
    if (command === "help") say(HELP);
    else if (command === "export") await exportTo(given, surroundings);
    else await importFrom(given, surroundings);
    return 0;
  } catch (reason) {
    // What went wrong, and then the closing too: the first is the news.
    const error: unknown = reason instanceof SuppressedError ? reason.suppressed : reason;
    if (error instanceof ArgumentError || error instanceof EngineError) {
      say(`${error.message}\n\n${HELP}`);
      return 2;
    }
    if (error instanceof LossError) say(error.message);
    else if (surroundings.signal?.aborted) say("stopped; run it again to finish it");
    else if (error instanceof LineError) say(`the file cannot be used: ${error.message}`);
    else if (isMemoryError(error)) say(`refused: ${error.name} (${error.code}): ${error.message}`);
    else if (isFileError(error)) say(`cannot be used (${error.code}): ${error.path}`);
    else throw error;
    return 1;
  }
}

async function exportTo({ from, scope, file, kinds, shape }: Arguments, surroundings: Surroundings): Promise<void> {
  if (from === undefined || scope === undefined) throw new ArgumentError("an export takes --from and --tenant");
  const named = engineFor(from, shape, kinds);
  await using engine = await named.open({ ...shape, isSource: true, environment: surroundings.environment });
  await engine.store.verify();
  const tally = new Tally(kinds);
  const lines = exportScope(engine.store, scope, { signal: surroundings.signal });
  await writeLines(file, tally.chosen(lines), surroundings.signal);
  surroundings.say(`exported ${tally}`);
}

async function importFrom({ to, file, kinds, shape, isAsIs }: Arguments, surroundings: Surroundings): Promise<void> {
  if (to === undefined) throw new ArgumentError("an import takes --to");
  const named = engineFor(to, shape, kinds);
  // Read twice, so that nothing is made or written of a file that is not whole, or holds what the engine would lose.
  for await (const line of new Tally(kinds).chosen(readLines(file))) {
    surroundings.signal?.throwIfAborted();
    refuseLoss(named, line);
  }
  const redactor = isAsIs ? null : undefined;
  await using engine = await named.open({ ...shape, redactor, environment: surroundings.environment });
  await engine.store.verify();
  const tally = new Tally(kinds);
  await importRecords(engine.store, tally.chosen(readLines(file)), { signal: surroundings.signal });
  surroundings.say(`imported ${tally}`);
}

function engineFor(name: string, { dimensions }: Shape, kinds: readonly MemoryKind[]): NamedEngine {
  if (dimensions === undefined && kinds.includes("semantic")) {
    const others = KINDS.filter((kind) => kind !== "semantic").join(",");
    throw new ArgumentError(`name the width of the vectors with --dimensions, or leave them out: --kinds ${others}`);
  }
  return engineNamed(name);
}

function refuseLoss({ kinds }: NamedEngine, line: MemoryExport): void {
  const kind = kindOf(line);
  if (kind === undefined || kinds.includes(kind)) return;
  throw new LossError(`the engine does not keep ${kind} records; to leave them out name --kinds ${kinds.join(",")}`);
}

// What is no record is left to the import to refuse, by its line.
function kindOf(line: MemoryExport): MemoryKind | undefined {
  return KINDS.find((one) => one === line?.record?.kind);
}

/** Counts what passes, and leaves out what is not chosen. */
class Tally {
  readonly #kinds: readonly MemoryKind[];
  readonly #taken: Map<string, number> = new Map();
  #left = 0;

  constructor(kinds: readonly MemoryKind[]) {
    this.#kinds = kinds;
  }

  async *chosen(lines: AsyncIterable<MemoryExport>): AsyncGenerator<MemoryExport> {
    for await (const line of lines) {
      const kind = kindOf(line);
      if (kind !== undefined && !this.#kinds.includes(kind)) {
        this.#left += 1;
        continue;
      }
      this.#taken.set(kind ?? "unknown", (this.#taken.get(kind ?? "unknown") ?? 0) + 1);
      yield line;
    }
  }

  toString(): string {
    const total = [...this.#taken.values()].reduce((sum, count) => sum + count, 0);
    const parts = [...this.#taken].map(([kind, count]) => `${count} ${kind}`);
    const left = this.#left === 0 ? "" : `, ${this.#left} left out`;
    return `${total} records${parts.length === 0 ? "" : ` (${parts.join(", ")})`}${left}`;
  }
}

interface Arguments {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly scope: MemoryScope | undefined;
  readonly file: string;
  readonly kinds: readonly MemoryKind[];
  readonly shape: Shape;
  readonly isAsIs: boolean;
}

function parseArguments(args: readonly string[]): Arguments & { readonly command: "export" | "import" | "help" } {
  const { values, positionals } = readArguments(args);
  const { from, to, tenant, user, session, agent, file = "", kinds, help } = values;
  const [command, ...more] = positionals;
  const { embedder, "row-security": rowSecurity } = values;
  const { schema, collection } = values;
  const metric = values.metric === undefined ? undefined : metricNamed(values.metric);
  const shape = { dimensions: widthOf(values.dimensions), embedder, schema, collection, metric, rowSecurity };
  const none = { from, to, file, kinds: KINDS, scope: undefined, shape, isAsIs: values["as-is"] === true };
  if (help === true) return { ...none, command: "help" };
  if ((command !== "export" && command !== "import") || more.length > 0) {
    throw new ArgumentError("name one command: export or import");
  }
  const foreign = FOREIGN[command].find((name) => values[name] !== undefined);
  if (foreign !== undefined) throw new ArgumentError(`an ${command} takes no --${foreign}`);
  if (file === "") throw new ArgumentError("name the file with --file");
  return {
    ...none,
    command,
    kinds: kinds === undefined ? KINDS : kinds.split(",").map(kindNamed),
    scope: tenant === undefined ? undefined : scopeOf(tenant, user, session, agent),
  };
}

function scopeOf(
  tenantId: string,
  userId: string | undefined,
  sessionId: string | undefined,
  agent: string | undefined,
): MemoryScope {
  try {
    return memoryScope({ tenantId, userId, sessionId, agent });
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function readArguments(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ from: text, to: text, file: text, kinds: text, tenant: text, user: text, session: text, agent: text },
        ...{ dimensions: text, embedder: text, schema: text, collection: text, metric: text },
        ...{ "as-is": { type: "boolean" }, "row-security": { type: "boolean" } },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function widthOf(text: string | undefined): number | undefined {
  const width = Number(text);
  if (text === undefined) return undefined;
  if (!Number.isSafeInteger(width) || width < 1) throw new ArgumentError("--dimensions is a whole number above 0");
  return width;
}

function kindNamed(name: string): MemoryKind {
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined) throw new ArgumentError(`there is no kind "${name}"`);
  return kind;
}

function metricNamed(name: string): Metric {
  const metric = METRICS.find((one) => one === name);
  if (metric === undefined) throw new ArgumentError(`there is no metric "${name}"`);
  return metric;
}

function isFileError(error: unknown): error is Error & { readonly code: string; readonly path: string } {
  if (!(error instanceof Error && "code" in error && "path" in error)) return false;
  return typeof error.code === "string" && typeof error.path === "string";
}
