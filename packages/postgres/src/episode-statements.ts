// Every statement of episodes, its parameters and its row; see `profile-statements.ts` for what all of them keep to.

import type { MemoryScope } from "@memory/core";
import type { EpisodePageRequest, LogEntry } from "@memory/core/driver";
import {
  arrayLiteral,
  CONTENT_COLUMNS,
  castOf,
  columnsOf,
  contentLists,
  contentListsSql,
  contentParams,
  exactScope,
  listedSql,
  metadataConditions,
  PART_COLUMNS,
  Params,
  RECORD_COLUMNS,
  type Statement,
  scopeParams,
  typeOf,
} from "@memory/core/sql";

const NAMES: string = CONTENT_COLUMNS.join(",");

/** The statements over one table of episodes, named with its schema. */
export class EpisodeStatements {
  readonly #episodes: string;
  readonly #texts: { readonly log: string; readonly logMany: string };

  constructor(episodes: string) {
    this.#episodes = episodes;
    this.#texts = { log: this.#logText(), logMany: this.#logManyText() };
  }

  // The episode with an id. Asked for as a range in the order of ids, which only the primary key gives: by equality another
  // index that begins with the scope costs the same before the table was ever analysed, and the whole scope is read.
  #byId(id: string): string {
    return `SELECT ${columnsOf("b", RECORD_COLUMNS)} FROM ${this.#episodes} b WHERE ${exactScope("b")} AND b.id>=${id} AND b.id<=${id} ORDER BY b.id LIMIT 1`;
  }

  /**
   * One episode. Row: `added`, `same`, `again` (another write of the id went on at the same time: ask again), or `differs`
   * and the record that is there.
   */
  log({ record, anyFrom }: LogEntry): Statement {
    return { text: this.#texts.log, params: [...scopeParams(record.scope), ...contentParams(record), anyFrom] };
  }

  #logText(): string {
    const values = CONTENT_COLUMNS.map((name, index) => `$${index + 5}${castOf(name)}`);
    const given = (name: string): string => values[CONTENT_COLUMNS.indexOf(name)] ?? "";
    return (
      `WITH w AS (INSERT INTO ${this.#episodes} (tenant_id,${PART_COLUMNS.join(",")},${NAMES}) VALUES ($1::text,$2::text,$3::text,$4::text,${values.join(",")}) ON CONFLICT DO NOTHING RETURNING 1)` +
      ` SELECT CASE WHEN w.r IS NOT NULL THEN 'added' WHEN t.id IS NULL THEN 'again' WHEN ${differs("t", given, `$${CONTENT_COLUMNS.length + 5}::boolean`)} THEN 'differs' ELSE 'same' END,${columnsOf("t", RECORD_COLUMNS)}` +
      ` FROM (SELECT (SELECT 1 FROM w) AS r) w LEFT JOIN LATERAL (${this.#byId("$5::text").replace(" WHERE ", " WHERE w.r IS NULL AND ")}) t ON true`
    );
  }

  /**
   * Episodes of one scope, all or none, in the order given: that of their ids, so that no two writers wait for each other.
   * Rows: where none was new, those that are there and differ; and a last one of nulls. Raises 22012, and stores nothing,
   * where some were new and others are there and differ (see {@link differing}), or where another write of one of the ids
   * went on at the same time (ask again). What is there is looked at only where not all were new.
   */
  logMany(scope: MemoryScope, entries: readonly LogEntry[]): Statement {
    return { text: this.#texts.logMany, params: [...scopeParams(scope), ...listParams(entries), entries.length] };
  }

  #logManyText(): string {
    const there = RECORD_COLUMNS.map((name) => `a_${name}`).join(",");
    const count = `$${CONTENT_COLUMNS.length + 6}::bigint`;
    const isWhole = `CASE WHEN c.n=${count} THEN 1 WHEN c.n+(SELECT count(*) FROM j)<${count} THEN 0 WHEN c.n>0 AND EXISTS (SELECT FROM j WHERE j.differs) THEN 0 ELSE 1 END`;
    return (
      `WITH w AS (INSERT INTO ${this.#episodes} (tenant_id,${PART_COLUMNS.join(",")},${NAMES}) SELECT $1::text,$2::text,$3::text,$4::text,${CONTENT_COLUMNS.map(listed).join(",")} FROM unnest(${contentListsSql(5)}) AS i(${NAMES}) ON CONFLICT DO NOTHING RETURNING 1),` +
      "c AS MATERIALIZED (SELECT count(*) AS n FROM w)," +
      `j(${there},differs) AS MATERIALIZED (${this.#compared("a", `(SELECT c.n FROM c)<${count}`)})` +
      ` SELECT ${there} FROM j WHERE j.differs AND (SELECT c.n FROM c)=0` +
      ` UNION ALL SELECT ${RECORD_COLUMNS.map((name, index) => (index === 0 ? `(1/(${isWhole}))::text` : `NULL${typeOf(name)}`)).join(",")} FROM c`
    );
  }

  /** Of these episodes, those that are there and differ. Rows: the records that are there. */
  differing(scope: MemoryScope, entries: readonly LogEntry[]): Statement {
    return {
      text: `SELECT ${columnsOf("j", RECORD_COLUMNS)} FROM (${this.#compared("a", "true")}) j WHERE j.differs`,
      params: [...scopeParams(scope), ...listParams(entries)],
    };
  }

  // Those that are there, each with whether it differs from what is given.
  #compared(alias: string, condition: string): string {
    return (
      `SELECT ${columnsOf(alias, RECORD_COLUMNS)},${differs(alias, listed, "i.any_from")} AS differs` +
      ` FROM unnest(${contentListsSql(5)},$${CONTENT_COLUMNS.length + 5}::text::boolean[]) AS i(${NAMES},any_from) CROSS JOIN LATERAL (${this.#byId("i.id")}) ${alias} WHERE ${condition}`
    );
  }

  /** A page of episodes, newest first. Rows: a record each. */
  page(request: EpisodePageRequest): Statement {
    const { scope, reach, key, since, until, asOf, filter, after, limit } = request;
    const p = new Params();
    const conditions = [p.scope("a", scope, reach)];
    if (key !== undefined) conditions.push(`a.key=${p.text(key)}`);
    if (since !== undefined) conditions.push(`a.valid_from>=${p.add(since, "::bigint")}`);
    if (until !== undefined) conditions.push(`a.valid_from<=${p.add(until, "::bigint")}`);
    if (asOf !== undefined) {
      const at = p.add(asOf, "::bigint");
      conditions.push(`a.valid_from<=${at}`, `(a.valid_to IS NULL OR a.valid_to>${at})`);
    }
    conditions.push(...metadataConditions(p, "a", scope, filter));
    if (after !== undefined) {
      const place = `${p.add(after.validFrom, "::bigint")},${p.text(after.id)}`;
      if (reach === "exact") conditions.push(`(a.valid_from,a.id)<(${place})`);
      else {
        conditions.push(`(a.valid_from,a.id)<=(${place})`);
        conditions.push(
          `((a.valid_from,a.id)<(${place}) OR (a.user_id,a.session_id,a.agent)>(${p.parts(after.scope).join(",")}))`,
        );
      }
    }
    const order = reach === "exact" ? "" : ",a.user_id,a.session_id,a.agent";
    return {
      text: `SELECT ${columnsOf("a", RECORD_COLUMNS)} FROM ${this.#episodes} a WHERE ${conditions.join(" AND ")} ORDER BY a.valid_from DESC,a.id DESC${order} LIMIT ${p.add(limit, "::bigint")}`,
      params: p.values,
    };
  }
}

/** Whether a record that is there has other content than the one given. Which instant it was recorded at does not count. */
function differs(alias: string, given: (name: string) => string, anyFrom: string): string {
  const columns = CONTENT_COLUMNS.filter((name) => !["id", "recorded_at", "valid_from"].includes(name));
  const parts = columns.map((name) => `${alias}.${name} IS DISTINCT FROM ${given(name)}`);
  return `(${parts.join(" OR ")} OR (NOT ${anyFrom} AND ${alias}.valid_from<>${given("valid_from")}))`;
}

// A column of the lists as what it stands for.
function listed(name: string): string {
  return listedSql("i", name);
}

function listParams(entries: readonly LogEntry[]): readonly (string | null)[] {
  const lists = contentLists(entries.map(({ record }) => record));
  return [...lists, arrayLiteral(entries.map(({ anyFrom }) => (anyFrom ? "t" : "f")))];
}
