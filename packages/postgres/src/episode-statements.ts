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
  type TenantLock,
} from "@memory/core/sql";

/** How many of the newest a page looks at for those that match before it asks an index; a longer page looks at more. */
const WALK = 400;
const LONG_WALK = 5_000;

const NAMES: string = CONTENT_COLUMNS.join(",");

/** The parts of a page of which a condition says which match: those that say where it is, and those that match. */
interface MatchingPage {
  readonly place: readonly string[];
  readonly match: readonly string[];
  readonly newest: string;
  readonly limit: string;
  readonly walk: number;
}

/** The statements over one table of episodes, named with its schema. */
export class EpisodeStatements {
  readonly #episodes: string;
  readonly #lock: TenantLock;
  readonly #texts: { readonly log: string; readonly logMany: string };

  constructor(episodes: string, lock: TenantLock) {
    this.#episodes = episodes;
    this.#lock = lock;
    this.#texts = { log: this.#logText(), logMany: this.#logManyText() };
  }

  // The episode with an id. Asked for as a range in the order of ids, which only the primary key gives: by equality another
  // index that begins with the scope costs the same before the table was ever analysed, and the whole scope is read.
  #byId(id: string): string {
    return `SELECT ${columnsOf("b", RECORD_COLUMNS)} FROM ${this.#episodes} b WHERE ${exactScope("b")} AND b.id>=${id} AND b.id<=${id} ORDER BY b.id LIMIT 1`;
  }

  /**
   * An episode, in a transaction of its own. No row. One that is there already with the same content is passed over; where
   * one differs, the statement raises 22012 and stores nothing (see {@link differing}). What is there is looked at only where
   * the id is taken, also by a write that went on at the same time.
   */
  log({ record, anyFrom }: LogEntry): Statement {
    return { text: this.#texts.log, params: [...scopeParams(record.scope), ...contentParams(record), anyFrom] };
  }

  /**
   * Episodes of one scope, all or none, each as {@link log} says, in the order given: that of their ids, so that no two
   * writers wait for each other. What is there already is locked one after the other, so the tenant's lock is shared: an
   * erasure, which takes it alone, meets the same rows in an order of its own.
   */
  logMany(scope: MemoryScope, entries: readonly LogEntry[]): Statement {
    const any = entries.filter(({ anyFrom }) => anyFrom);
    const isMixed = any.length > 0 && any.length < entries.length;
    const anyFrom = isMixed ? [null, arrayLiteral(any.map(({ record }) => record.id))] : [any.length > 0, null];
    const params = [...scopeParams(scope), ...sharedAndLists(entries), ...anyFrom, this.#lock.param(scope)];
    return { text: this.#texts.logMany, params };
  }

  #logText(): string {
    const values = CONTENT_COLUMNS.map((name, index) => `$${index + 5}${castOf(name)}`);
    const rows = `VALUES ($1::text,$2::text,$3::text,$4::text,${values.join(",")})`;
    return this.#insert(rows, `$${CONTENT_COLUMNS.length + 5}::boolean`);
  }

  #logManyText(): string {
    const values = CONTENT_COLUMNS.map((name, index) => `coalesce(${listed(name)},$${index + 5}${castOf(name)})`);
    const lists = contentListsSql(CONTENT_COLUMNS.length + 5);
    const at = 2 * CONTENT_COLUMNS.length + 5;
    const isLocked = `(${this.#lock.sharedSql(`$${at + 2}::text`)}) IS NOT NULL`;
    const rows = `SELECT $1::text,$2::text,$3::text,$4::text,${values.join(",")} FROM unnest(${lists}) AS i(${NAMES}) WHERE ${isLocked}`;
    return this.#insert(rows, `coalesce($${at}::boolean,excluded.id=ANY($${at + 1}::text::text[]))`);
  }

  // Nothing is ever updated: the condition is false, or divides by zero. To be told apart in one plain insert is half the
  // work, for the server and for the client, of an insert within a statement that looks at what is there.
  #insert(rows: string, anyFrom: string): string {
    const isUpdated = `1/(CASE WHEN ${differs("e", (name) => `excluded.${name}`, anyFrom)} THEN 0 ELSE 1 END)=0`;
    return (
      `INSERT INTO ${this.#episodes} AS e (tenant_id,${PART_COLUMNS.join(",")},${NAMES}) ${rows}` +
      ` ON CONFLICT (tenant_id,${PART_COLUMNS.join(",")},id) DO UPDATE SET source=e.source WHERE ${isUpdated}`
    );
  }

  /** Of these episodes, those that are there and differ. Rows: the records that are there. */
  differing(scope: MemoryScope, entries: readonly LogEntry[]): Statement {
    return {
      text:
        `SELECT ${columnsOf("a", RECORD_COLUMNS)} FROM unnest(${contentListsSql(5)},$${CONTENT_COLUMNS.length + 5}::text::boolean[]) AS i(${NAMES},any_from)` +
        ` CROSS JOIN LATERAL (${this.#byId("i.id")}) a WHERE ${differs("a", listed, "i.any_from")}`,
      params: [...scopeParams(scope), ...listParams(entries)],
    };
  }

  /**
   * A page of episodes, newest first. Rows: a record each. Of a key under a wide scope, the newest of all keys are looked at
   * until enough are of it, or all of them: an index over tenant, key and instant would bound that, and be a sixth one to keep.
   */
  page(request: EpisodePageRequest): Statement {
    const { scope, reach, key, since, until, asOf, filter, after, limit } = request;
    const p = new Params();
    const place = [p.scope("a", scope, reach)];
    const match = [...metadataConditions(p, "a", scope, filter)];
    // In one scope an index gives the newest of a key; under a wider one none does.
    if (key !== undefined) (reach === "exact" || match.length === 0 ? place : match).push(`a.key=${p.text(key)}`);
    if (since !== undefined) place.push(`a.valid_from>=${p.add(since, "::bigint")}`);
    if (until !== undefined) place.push(`a.valid_from<=${p.add(until, "::bigint")}`);
    if (asOf !== undefined) {
      const at = p.add(asOf, "::bigint");
      place.push(`a.valid_from<=${at}`);
      (match.length === 0 ? place : match).push(`(a.valid_to IS NULL OR a.valid_to>${at})`);
    }
    if (after !== undefined) {
      const last = `${p.add(after.validFrom, "::bigint")},${p.text(after.id)}`;
      if (reach === "exact") place.push(`(a.valid_from,a.id)<(${last})`);
      else {
        place.push(`(a.valid_from,a.id)<=(${last})`);
        place.push(
          `((a.valid_from,a.id)<(${last}) OR (a.user_id,a.session_id,a.agent)>(${p.parts(after.scope).join(",")}))`,
        );
      }
    }
    const newest = `ORDER BY a.valid_from DESC,a.id DESC${reach === "exact" ? "" : ",a.user_id,a.session_id,a.agent"}`;
    const most = p.add(limit, "::bigint");
    const walk = limit * 2 <= WALK ? WALK : LONG_WALK;
    const text =
      match.length === 0
        ? `SELECT ${columnsOf("a", RECORD_COLUMNS)} FROM ${this.#episodes} a WHERE ${place.join(" AND ")} ${newest} LIMIT ${most}`
        : this.#matchingText({ place, match, newest, limit: most, walk });
    return { text, params: p.values };
  }

  // The newest are walked only so far; where too few of them match, an index is asked for all that do. Left to choose between
  // the two, the planner walks a whole tenant for what is rare or sorts all of what is common, and its choice turns round
  // with the plan cache. `OFFSET 0` keeps the sort, and so the walk, out of the second.
  #matchingText({ place, match, newest, limit, walk }: MatchingPage): string {
    const columns = columnsOf("a", RECORD_COLUMNS);
    const top = `${newest} LIMIT ${limit}`;
    const walked = `SELECT a.* FROM ${this.#episodes} a WHERE ${place.join(" AND ")} ${newest} LIMIT ${walk}`;
    const all = `SELECT ${columns} FROM ${this.#episodes} a WHERE ${[...place, ...match].join(" AND ")}`;
    return (
      `WITH h AS MATERIALIZED (SELECT ${columns} FROM (${walked}) a WHERE ${match.join(" AND ")} ${top}),` +
      `c AS MATERIALIZED (SELECT count(*)>=${limit} AS is_enough FROM h)` +
      ` SELECT ${columns} FROM (SELECT * FROM h WHERE (SELECT is_enough FROM c)` +
      ` UNION ALL (SELECT ${columns} FROM (${all} AND NOT (SELECT is_enough FROM c) OFFSET 0) a ${top})) a ${top}`
    );
  }
}

