// What the first pass of a search looks at: of every vector a copy in fewer bits, in an index that begins with the scope, so
// that ranking a scope reads nothing but its own part of that index. Up to 1,024 numbers these are numbers of half precision,
// of the direction alone, whose rounding is bounded: what is ranked by them can be proven. Wider than that they would not fit
// beside a scope into a row of an index, and the signs of the numbers stand for them.

import type { Metric } from "@memory/core/driver";
import { type ColumnPlan, column, optional, PART_COLUMNS } from "@memory/core/sql";

/** The widest vectors whose first pass is by half precision. */
export const MOST_HALVES = 1_024;

/**
 * How far the product of two directions in half precision may be from that of the vectors: 2 x 2^-11 by rounding, and sums in
 * float32.
 */
const PRODUCT_ERROR = 0.0012;

/** The most bytes of a row in a btree (`BTMaxItemSize`, for pages of 8 kB). */
const MOST_ROW_BYTES = 2_704;
/** Of these: header and null bitmap, headers of the four parts of a scope, handle, norm, window; each with its padding. */
const OTHER_BYTES = 16 + 28 + 16 + 16 + 16;
/** What the four parts of a scope take at the most. */
const MOST_SCOPE_BYTES = 4 * 256;

/** What stands for a vector in the first pass. */
export interface Sketch {
  readonly isHalf: boolean;
  /** The type, without the extension's schema. */
  readonly type: string;
  /** Whether the length of the vector stands beside its direction; by `cosine` it does not matter. */
  readonly hasNorm: boolean;
}

/** The sketch of vectors of this width. */
export function sketchOf(dimensions: number, metric: Metric): Sketch {
  const isHalf = dimensions <= MOST_HALVES;
  return { isHalf, type: `${isHalf ? "halfvec" : "bit"}(${dimensions})`, hasNorm: metric !== "cosine" };
}

/**
 * What names a record: its instant, and 20 bits of its key. So a scope stands in the index in about the order in which the table
 * has it, and a scan of the index alone, which looks for every row into a map of the table, stays with one page of that map (but
 * for records of one call, which share their instant).
 * Shifted, an instant after the year 2248 loses its highest bits, and with them only that order.
 */
const HANDLE = "((recorded_at << 20) | (hashtextextended(key, (0)::bigint) & (1048575)::bigint))";

/** The columns that the server fills in itself, `near` being null where the parts of a scope leave no room for it. */
export function sketchColumns(dimensions: number, metric: Metric): readonly ColumnPlan[] {
  const { isHalf, type, hasNorm } = sketchOf(dimensions, metric);
  const sketch = isHalf ? `(l2_normalize(embedding))::${type}` : `(binary_quantize(embedding))::${type}`;
  const room = MOST_ROW_BYTES - OTHER_BYTES - 8 * Math.ceil((8 + (isHalf ? 2 * dimensions : dimensions / 8)) / 8);
  const size = "(((octet_length(tenant_id) + octet_length(user_id)) + octet_length(session_id)) + octet_length(agent))";
  const near: ColumnPlan = {
    ...column("near", type, isHalf ? "The vector's direction in half precision" : "The signs of the vector's numbers"),
    generated:
      room >= MOST_SCOPE_BYTES ? sketch : `CASE WHEN (${size} <= ${room}) THEN ${sketch} ELSE NULL::${type} END`,
    // Compressing it is tried in vain otherwise, in the index too.
    storage: isHalf ? "external" : "plain",
  };
  const norm: ColumnPlan = {
    ...column("norm", "double precision", "The vector's length"),
    generated: "vector_norm(embedding)",
  };
  return [
    {
      ...column("handle", "bigint", "Names a record in few bytes: what the first pass of a search hands on"),
      generated: HANDLE,
    },
    optional(near),
    ...(hasNorm ? [norm] : []),
  ];
}

/**
 * The collation that the index of the first pass has its texts in. It orders as "C" does, the columns' own; but what names it
 * can be served by no other index, and what does not, not by this one. So the planner has no choice between them, which it
 * would make by how many levels they have.
 */
export const APART: string = 'COLLATE "POSIX"';

/** The index of the first pass, as `pg_get_indexdef` prints it. */
export function sketchIndex(metric: Metric): string {
  const place = [...["tenant_id", ...PART_COLUMNS].map((name) => `${name} ${APART}`), "handle"];
  const included = ["near", ...(metric === "cosine" ? [] : ["norm"]), "valid_from", "valid_to"];
  return `btree (${place.join(", ")}) INCLUDE (${included.join(", ")})`;
}

/**
 * What the first pass ranks by, from the columns of `a` and those of the query `q`: `near` its sketch, `norm` its length. By
 * half precision it is a bound below the distance (by l2: its square); by signs an estimate of it.
 */
export function rankSql(dimensions: number, metric: Metric, operator: (name: string) => string): string {
  const length = "a.norm*(SELECT norm FROM q)";
  const apart = "(a.norm-(SELECT norm FROM q))*(a.norm-(SELECT norm FROM q))";
  if (dimensions <= MOST_HALVES) {
    // pgvector's <#> is the negative product.
    const product = `((a.near ${operator("<#>")} (SELECT near FROM q))-${PRODUCT_ERROR})`;
    return { cosine: `1+${product}`, inner: `${length}*${product}`, l2: `${apart}+2*${length}*(1+${product})` }[metric];
  }
  const differing = `(a.near ${operator("<~>")} (SELECT near FROM q))`;
  // As many signs differ as the angle is of half a turn.
  const cosine = `cos(pi()*${differing}/${dimensions})`;
  return { cosine: differing, inner: `-${length}*${cosine}`, l2: `${apart}+2*${length}*(1-${cosine})` }[metric];
}

/**
 * Of candidates `c` that were ranked by signs: what nothing that was ranked lower is likely to be closer than (by l2: its
 * square). As many signs differ as coins fall heads, so that three standard errors of the angle, and with it of the cosine,
 * are at most this.
 */
export function likelyBoundSql(dimensions: number, metric: Metric): string {
  const error = 3 * (Math.PI / 2 / Math.sqrt(dimensions));
  const byLength = `${error}*max(c.norm)*(SELECT norm FROM q)`;
  return {
    cosine: `1-cos(pi()*max(c.rank)/${dimensions})-${error}`,
    inner: `max(c.rank)-${byLength}`,
    l2: `max(c.rank)-2*${byLength}`,
  }[metric];
}
