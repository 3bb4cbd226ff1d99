// What people do with pgvector by hand: the tables and indexes of each strategy, and its statement. All give the same
// columns of the same records, without parallel workers and JIT, by plans made for the parameters at hand, or kept where
// there is one plan for all: the best that each can have.

import type { MemoryScope } from "@memory/core";
import type { Metric } from "@memory/core/driver";
import { type DataSet, LIMIT, NOW, RARE, RECORD_COLUMNS, recordSql, scopeOf } from "./data.ts";

/** What is asked. */
export interface Question {
  readonly scope: MemoryScope;
  readonly reach: "exact" | "under";
  readonly isFiltered: boolean;
  /** The vector as text. */
  readonly vector: string;
}

/** A way of searching. */
export interface Strategy {
  readonly name: string;
  /** Makes what it needs, on top of `bench.records`, which has the records under their keys, and an index on metadata. */
  readonly setup?: (data: DataSet) => string;
  /** Settings of its connection. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Its statement, with the parameters of {@link parametersOf}. */
  readonly text: (data: DataSet, question: Question) => string;
  /** It answers for the first scope alone. */
  readonly isForLarge?: true;
}

/** Up to which width what it needs can be made. */
const WIDEST_GRAPH = 2_000;
const WIDEST_HALF = 1_024;

const OPERATORS: Readonly<Record<Metric, { readonly operator: string; readonly family: string }>> = {
  cosine: { operator: "<=>", family: "cosine_ops" },
  l2: { operator: "<->", family: "l2_ops" },
  inner: { operator: "<#>", family: "ip_ops" },
};

const KEY = "tenant_id, user_id, session_id, agent, key";
const METADATA = "jsonb_set('{}'::jsonb, ARRAY[tenant_id], metadata)";
const QUERY = "(SELECT $5::text::vector)";
const COLUMNS = [
  ...["user_id", "session_id", "agent", "id", "key", "value", "source", "confidence", "valid_from", "valid_to"],
  ...["subject", "predicate", "metadata", "redacted", "recorded_at"],
]
  .map((name) => `a.${name}`)
  .join(", ");

/** The parameters of every statement: a scope's parts, the vector, the instant, the filter. */
export function parametersOf({ scope, vector, isFiltered }: Question): (string | number | null)[] {
  const { tenantId, userId = "", sessionId = "", agent = "" } = scope;
  const filter = isFiltered ? JSON.stringify({ [tenantId]: { rare: RARE } }) : null;
  return [tenantId, userId, sessionId, agent, vector, NOW, filter];
}

/** What every strategy stands on: the vector in the row, as the records under their keys. */
export function recordsSql(data: DataSet, name = "records", rest = ""): string {
  return `CREATE TABLE bench.${name} (
      tenant_id text COLLATE "C" NOT NULL, user_id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL, agent text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL, id text NOT NULL, value text NOT NULL, source text NOT NULL, confidence numeric NOT NULL,
      valid_from bigint, valid_to bigint, subject text, predicate jsonb, metadata jsonb, redacted text, recorded_at bigint NOT NULL,
      embedding vector(${data.world.dimensions}) NOT NULL, PRIMARY KEY (${KEY}))${rest};
    INSERT INTO bench.${name} (${RECORD_COLUMNS}) ${recordSql(data)};
    CREATE INDEX ON bench.${name} USING gin (${METADATA} jsonb_path_ops);`;
}

const graphIndex = ({ metric }: DataSet, name: string, condition = ""): string =>
  `CREATE INDEX ON bench.${name} USING hnsw (embedding vector_${OPERATORS[metric].family})${condition};`;

const GRAPH = "bench.graph";
/** Nothing but the graph gives the order without a sort. */
const ONLY_GRAPH = { enable_sort: "off", enable_bitmapscan: "off", enable_seqscan: "off" };
/** Each row that is ranked again is looked up by its key. There is one plan for all parameters, which is kept. */
const BY_KEY = {
  ...{ enable_hashjoin: "off", enable_mergejoin: "off", enable_bitmapscan: "off", enable_seqscan: "off" },
  plan_cache_mode: "auto",
};
const strict = (ef: number): Readonly<Record<string, string>> => ({
  ...ONLY_GRAPH,
  "hnsw.iterative_scan": "strict_order",
  "hnsw.ef_search": `${ef}`,
});