/** Whether a record that is there has other content than the one given. Which instant it was recorded at does not count. */
function differs(alias: string, given: (name: string) => string, anyFrom: string): string {
  const columns = CONTENT_COLUMNS.filter((name) => !["id", "recorded_at", "valid_from"].includes(name));
  const is = `(${columnsOf(alias, columns)}) IS DISTINCT FROM (${columns.map(given).join(",")})`;
  return `(${is} OR (NOT ${anyFrom} AND ${alias}.valid_from<>${given("valid_from")}))`;
}

// A column of the lists as what it stands for.
function listed(name: string): string {
  return listedSql("i", name);
}

// What all entries have in common is bound once, in place of its list: a source, mostly, a confidence and an instant.
function sharedAndLists(entries: readonly LogEntry[]): readonly (string | number | null)[] {
  const rows = entries.map(({ record }) => contentParams(record));
  const [first = []] = rows;
  const isShared = first.map((value, index) => index > 0 && rows.every((row) => row[index] === value));
  const shared = first.map((value, index) => (isShared[index] ? value : null));
  return [...shared, ...contentLists(rows, isShared)];
}

function listParams(entries: readonly LogEntry[]): readonly (string | null)[] {
  const lists = contentLists(entries.map(({ record }) => contentParams(record)));
  return [...lists, arrayLiteral(entries.map(({ anyFrom }) => (anyFrom ? "t" : "f")))];
}
