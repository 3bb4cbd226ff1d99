// The graph, an option for scopes of many thousands: an HNSW index over all vectors, or over those of one scope. What it
// answers is quick and proves nothing; how its hits lie to each other tells where it may not be trusted, and there it is not.

import { createHash } from "node:crypto";
import { type MemoryScope, memoryScope } from "@memory/core";
import { encodeKey, MemorySettingsError, type Metric } from "@memory/core/driver";
import { type IndexPlan, PART_COLUMNS, plainIndex, scopeParams } from "@memory/core/sql";

/** Which graphs a schema has: one over everything, or one for each of these scopes alone. */
export type GraphOption = "hnsw" | { readonly hnsw: readonly MemoryScope[] };

/** What a graph is over: `undefined` for everything. */
export type GraphScope = MemoryScope | undefined;

/** The widest vectors that a graph holds, in half precision; and in full. */
const MOST_DIMENSIONS = 4_000;
const MOST_FULL_DIMENSIONS = 2_000;
/** How much work a graph is built with. At pgvector's own 64 one hit in twenty is missed, however long it is searched. */
const EF_CONSTRUCTION = 200;

/**
 * The graphs that are asked for, checked.
 *
 * @throws {MemorySettingsError} There is no such graph, or none of such wide vectors.
 */
export function checkGraphs(
  index: GraphOption | undefined,
  dimensions: number,
  isPartitioned: boolean,
): readonly GraphScope[] {
  if (index === undefined) return [];
  if (dimensions > MOST_DIMENSIONS) throw refusal(`takes vectors of up to ${MOST_DIMENSIONS} dimensions`);
  // The planner would walk through the tenant in the one partition that is meant, or through the graphs of all others.
  if (index === "hnsw" && isPartitioned)
    throw refusal("over everything goes without partitions; name the large scopes");
  if (index === "hnsw") return [undefined];
  if (typeof index !== "object" || index === null || !Array.isArray(index.hnsw)) {
    throw refusal('must be "hnsw" or { hnsw: [scope, ...] }');
  }
  return index.hnsw.map((scope) => memoryScope(scope));
}

/** The name of a graph, by which a store finds it. */
function graphName(collection: string, scope: GraphScope): string {
  if (scope === undefined) return `${collection}_graph`;
  const text = JSON.stringify(scopeParams(scope));
  return `${collection}_graph_${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}

/** How many scopes are remembered to have a graph of their own or none. */
const MOST_KNOWN = 1_000;

/** The graphs that a table has, whole ones. */
export class Graphs {
  readonly #collection: string;
  readonly #names: ReadonlySet<string>;
  // A scope's name is a hash, which costs as much as all the rest of a statement's making.
  readonly #known: Map<string, boolean> = new Map();

  /** @param names Those of the indexes. */
  constructor(collection: string, names: readonly string[]) {
    this.#collection = collection;
    this.#names = new Set(names);
  }

  /** Whether there is one over this. */
  has(of: GraphScope): boolean {
    if (this.#names.size === 0) return false;
    const key = of === undefined ? "" : encodeKey(scopeParams(of));
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const has = this.#names.has(graphName(this.#collection, of));
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, has);
    return has;
  }
}

/** The index of a graph. */
export function graphPlan(collection: string, dimensions: number, metric: Metric, scope: GraphScope): IndexPlan {
  const { expression, operatorClass } = graphOf(dimensions, metric);
  const [open, close] = expression === "embedding" ? ["", ""] : ["(", ")"];
  const only = scope === undefined ? "" : ` WHERE ${graphScopeSql("", scope)}`;
  return plainIndex(
    graphName(collection, scope),
    `hnsw (${open}${expression}${close} ${operatorClass}) WITH (ef_construction='${EF_CONSTRUCTION}')${only}`,
    scope === undefined ? "What resembles a vector, for large scopes" : "What resembles a vector, in one large scope",
  );
}

/**
 * The condition on the scope of a graph of its own. The planner cannot look into it: so no other index competes, and the same
 * text proves that the graph serves a statement, whatever its parameters.
 */
export function graphScopeSql(alias: string, scope: MemoryScope): string {
  const parts = scopeParams(scope);
  const conditions = ["tenant_id", ...PART_COLUMNS].map((name, index) => `${alias}${name} = ${literal(parts[index])}`);
  return `COALESCE((${conditions.join(" AND ")}), false)`;
}

/** What a graph is over: an expression of the column `embedding`, and the operator class that compares it. */
export function graphOf(
  dimensions: number,
  metric: Metric,
): { readonly expression: string; readonly operator: string; readonly operatorClass: string } {
  const half = `halfvec(${dimensions})`;
  // Of a direction nothing is too large for half precision.
  if (metric === "cosine") {
    return {
      expression: `(l2_normalize(embedding))::${half}`,
      operator: "<=>",
      operatorClass: "halfvec_cosine_ops",
    };
  }
  const isFull = dimensions <= MOST_FULL_DIMENSIONS;
  const kind = isFull ? "vector" : "halfvec";
  return {
    expression: isFull ? "embedding" : `(embedding)::${half}`,
    ...(metric === "l2"
      ? { operator: "<->", operatorClass: `${kind}_l2_ops` }
      : { operator: "<#>", operatorClass: `${kind}_ip_ops` }),
  };
}

// Read alike whatever `standard_conforming_strings` says.
function literal(text = ""): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'::text`;
}

function refusal(problem: string): MemorySettingsError {
  return new MemorySettingsError(`index ${problem}`, { setting: "index" });
}