/** The strategies for this data, in the order in which they stand in tables. */
export function strategies({ world: { dimensions } }: DataSet): readonly Strategy[] {
  return [
    { name: "exact, btree on scope", text: (data, question) => ranked(data, "bench.records", question, "exact") },
    ...(dimensions <= WIDEST_GRAPH ? graphs : []),
    narrowHalf,
    signBits,
    ...(dimensions <= WIDEST_HALF ? [coveringHalf] : []),
  ];
}

const graphs: readonly Strategy[] = [
  {
    name: "HNSW, filter after, ef 40",
    setup: (data) => recordsSql(data, "graph") + graphIndex(data, "graph"),
    settings: ONLY_GRAPH,
    text: (data, question) => ranked(data, GRAPH, question, "index"),
  },
  { name: "planner's choice, defaults", text: (data, question) => ranked(data, GRAPH, question, "index") },
  ...[40, 100].map(
    (ef): Strategy => ({
      name: `HNSW, strict order, ef ${ef}`,
      settings: strict(ef),
      text: (data, question) => ranked(data, GRAPH, question, "index"),
    }),
  ),
  {
    name: "8 hash partitions, planner's choice",
    setup: (data) => {
      const [create = "", insert = "", ...indexes] = recordsSql(data, "parts", " PARTITION BY HASH (tenant_id)").split(
        ";",
      );
      const parts = [...Array(8).keys()].map(
        (n) => `CREATE TABLE bench.parts_${n} PARTITION OF bench.parts FOR VALUES WITH (MODULUS 8, REMAINDER ${n})`,
      );
      return [create, ...parts, insert, ...indexes].join(";") + graphIndex(data, "parts");
    },
    text: (data, question) => ranked(data, "bench.parts", question, "index"),
  },
  {
    name: "HNSW of the large scope alone",
    setup: (data) => graphIndex(data, "records", ` WHERE ${largeSql(data, "")}`),
    settings: ONLY_GRAPH,
    text: (data, question) => ranked(data, "bench.records", question, "index", largeSql(data, "a.")),
    isForLarge: true,
  },
];

const narrowHalf: Strategy = {
  name: "exact, narrow halfvec table",
  settings: BY_KEY,
  setup: ({
    world: { dimensions },
  }) => `CREATE TABLE bench.halves AS SELECT ${KEY}, valid_from, valid_to, metadata, embedding::halfvec(${dimensions}) AS half FROM bench.records LIMIT 0;
    ALTER TABLE bench.halves ALTER COLUMN half SET STORAGE ${dimensions <= 3_900 ? "PLAIN" : "EXTERNAL"}, ADD PRIMARY KEY (${KEY});
    INSERT INTO bench.halves SELECT ${KEY}, valid_from, valid_to, metadata, embedding::halfvec(${dimensions}) FROM bench.records;
    CREATE INDEX ON bench.halves USING gin (${METADATA} jsonb_path_ops);`,
  text: (data, question) =>
    reranked(
      data,
      `SELECT ${names("a")} FROM bench.halves a WHERE ${conditions(question)}
       ORDER BY a.half ${OPERATORS[data.metric].operator} (SELECT $5::text::vector::halfvec) LIMIT ${LIMIT * 2}`,
    ),
};

const signBits: Strategy = {
  name: "sign bits in a covering btree, 20 x re-ranked",
  settings: BY_KEY,
  setup: ({ world: { dimensions } }) =>
    covering("signs", "bits", `bit(${dimensions})`, `binary_quantize(embedding)::bit(${dimensions})`),
  text: (data, question) => {
    const { dimensions } = data.world;
    const apart = `(a.bits <~> (SELECT binary_quantize($5::text::vector)::bit(${dimensions})))`;
    const by = data.metric === "cosine" ? apart : estimate(data.metric, `-cos(pi() * ${apart} / ${dimensions})`);
    const first = `SELECT ${names("a")} FROM bench.signs a WHERE ${conditions(question)} ORDER BY ${by} LIMIT ${LIMIT * 20}`;
    return reranked(data, first);
  },
};

