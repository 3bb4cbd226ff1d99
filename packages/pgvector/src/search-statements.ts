// The statements of a search, their parameters and their rows. Every value that the planner could look at stands in a subquery
// of its own, and what is meant for one index is said as only that one can serve it: so there is one plan, before the first
// ANALYZE as after it, at the first execution as at the hundredth.

import type { MemoryScope } from "@memory/core";
import type { Metric, NearestRequest } from "@memory/core/driver";
import { columnsOf, metadataConditions, PART_COLUMNS, RECORD_COLUMNS, type Statement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import type { Place } from "./extension.ts";
import { graphOf, graphScopeSql } from "./graph.ts";
import { METRICS } from "./metric.ts";
import { type Asking, Placeholders, shapeOf } from "./placeholders.ts";
import { APART, likelyBoundSql, rankSql, type Sketch, sketchOf } from "./sketch.ts";

/** How a scope that is not larger than this is searched by a filter, or by signs: every record of it is looked at. */
export const SMALL_SCOPE = 1_000;
const IS_SMALL = `(SELECT size FROM k)<=${SMALL_SCOPE}`;
/** The most records of a tenant that a filter may keep to be looked at one by one. */
const MOST_MATCHES = 2_000;

/** How widely a graph is searched; and how many records it may look at in vain. */
const LEAST_EF = 40;
const MOST_EF = 1_000;
const MOST_SCANNED = 4_000;
/** How many of a graph's hits are compared with each other: of one in so many it is asked how far the nearest other one is. */
const COMPARED = 20;
const ONE_OF = 4;
/** How many texts are kept: those over a graph of a scope's own name the scope. */
const MOST_TEXTS = 256;

/** Always true. The planner takes an unknown range for a small part of a table: then it thinks of no scan and no helpers. */
const RANGE = "a.handle>=(SELECT '-9223372036854775808'::bigint) AND a.handle<=(SELECT '9223372036854775807'::bigint)";
const PLACE = ["key", ...PART_COLUMNS];
const HANDLE = [...PART_COLUMNS, "handle"];
const COLUMNS = columnsOf("a", RECORD_COLUMNS);

/** What a row of {@link SearchStatements} begins with, before the columns of a record and its distance. */
export const FACT_COLUMNS = 4;

/** A request as pieces of a statement. */
interface Asked {
  readonly query: string;
  readonly limit: string;
  /** The conditions on the scope, as the primary key serves them. */
  readonly tenant: string;
  readonly parts: readonly string[];
  /** The same as the index of the first pass serves them. */
  readonly isOfTenant: string;
  readonly within: string;
  readonly isValid: string;
  readonly matches: readonly string[];
  readonly isLeast: readonly string[];
}

/** A text that was made, with its placeholders. */
interface Made {
  readonly text: string;
  readonly p: Placeholders;
}

/** What is a statement's own. */
interface Found {
  readonly parts: readonly string[];
  readonly found: string;
  readonly facts: Facts;
}

/** What is known of the rows, as expressions; null where it is not. In the order of the columns. */
interface Facts {
  /** Whether these are all. */
  readonly isWhole: string;
  /** What no other is closer than; of a graph, how much farther the closest is than hits are from each other. */
  readonly highest?: string;
  /** The rank at the end of the first third. */
  readonly third?: string;
  /** Whether the scope is larger than {@link SMALL_SCOPE}. */
  readonly isLarge?: string;
}

/** The statements over the table of a collection. */
export class SearchStatements {
  readonly #records: string;
  readonly #extension: string;
  readonly #isPartitioned: boolean;
  readonly #metric: Metric;
  readonly #dimensions: number;
  readonly #sketch: Sketch;
  readonly #made: Map<string, Made> = new Map();

  constructor(
    records: string,
    { extension, isPartitioned }: Place,
    { dimensions, metric }: Pick<Collection, "dimensions" | "metric">,
  ) {
    this.#records = records;
    this.#extension = extension;
    this.#isPartitioned = isPartitioned;
    this.#metric = metric;
    this.#dimensions = dimensions;
    this.#sketch = sketchOf(dimensions, metric);
  }

  /**
   * The closest of the `depth` records that the first pass ranks highest. Facts: whether these are all; what no other is closer
   * than, or by signs is likely to be, null where it is not known; the rank of the one at the end of their first third. Rows: a
   * record, its distance, its rank.
   */
  ranked(request: NearestRequest, depth: number): Statement {
    return this.#statement("ranked", { request, depth }, (p) => this.#ranked(p, request));
  }

  #ranked(p: Placeholders, request: NearestRequest): string {
    const asked = this.#asked(p, request);
    const { isOfTenant, within, isValid, matches } = asked;
    const rank = rankSql(this.#dimensions, this.#metric, (name) => this.#operator(name));
    const most = p.depth();
    const { isHalf, hasNorm } = this.#sketch;
    const gate = isHalf ? "" : ` AND NOT ${IS_SMALL}`;
    const norm = isHalf || !hasNorm ? "" : ",a.norm";
    const ranks = `SELECT ${columnsOf("a", HANDLE)}${norm},${rank} AS rank FROM ${this.#records} a WHERE ${within} AND ${RANGE} AND ${isValid}${gate} ORDER BY rank NULLS FIRST LIMIT ${most}`;
    const own = PART_COLUMNS.map((name) => `a.${name} ${APART}=c.${name}`);
    const conditions = [isOfTenant, ...own, "a.handle=c.handle", isValid, ...matches];
    const found = `SELECT ${COLUMNS},${this.#distance()} AS distance,${isHalf ? "NULL::float8" : rank} AS rank FROM ${this.#records} a WHERE ${conditions.join(" AND ")} OFFSET 0`;
    // Two records may have one handle.
    const handles = `SELECT DISTINCT ${columnsOf("c", HANDLE)} FROM c`;
    const handed = `SELECT a.* FROM (${handles}) c CROSS JOIN LATERAL (${found}) a`;
    const isWhole = `(SELECT count(*) FROM c)<${most}`;
    const bound = isHalf ? "max(c.rank)" : likelyBoundSql(this.#dimensions, this.#metric);
    const highest = bits(`(SELECT CASE WHEN bool_or(c.rank IS NULL) THEN NULL ELSE ${bound} END FROM c)`);
    const candidates = `c AS MATERIALIZED (${ranks})`;
    if (isHalf) return this.#text(asked, { parts: [candidates], found: handed, facts: { isWhole, highest } });
    const third = bits(`(SELECT c.rank FROM c ORDER BY c.rank OFFSET ${most}/3 LIMIT 1)`);
    // By signs a small scope is looked at whole.
    return this.#text(asked, {
      parts: [this.#sized(within), candidates],
      found: `${this.#every(asked)} AND ${IS_SMALL} UNION ALL ${handed}`,
      facts: { isWhole, highest, third },
    });
  }

  /** The closest of all records under the scope, each of which is looked at. Rows: a record and its distance. */
  exact(request: NearestRequest): Statement {
    return this.#statement("exact", { request, depth: 0 }, (p) => {
      const asked = this.#asked(p, request);
      return this.#text(asked, { parts: [], found: this.#every(asked), facts: { isWhole: "true" } });
    });
  }

  /**
   * The closest of what a filter keeps: of a small scope all are looked at, of a large one those that an index has for the
   * filter. A scope that is known to be large is not counted. Facts: whether these are all; whether the scope is large. Rows: a
   * record and its distance.
   */
  filtered(request: NearestRequest, isLarge: boolean): Statement {
    return this.#statement(isLarge ? "filtered large" : "filtered", { request, depth: 0 }, (p) => {
      const asked = this.#asked(p, request);
      const { tenant, parts, within, isValid, matches } = asked;
      const gate = isLarge ? "" : ` AND NOT ${IS_SMALL}`;
      // No column of the scope is in the condition, or the planner would walk through the scope.
      const kept = `SELECT a.tenant_id,${COLUMNS},${this.#distance()} AS distance FROM ${this.#records} a WHERE ${matches.join(" AND ")}${gate} LIMIT ${MOST_MATCHES + 1}`;
      const own = [tenant, ...parts, isValid].join(" AND ").replaceAll("a.", "m.");
      const found = `SELECT ${columnsOf("m", RECORD_COLUMNS)},m.distance,NULL::float8 AS rank FROM m WHERE ${own}`;
      const matching = `m AS MATERIALIZED (${kept})`;
      const isWhole = `(SELECT count(*) FROM m)<=${MOST_MATCHES}`;
      if (isLarge) return this.#text(asked, { parts: [matching], found, facts: { isWhole } });
      return this.#text(asked, {
        parts: [this.#sized(within), matching],
        found: `${this.#every(asked)} AND ${IS_SMALL} UNION ALL ${found}`,
        facts: { isWhole, isLarge: `NOT ${IS_SMALL}` },
      });
    });
  }

  /**
   * The closest of the `depth` records that a graph finds: that of a scope alone, or the one over everything. The graph's
   * settings hold for this statement's own transaction, and are made before it is asked. Facts: whether as many were found;
   * then how much farther the closest is from what was asked than hits are from each other. Rows: a record and its distance.
   */
  byGraph(request: NearestRequest, ofScope: MemoryScope | undefined, depth: number): Statement {
    // The depth and the scope of a graph of its own are in the text.
    const name = ofScope === undefined ? `graph ${depth}` : `graph ${depth} ${JSON.stringify(ofScope)}`;
    return this.#statement(name, { request, depth }, (p) => this.#byGraph(p, request, ofScope, depth));
  }

  #byGraph(p: Placeholders, request: NearestRequest, ofScope: MemoryScope | undefined, depth: number): string {
    // What is no part of the statement must be no parameter of it.
    const asked = this.#asked(p, request, ofScope === undefined);
    const { tenant, parts, isValid, matches } = asked;
    const { expression, operator } = graphOf(this.#dimensions, this.#metric);
    const within =
      ofScope === undefined ? `COALESCE(${[tenant, ...parts].join(" AND ")},false)` : graphScopeSql("a.", ofScope);
    const conditions = [within, isValid, ...matches].join(" AND ");
    const settings = [
      ["hnsw.ef_search", `'${Math.max(LEAST_EF, Math.min(MOST_EF, depth))}'`],
      ["hnsw.iterative_scan", "'relaxed_order'"],
      ["hnsw.max_scan_tuples", `'${MOST_SCANNED}'`],
    ].map(([name, value]) => `set_config('${name}',${value},true)`);
    const over = (column: string) => this.#qualified(expression.replace("embedding", column));
    // By inner product nothing is near to itself.
    const nearness = this.#operator(this.#metric === "inner" ? "<=>" : METRICS[this.#metric].operator);
    const copy = `${this.#extension}.subvector(a.embedding,1,${this.#dimensions})`;
    const found = `SELECT ${COLUMNS},${this.#distance()} AS distance,a.embedding ${nearness} (SELECT v FROM q) AS apart,${copy} AS vector FROM ${this.#records} a WHERE s.done AND ${conditions} ORDER BY ${over("a.embedding")} ${this.#operator(operator)} (SELECT ${over("q.v")} FROM q) LIMIT ${depth}`;
    const closest = `SELECT c.apart,c.vector,row_number() OVER (ORDER BY c.apart) AS place FROM c ORDER BY c.apart LIMIT ${COMPARED}`;
    const between = `SELECT min(n.vector ${nearness} o.vector) AS apart FROM n JOIN n o ON n.place<>o.place WHERE n.place%${ONE_OF}=1 GROUP BY n.place`;
    const farther = `(SELECT min(n.apart) FROM n)/nullif((SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b.apart) FROM (${between}) b),0)`;
    return this.#text(asked, {
      parts: [
        `s AS MATERIALIZED (SELECT ${settings.join("||")} IS NOT NULL AS done)`,
        `c AS MATERIALIZED (SELECT r.* FROM s CROSS JOIN LATERAL (${found}) r)`,
        `n AS MATERIALIZED (${closest})`,
      ],
      found: `SELECT ${columnsOf("c", RECORD_COLUMNS)},c.distance,NULL::float8 AS rank FROM c`,
      facts: { isWhole: `(SELECT count(*) FROM c)=${depth}`, highest: bits(farther) },
    });
  }

  /** How many records are under a scope, up to `most`. Row: that. */
  size(request: NearestRequest, most: number): Statement {
    return this.#statement("size", { request, depth: most }, (p) => {
      const within = p.within("a", request).map(apart).join(" AND ");
      return `SELECT count(*) FROM (SELECT FROM ${this.#records} a WHERE ${within} AND ${RANGE} LIMIT ${p.depth()}) a`;
    });
  }

  // The text is kept for all requests of its shape, unless there is something of one request alone in it.
  #statement(name: string, asking: Asking, make: (p: Placeholders) => string): Statement {
    const key = `${name} ${shapeOf(asking.request)}`;
    const kept = this.#made.get(key);
    if (kept !== undefined) return kept.p.fill(kept.text, asking);
    const p = new Placeholders();
    const text = make(p);
    if (!p.isForOne) {
      if (this.#made.size >= MOST_TEXTS) this.#made.clear();
      this.#made.set(key, { text, p });
    }
    return p.fill(text, asking);
  }

  // What is asked for, as conditions on `a`: each is said as often as it is needed, with the same parameters.
  #asked(p: Placeholders, request: NearestRequest, isScoped = true): Asked {
    const { scope, filter, minScore } = request;
    const vector = p.vector();
    const [tenant = "", ...parts] = isScoped ? p.within("a", request) : [];
    // Partitions are told apart by the column as it is.
    const isOfTenant = `${apart(tenant)}${this.#isPartitioned ? ` AND ${tenant}` : ""}`;
    const at = p.asOf();
    // Sums of float32 beyond its range may give no number; such a score is the least there is.
    const score = "coalesce(nullif(1-a.distance,'NaN'),'-Infinity')";
    return {
      query: this.#query(vector),
      limit: p.limit(),
      tenant,
      parts,
      isOfTenant,
      within: [isOfTenant, ...parts.map(apart)].join(" AND "),
      isValid: `(a.valid_from IS NULL OR a.valid_from<=${at}) AND (a.valid_to IS NULL OR a.valid_to>${at})`,
      matches: metadataConditions(p, "a", scope, filter),
      isLeast: minScore === undefined ? [] : [`${score}>=${p.minScore()}`],
    };
  }

  // How large the scope is, as far as it matters.
  #sized(within: string): string {
    return `k AS MATERIALIZED (SELECT count(*) AS size FROM (SELECT FROM ${this.#records} a WHERE ${within} AND ${RANGE} LIMIT ${SMALL_SCOPE + 1}) a)`;
  }

  #every({ within, isValid, matches }: Asked): string {
    const conditions = [within, RANGE, isValid, ...matches].join(" AND ");
    return `SELECT ${COLUMNS},${this.#distance()} AS distance,NULL::float8 AS rank FROM ${this.#records} a WHERE ${conditions}`;
  }

  #text({ query, limit, isLeast }: Asked, { parts, found, facts }: Found): string {
    const where = isLeast.length === 0 ? "" : ` WHERE ${isLeast.join(" AND ")}`;
    const closest = `SELECT a.* FROM (${found}) a${where} ORDER BY ${orderBy("a")} LIMIT ${limit}`;
    const { isWhole, highest = "NULL", third = "NULL", isLarge = "NULL" } = facts;
    return (
      `WITH ${[`q AS MATERIALIZED (${query})`, ...parts].join(",")} SELECT ${isWhole},${highest},${third},${isLarge},${COLUMNS},${bits("a.distance")},${bits("a.rank")}` +
      ` FROM (SELECT) o LEFT JOIN (${closest}) a ON true ORDER BY ${orderBy("a")}`
    );
  }

  // Not read anew for every record, as a parameter in its place would be.
  #query(vector: string): string {
    const { isHalf, type, hasNorm } = this.#sketch;
    const near = isHalf
      ? `${this.#extension}.l2_normalize(q.v)::${this.#extension}.${type}`
      : `${this.#extension}.binary_quantize(q.v)::${type}`;
    const norm = hasNorm ? `,${this.#extension}.vector_norm(q.v) AS norm` : "";
    return `SELECT q.v,${near} AS near${norm} FROM (SELECT ${vector}::${this.#extension}.vector AS v OFFSET 0) q`;
  }

  // pgvector's functions and types, by the schema that they are in.
  #qualified(expression: string): string {
    return expression
      .replace("l2_normalize", `${this.#extension}.l2_normalize`)
      .replace("halfvec", `${this.#extension}.halfvec`);
  }

  #distance(): string {
    return `a.embedding ${this.#operator(METRICS[this.#metric].operator)} (SELECT v FROM q)`;
  }

  #operator(name: string): string {
    return `OPERATOR(${this.#extension}.${name})`;
  }
}

// A condition on a text, as the index of the first pass serves it.
function apart(condition: string): string {
  return condition.replace("=", ` ${APART}=`);
}

// The closest first; what is no number comes last.
function orderBy(alias: string): string {
  return `${alias}.distance,${columnsOf(alias, PLACE)}`;
}

// A number as text that keeps every bit, whatever `extra_float_digits` says.
function bits(number: string): string {
  return `encode(float8send(${number}),'hex')`;
}