const coveringHalf: Strategy = {
  name: "halfvec in a covering btree, 2 x re-ranked",
  settings: BY_KEY,
  setup: ({ world: { dimensions } }) =>
    covering("covers", "half", `halfvec(${dimensions})`, `l2_normalize(embedding)::halfvec(${dimensions})`),
  text: (data, question) =>
    reranked(
      data,
      `SELECT ${names("a")} FROM bench.covers a WHERE ${conditions(question)}
       ORDER BY ${estimate(data.metric, "(a.half <#> (SELECT l2_normalize($5::text::vector)::halfvec))")} LIMIT ${LIMIT * 2}`,
    ),
};

// A sketch of the vector beside the scope and the key, all of it in one index, which alone is read.
function covering(name: string, column: string, type: string, expression: string): string {
  return `CREATE TABLE bench.${name} (LIKE bench.records INCLUDING DEFAULTS);
    ALTER TABLE bench.${name} DROP COLUMN embedding, DROP COLUMN id, DROP COLUMN value, DROP COLUMN source, DROP COLUMN confidence, DROP COLUMN subject,
      DROP COLUMN predicate, DROP COLUMN redacted, DROP COLUMN recorded_at, ADD COLUMN ${column} ${type}, ADD COLUMN norm float8;
    ALTER TABLE bench.${name} ALTER COLUMN ${column} SET STORAGE PLAIN;
    INSERT INTO bench.${name} (${KEY}, valid_from, valid_to, metadata, ${column}, norm)
      SELECT ${KEY}, valid_from, valid_to, metadata, ${expression}, vector_norm(embedding) FROM bench.records;
    CREATE INDEX ON bench.${name} (tenant_id, user_id, session_id, agent) INCLUDE (key, valid_from, valid_to, ${column}, norm);
    CREATE INDEX ON bench.${name} USING gin (${METADATA} jsonb_path_ops);`;
}

// What the distance is, from the cosine's opposite and the lengths.
function estimate(metric: Metric, opposite: string): string {
  if (metric === "cosine") return opposite;
  const length = "(SELECT vector_norm($5::text::vector))";
  return metric === "inner" ? `a.norm * ${opposite}` : `a.norm * (a.norm + 2 * ${length} * ${opposite})`;
}

function ranked(data: DataSet, table: string, question: Question, by: "exact" | "index", extra = "true"): string {
  const distance = `a.embedding ${OPERATORS[data.metric].operator} ${by === "index" ? "$5::text::vector" : QUERY}`;
  return `SELECT ${COLUMNS}, 1 - (${distance}) AS score FROM ${table} a WHERE ${conditions(question)} AND ${extra}
    ORDER BY ${by === "index" ? distance : `(${distance}) + 0`} LIMIT ${LIMIT}`;
}

function reranked({ metric }: DataSet, first: string): string {
  return `WITH c AS MATERIALIZED (${first})
    SELECT ${COLUMNS}, 1 - (a.embedding ${OPERATORS[metric].operator} ${QUERY}) AS score
    FROM c JOIN bench.records a USING (${KEY}) ORDER BY a.embedding ${OPERATORS[metric].operator} ${QUERY} LIMIT ${LIMIT}`;
}

function names(alias: string): string {
  return KEY.split(", ")
    .map((name) => `${alias}.${name}`)
    .join(", ");
}

function conditions({ reach, isFiltered }: Question): string {
  const rest = reach === "exact" ? "a.session_id = $3 AND a.agent = $4" : "$3 || $4 IS NOT NULL";
  const filter = isFiltered
    ? `${METADATA.replace("tenant_id", "a.tenant_id").replace("metadata", "a.metadata")} @> $7::text::jsonb`
    : "$7::text IS NULL";
  return `a.tenant_id = $1 AND a.user_id = $2 AND ${rest} AND (a.valid_from IS NULL OR a.valid_from <= $6::bigint)
    AND (a.valid_to IS NULL OR a.valid_to > $6::bigint) AND ${filter}`;
}

function largeSql(data: DataSet, alias: string): string {
  const { tenantId, userId } = scopeOf(data, 0);
  return `${alias}tenant_id = '${tenantId}' AND ${alias}user_id = '${userId}'`;
}
