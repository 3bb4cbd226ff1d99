// Every statement, its parameters and its row. What they share: tables are named with their schema, text parameters are cast
// from text (so that no serialiser of the client's matters), instants come from the caller and never from the server, and
// the tenant is always the first condition. Rows are columns of text, read by `row.ts`.

import type { EpochMs, MemoryReach, MemoryScope } from "@memory/core";
import type {
  DerivationPosition,
  EpisodePageRequest,
  ErasureTarget,
  KeyPageRequest,
  KeyPosition,
  LogEntry,
  WritePlan,
} from "@memory/core/driver";
import { quoteIdentifier } from "@memory/core/sql";
import { TENANT_SETTING } from "./ddl.ts";
import type { Param, Statement } from "./executor.ts";
import { arrayLiteral, columnsOf, RECORD_COLUMNS, recordParams, scopeParams, VERSION_COLUMNS } from "./row.ts";
import { METADATA_BY_TENANT } from "./tables.ts";

/** A bound that no version number, and no instant, is above. */
const LAST_VERSION = 2_147_483_647;
const LAST_INSTANT = 9_000_000_000_000_000;

/** Up to how many values of a filter are conditions of their own, each of which the index is asked. */
const MOST_TERMS = 100;

const PARTS: readonly string[] = ["user_id", "session_id", "agent"];
const EXACT = (alias: string): string =>
  `${alias}.tenant_id=$1::text AND ${alias}.user_id=$2::text AND ${alias}.session_id=$3::text AND ${alias}.agent=$4::text`;

/** The content of an episode, as columns to be inserted after its scope. */
const CONTENT = RECORD_COLUMNS.slice(PARTS.length);
const CONTENT_CASTS: Readonly<Record<string, string>> = {
  confidence: "::text::numeric",
  valid_from: "::bigint",
  valid_to: "::bigint",
  predicate: "::text::jsonb",
  metadata: "::text::jsonb",
  recorded_at: "::bigint",
};

/**
 * The content of many episodes, as lists. No element is null, which `array_nulls = off` would take for a text: what is
 * absent is the empty text, and a subject, which may be empty, begins with a mark. A list of absent ones alone is `null`.
 */
const LIST_NAMES: string = CONTENT.join(",");
const LISTS: string = CONTENT.map(
  (name, index) => `$${index + 5}::text${isOptional(name) ? "::text" : listType(name)}[]`,
).join(",");

/** Collects the parameters of a statement whose conditions depend on the request. */
class Params {
  readonly values: Param[] = [];

  /** The placeholder of a value. */
  add(value: Param, cast: string): string {
    this.values.push(value);
    return `$${this.values.length}${cast}`;
  }

  text(value: string): string {
    return this.add(value, "::text");
  }

  /** The conditions that name a scope: every part, or with `under` only those that it names. */
  scope(alias: string, scope: MemoryScope, reach: MemoryReach): string {
    const conditions = [`${alias}.tenant_id=${this.text(scope.tenantId)}`];
    const [, ...parts] = scopeParams(scope);
    for (const [index, name] of PARTS.entries()) {
      const part = parts[index] ?? "";
      if (reach === "exact" || part !== "") conditions.push(`${alias}.${name}=${this.text(part)}`);
    }
    return conditions.join(" AND ");
  }

  /** The three parts below a tenant, as a list. */
  parts(scope: MemoryScope): readonly string[] {
    return scopeParams(scope)
      .slice(1)
      .map((part) => this.text(part));
  }
}

/** The statements over the tables of one database schema. */
export class Statements {
  readonly #versions: string;
  readonly #episodes: string;
  readonly #derivations: string;
  readonly #erasures: string;
  readonly #lockName: string;
  readonly #texts: {
    readonly newest: string;
    readonly newestHead: string;
    readonly live: string;
    readonly heads: string;
    readonly first: string;
    readonly next: string;
    readonly log: string;
    readonly logMany: string;
  };

  /** @throws {MemorySettingsError} The name cannot be an identifier. */
  constructor(schema: string) {
    const owner = quoteIdentifier(schema, "schema");
    this.#versions = `${owner}.profile_versions`;
    this.#episodes = `${owner}.episodes`;
    this.#derivations = `${owner}.derivations`;
    this.#erasures = `${owner}.erasures`;
    this.#lockName = `${schema}\u0001`;
    this.#texts = {
      newest: this.#newestText(),
      newestHead: this.#newestHeadText(),
      live: this.#liveText(),
      heads: this.#headsText(),
      first: this.#commitText(false),
      next: this.#commitText(true),
      log: this.#logText(),
      logMany: this.#logManyText(),
    };
  }

  /** Names the tenant to row security, until the transaction ends. */
  tenant(tenantId: string): Statement {
    return { text: `SELECT set_config('${TENANT_SETTING}', $1::text, true)`, params: [tenantId] };
  }

  /* ---------------------------------------------------------------------------------------------- profile */

  /**
   * The newest version of a key. Row: `lineages`, `latest_from`, then the version (see `readVersion`, with nothing that
   * follows or ends it). Where the key is plain, this is all that there is to know, at a fifth of what {@link live} costs.
   */
  newest(scope: MemoryScope, key: string): Statement {
    return { text: this.#texts.newest, params: [...scopeParams(scope), key] };
  }

  #newestText(): string {
    return `SELECT a.lineages,a.latest_from,${columnsOf("a", VERSION_COLUMNS)} FROM ${this.#versions} a WHERE ${EXACT("a")} AND a.key=$5::text ORDER BY a.version DESC LIMIT 1`;
  }

  /** The same, after the key that holds an id. Row: that key or null, then as {@link newest}, or nulls. */
  newestHead(scope: MemoryScope, key: string, id: string): Statement {
    return { text: this.#texts.newestHead, params: [...scopeParams(scope), key, id] };
  }

  #newestHeadText(): string {
    return `SELECT i.key,${columnsOf("k", ["lineages", "latest_from", ...VERSION_COLUMNS])} FROM (SELECT 1) o LEFT JOIN LATERAL (${this.#holder}) i ON true LEFT JOIN LATERAL (${this.#newestText()}) k ON true`;
  }

  get #holder(): string {
    return `SELECT a.key FROM ${this.#versions} a WHERE ${EXACT("a")} AND a.id>=$6::text AND a.id<=$6::text ORDER BY a.id LIMIT 1`;
  }

  /**
   * One key at an instant. Rows: the key's newest `recorded_at`, then a version (see `readVersion`) or, where nothing is
   * known yet, nulls; one row a lineage, in order. No row: no such key.
   */
  live(request: {
    readonly scope: MemoryScope;
    readonly key: string;
    readonly asOf: EpochMs | undefined;
    readonly knownAt: EpochMs | undefined;
    readonly now: EpochMs;
  }): Statement {
    const { scope, key, asOf, knownAt, now } = request;
    const params = [...scopeParams(scope), key, asOf ?? null, now, knownAt ?? LAST_INSTANT];
    return { text: this.#texts.live, params };
  }

  #liveText(): string {
    const at = { scope: EXACT, key: "$5::text", asOf: "$6::bigint", now: "$7::bigint", knownAt: "$8::bigint" };
    return `SELECT k.recorded_at,${heldColumns} FROM ${this.#held(at)} ORDER BY s.lineage`;
  }

  /**
   * A page of keys. Rows: `user_id`, `session_id`, `agent`, `key` and its newest `recorded_at`, then as {@link live};
   * by scope, key and lineage.
   */
  beliefs(
    request: KeyPageRequest & {
      readonly asOf: EpochMs | undefined;
      readonly knownAt: EpochMs | undefined;
      readonly now: EpochMs;
    },
  ): Statement {
    const { scope, reach, keyPrefix, after, limit, asOf, knownAt, now } = request;
    const p = new Params();
    const tenant = p.text(scope.tenantId);
    const at = {
      scope: (alias: string) =>
        `${alias}.tenant_id=${tenant} AND ${alias}.user_id=p.user_id AND ${alias}.session_id=p.session_id AND ${alias}.agent=p.agent`,
      key: "p.key",
      asOf: p.add(asOf ?? null, "::bigint"),
      now: p.add(now, "::bigint"),
      knownAt: p.add(knownAt ?? LAST_INSTANT, "::bigint"),
    };
    const conditions = [
      p.scope("b", scope, reach),
      "b.follows=0 AND b.lineage=1",
      `b.recorded_at<=${at.knownAt}`,
      ...prefixConditions(p, "b", keyPrefix),
      ...afterKey(p, "b", after),
    ];
    const page = `SELECT b.user_id,b.session_id,b.agent,b.key FROM ${this.#versions} b WHERE ${conditions.join(" AND ")} ORDER BY b.user_id,b.session_id,b.agent,b.key LIMIT ${p.add(limit, "::bigint")}`;
    const key = `${at.scope("a")} AND a.key=p.key`;
    return {
      text:
        `SELECT p.user_id,p.session_id,p.agent,p.key,k.recorded_at,${heldColumns} FROM (${page}) p` +
        ` CROSS JOIN LATERAL (SELECT ${columnsOf("a", ["lineages", "latest_from", ...VERSION_COLUMNS])},(a.lineages=1 AND a.valid_from=a.latest_from AND a.recorded_at<=${at.knownAt} AND a.valid_from<=coalesce(${at.asOf},greatest(${at.now},a.recorded_at))) AS is_plain FROM ${this.#versions} a WHERE ${key} ORDER BY a.version DESC LIMIT 1) k` +
        // Of a plain key the newest version is all: nothing below its condition is looked at.
        ` LEFT JOIN LATERAL (SELECT ${columnsOf("k", VERSION_COLUMNS)} WHERE k.is_plain UNION ALL SELECT ${columnsOf("h", VERSION_COLUMNS)} FROM (${this.#begun(key, at)}) s CROSS JOIN LATERAL (${this.#heldIn(key, at)}) h WHERE NOT k.is_plain) v ON true` +
        ` LEFT JOIN LATERAL (${this.#follower(`NOT k.is_plain AND ${key}`, at.knownAt)}) n ON true` +
        ` LEFT JOIN LATERAL (${this.#ender(`NOT k.is_plain AND ${key}`, at.knownAt)}) e ON true` +
        " ORDER BY p.user_id,p.session_id,p.agent,p.key,v.lineage",
      params: p.values,
    };
  }

  // The key's newest version (k), its lineages (s), what each of them holds at the instant (v), what follows that in its
  // lineage (n) and what ended the lineage (e). Each is one look into an index, whatever the length of the history.
  #held(at: HeldAt): string {
    const key = `${at.scope("a")} AND a.key=${at.key}`;
    return (
      `(SELECT a.recorded_at FROM ${this.#versions} a WHERE ${key} ORDER BY a.version DESC LIMIT 1) k` +
      ` LEFT JOIN LATERAL (${this.#begun(key, at)}) s ON true` +
      ` LEFT JOIN LATERAL (${this.#heldIn(key, at)}) v ON true` +
      ` LEFT JOIN LATERAL (${this.#follower(key, at.knownAt)}) n ON true` +
      ` LEFT JOIN LATERAL (${this.#ender(key, at.knownAt)}) e ON true`
    );
  }

  #begun(key: string, { knownAt }: HeldAt): string {
    return `SELECT a.lineage FROM ${this.#versions} a WHERE ${key} AND a.follows=0 AND a.recorded_at<=${knownAt}`;
  }

  #heldIn(key: string, { asOf, now, knownAt }: HeldAt): string {
    return `SELECT ${columnsOf("a", VERSION_COLUMNS)} FROM ${this.#versions} a WHERE ${key} AND a.lineage=s.lineage AND a.valid_from<=coalesce(${asOf},greatest(${now},k.recorded_at)) AND a.recorded_at<=${knownAt} ORDER BY a.valid_from DESC,a.version DESC LIMIT 1`;
  }

  #follower(key: string, knownAt: string): string {
    return `SELECT a.id,a.valid_from FROM ${this.#versions} a WHERE ${key} AND a.lineage=v.lineage AND (a.valid_from,a.version)>(v.valid_from,v.version) AND a.recorded_at<=${knownAt} ORDER BY a.valid_from,a.version LIMIT 1`;
  }

  #ender(key: string, knownAt: string): string {
    return `SELECT a.id,a.valid_from FROM ${this.#versions} a WHERE ${key} AND a.settles<>'{}'::integer[] AND a.settles@>ARRAY[v.lineage] AND a.recorded_at<=${knownAt} ORDER BY a.version LIMIT 1`;
  }

  /**
   * A key as a write finds it. Rows: `version`, `recorded_at`, how many lineages, the key that holds the id, then for each
   * open lineage one or two rows of `is_newest`, `is_held` and a version; one row of nulls where there is none.
   */
  heads(request: {
    readonly scope: MemoryScope;
    readonly key: string;
    readonly id: string;
    readonly at: EpochMs | undefined;
    readonly before: number | undefined;
    readonly now: EpochMs;
  }): Statement {
    const { scope, key, id, at, before, now } = request;
    const params = [...scopeParams(scope), key, id, at ?? null, now, before ?? LAST_VERSION];
    return { text: this.#texts.heads, params };
  }

  #headsText(): string {
    const versions = this.#versions;
    const key = (alias: string): string => `${EXACT(alias)} AND ${alias}.key=$5::text`;
    const known = "a.version<$9::integer";
    const columns = columnsOf("a", VERSION_COLUMNS);
    return (
      `SELECT k.version,k.recorded_at,(SELECT count(*) FROM ${versions} a WHERE ${key("a")} AND a.follows=0 AND ${known}),i.key,` +
      `v.is_newest,v.is_held,${columnsOf("v", VERSION_COLUMNS)},n.id,n.valid_from,NULL,NULL` +
      " FROM (SELECT 1) o" +
      ` LEFT JOIN LATERAL (SELECT a.version,a.recorded_at FROM ${versions} a WHERE ${key("a")} AND ${known} ORDER BY a.version DESC LIMIT 1) k ON true` +
      ` LEFT JOIN LATERAL (SELECT a.key FROM ${versions} a WHERE ${EXACT("a")} AND a.id>=$6::text AND a.id<=$6::text AND (a.key<>$5::text OR ${known}) ORDER BY a.id LIMIT 1) i ON true` +
      ` LEFT JOIN LATERAL (SELECT b.lineage FROM ${versions} b WHERE ${key("b")} AND b.follows=0 AND b.version<$9::integer` +
      ` AND NOT EXISTS (SELECT FROM ${versions} a WHERE ${key("a")} AND a.settles<>'{}'::integer[] AND a.settles@>ARRAY[b.lineage] AND ${known})) s ON true` +
      ` LEFT JOIN LATERAL (SELECT ${columns} FROM ${versions} a WHERE ${key("a")} AND a.lineage=s.lineage AND a.follows<$9::integer AND ${known} ORDER BY a.follows DESC LIMIT 1) w ON true` +
      ` LEFT JOIN LATERAL (SELECT ${columns} FROM ${versions} a WHERE ${key("a")} AND a.lineage=s.lineage AND a.valid_from<=coalesce($7::bigint,greatest($8::bigint,k.recorded_at)) AND ${known} ORDER BY a.valid_from DESC,a.version DESC LIMIT 1) h ON true` +
      ` LEFT JOIN LATERAL (SELECT true AS is_newest,w.version=h.version AS is_held,${columnsOf("w", VERSION_COLUMNS)} WHERE w.version IS NOT NULL UNION ALL SELECT false,true,${columnsOf("h", VERSION_COLUMNS)} WHERE h.version<>w.version) v ON true` +
      ` LEFT JOIN LATERAL (SELECT a.id,a.valid_from FROM ${versions} a WHERE ${key("a")} AND a.lineage=v.lineage AND (a.valid_from,a.version)>(v.valid_from,v.version) AND ${known} ORDER BY a.valid_from,a.version LIMIT 1) n ON true` +
      " ORDER BY v.lineage,v.version"
    );
  }

  /** A page of versions, by scope, key and version. Rows: a version each (see `readVersion`). */
  history(request: {
    readonly scope: MemoryScope;
    readonly reach: MemoryReach;
    readonly key: string | undefined;
    readonly after: (KeyPosition & { readonly version: number }) | undefined;
    readonly limit: number;
  }): Statement {
    const { scope, reach, key, after, limit } = request;
    const p = new Params();
    const conditions = [p.scope("a", scope, reach)];
    if (key !== undefined) conditions.push(`a.key=${p.text(key)}`);
    if (after !== undefined) {
      const place = [...p.parts(after.scope), p.text(after.key), p.add(after.version, "::integer")];
      conditions.push(`(a.user_id,a.session_id,a.agent,a.key,a.version)>(${place.join(",")})`);
    }
    const order = (alias: string): string =>
      ["user_id", "session_id", "agent", "key", "version"].map((name) => `${alias}.${name}`).join(",");
    const page = `SELECT ${columnsOf("a", VERSION_COLUMNS)},a.tenant_id FROM ${this.#versions} a WHERE ${conditions.join(" AND ")} ORDER BY ${order("a")} LIMIT ${p.add(limit, "::bigint")}`;
    const same =
      "a.tenant_id=v.tenant_id AND a.user_id=v.user_id AND a.session_id=v.session_id AND a.agent=v.agent AND a.key=v.key";
    const always = String(LAST_INSTANT);
    return {
      text:
        `SELECT ${heldColumns} FROM (${page}) v` +
        ` LEFT JOIN LATERAL (${this.#follower(same, always)}) n ON true` +
        ` LEFT JOIN LATERAL (${this.#ender(same, always)}) e ON true ORDER BY ${order("v")}`,
      params: p.values,
    };
  }

  /**
   * The write of a version, whole or not at all. Row: whether the version is there, by this write or an earlier attempt.
   *
   * It is added from the version that the plan was made on, which is locked: one that an erasure removed, or that another
   * write follows already, gives no row to add from, or a version number (a successor, an id) that is taken. Nothing that
   * is there is changed. The tenant's lock is shared among writers; an erasure takes it alone, so that it never removes a
   * history while a write adds to its end unseen.
   */
  commit({ scope, key, base, record, lineage, head, settles, token }: WritePlan): Statement {
    const content = recordParams(record);
    const own = [base, lineage, head ?? 0, `{${settles.join(",")}}`, token];
    const params = [...scopeParams(scope), key, ...own, ...content.filter((_, index) => index !== 1)];
    if (base === 0) return { text: this.#texts.first, params };
    return { text: this.#texts.next, params: [...params, this.#lockOf(scope)] };
  }

  #commitText(hasBase: boolean): string {
    const columns = CONTENT.filter((name) => name !== "key");
    const values = columns.map((name, index) => `$${index + 11}${CONTENT_CASTS[name] ?? "::text"}`);
    const lock = `$${columns.length + 11}::text`;
    const from = values[columns.indexOf("valid_from")] ?? "";
    const facts = hasBase ? `greatest(b.lineages,$7::integer),greatest(b.latest_from,${from})` : `$7::integer,${from}`;
    const base =
      `g AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended(${lock},0))),` +
      `b AS (SELECT a.version,a.lineages,a.latest_from FROM g CROSS JOIN ${this.#versions} a WHERE ${EXACT("a")} AND a.key=$5::text AND a.version=$6::integer FOR UPDATE OF a),`;
    return (
      `WITH ${hasBase ? base : ""}w AS (INSERT INTO ${this.#versions} (tenant_id,user_id,session_id,agent,key,version,lineage,follows,settles,token,lineages,latest_from,${columns.join(",")})` +
      ` SELECT $1::text,$2::text,$3::text,$4::text,$5::text,$6::integer+1,$7::integer,$8::integer,$9::text::integer[],$10::text,${facts},${values.join(",")}${hasBase ? " FROM b" : ""}` +
      " ON CONFLICT DO NOTHING RETURNING 1)" +
      ` SELECT EXISTS (SELECT FROM w) OR ${this.#isThere("$10")}`
    );
  }

  /** Whether an earlier attempt of this write is there: what a lost race is told from. Row: that. */
  isThere({ scope, key, base, token }: WritePlan): Statement {
    const text = `SELECT ${this.#isThere("$7")}`;
    return { text, params: [...scopeParams(scope), key, base, token] };
  }

  #isThere(token: string): string {
    return `EXISTS (SELECT FROM ${this.#versions} a WHERE ${EXACT("a")} AND a.key=$5::text AND a.version=$6::integer+1 AND a.token=${token}::text)`;
  }

  /* ---------------------------------------------------------------------------------------------- episodic */

  // The episode with an id. Asked for as a range in the order of ids, which only the primary key gives: by equality another
  // index that begins with the scope costs the same before the table was ever analysed, and the whole scope is read.
  #byId(id: string): string {
    return `SELECT ${columnsOf("b", RECORD_COLUMNS)} FROM ${this.#episodes} b WHERE ${EXACT("b")} AND b.id>=${id} AND b.id<=${id} ORDER BY b.id LIMIT 1`;
  }

  /**
   * One episode. Row: `added`, `same`, `again` (another write of the id went on at the same time: ask again), or `differs`
   * and the record that is there.
   */
  log({ record, anyFrom }: LogEntry): Statement {
    return { text: this.#texts.log, params: [...scopeParams(record.scope), ...recordParams(record), anyFrom] };
  }

  #logText(): string {
    const values = CONTENT.map((name, index) => `$${index + 5}${CONTENT_CASTS[name] ?? "::text"}`);
    const given = (name: string): string => values[CONTENT.indexOf(name)] ?? "";
    return (
      `WITH w AS (INSERT INTO ${this.#episodes} (tenant_id,${PARTS.join(",")},${CONTENT.join(",")}) VALUES ($1::text,$2::text,$3::text,$4::text,${values.join(",")}) ON CONFLICT DO NOTHING RETURNING 1)` +
      ` SELECT CASE WHEN w.r IS NOT NULL THEN 'added' WHEN t.id IS NULL THEN 'again' WHEN ${differs("t", given, `$${CONTENT.length + 5}::boolean`)} THEN 'differs' ELSE 'same' END,${columnsOf("t", RECORD_COLUMNS)}` +
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
    const names = CONTENT.join(",");
    const there = RECORD_COLUMNS.map((name) => `a_${name}`).join(",");
    const count = `$${CONTENT.length + 6}::bigint`;
    const isWhole = `CASE WHEN c.n=${count} THEN 1 WHEN c.n+(SELECT count(*) FROM j)<${count} THEN 0 WHEN c.n>0 AND EXISTS (SELECT FROM j WHERE j.differs) THEN 0 ELSE 1 END`;
    return (
      `WITH w AS (INSERT INTO ${this.#episodes} (tenant_id,${PARTS.join(",")},${names}) SELECT $1::text,$2::text,$3::text,$4::text,${CONTENT.map(listed).join(",")} FROM unnest(${LISTS}) AS i(${LIST_NAMES}) ON CONFLICT DO NOTHING RETURNING 1),` +
      "c AS MATERIALIZED (SELECT count(*) AS n FROM w)," +
      `j(${there},differs) AS MATERIALIZED (${this.#compared("a", `(SELECT c.n FROM c)<${count}`)})` +
      ` SELECT ${there} FROM j WHERE j.differs AND (SELECT c.n FROM c)=0` +
      ` UNION ALL SELECT ${RECORD_COLUMNS.map((name, index) => (index === 0 ? `(1/(${isWhole}))::text` : `NULL${listType(name)}`)).join(",")} FROM c`
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
      ` FROM unnest(${LISTS},$${CONTENT.length + 5}::text::boolean[]) AS i(${LIST_NAMES},any_from) CROSS JOIN LATERAL (${this.#byId("i.id")}) ${alias} WHERE ${condition}`
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
    for (const [name, values] of Object.entries(filter ?? {})) {
      const meant = (value: unknown): string =>
        `{${JSON.stringify(scope.tenantId)}:${JSON.stringify(Object.fromEntries([[name, value]]))}}`;
      if (values.length <= MOST_TERMS) {
        const terms = values.map((value) => `${METADATA} @> ${p.text(meant(value))}::jsonb`);
        conditions.push(`(${terms.join(" OR ")})`);
      } else {
        // As one parameter: a statement takes 65,535, and would be another one for each number of values.
        const list = p.text(`[${values.map(meant).join(",")}]`);
        conditions.push(`${METADATA} @> ANY (ARRAY(SELECT jsonb_array_elements(${list}::jsonb)))`);
      }
    }
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

  /* ---------------------------------------------------------------------------------------------- erasure */

  /** Waits for the tenant's writers and keeps new ones out, until the transaction ends. To be run before {@link tombstone}. */
  lock(scope: MemoryScope): Statement {
    return {
      text: "SELECT pg_advisory_xact_lock(hashtextextended($1::text,0))",
      params: [this.#lockOf(scope)],
    };
  }

  /** Removes what the target means, notes how much, condemns what was derived from it. Row: the notes' sums. */
  tombstone(target: ErasureTarget): Statement {
    const p = new Params();
    const { scope, reach, keys } = target;
    const parts = [p.text(scope.tenantId), ...p.parts(scope)];
    const list = keys === undefined ? undefined : p.text(arrayLiteral(keys));
    const gone = (table: string, kind: "profile" | "episodic"): string => {
      if (target.kinds?.includes(kind) === false)
        return "SELECT NULL::text,NULL::text,NULL::text,NULL::text WHERE false";
      const key = list === undefined ? "" : ` AND a.key=ANY(${list}::text[])`;
      return `DELETE FROM ${table} a WHERE ${p.scope("a", scope, reach)}${key} RETURNING a.user_id,a.session_id,a.agent,a.id`;
    };
    const versions = gone(this.#versions, "profile");
    const episodes = gone(this.#episodes, "episodic");
    const condemned = `UPDATE ${this.#derivations} d SET condemned=true WHERE NOT d.condemned AND ${p.scope("d", scope, reach)}${this.#implicated(p, target)}`;
    const counts = "(SELECT count(*) FROM v)";
    const others = "(SELECT count(*) FROM e)";
    const noted =
      `INSERT INTO ${this.#erasures} AS n (tenant_id,user_id,session_id,agent,profile,episodic) SELECT ${parts.join(",")},${counts},${others} WHERE ${counts}+${others}>0` +
      " ON CONFLICT (tenant_id,user_id,session_id,agent) DO UPDATE SET profile=n.profile+excluded.profile,episodic=n.episodic+excluded.episodic";
    const before = `${this.#erasures} n WHERE ${p.scope("n", scope, reach)}`;
    return {
      text:
        `WITH v(user_id,session_id,agent,id) AS (${versions}),e(user_id,session_id,agent,id) AS (${episodes}),d AS (${condemned}),n AS (${noted})` +
        ` SELECT ${counts}+coalesce(sum(n.profile),0),${others}+coalesce(sum(n.episodic),0) FROM ${before}`,
      params: p.values,
    };
  }

  /** What {@link tombstone} would do. Row: versions, episodes, artefacts to be purged, artefacts that others keep. */
  count(target: ErasureTarget): Statement {
    const p = new Params();
    const { scope, reach, keys } = target;
    const list = keys === undefined ? undefined : p.text(arrayLiteral(keys));
    const meant = (table: string, kind: "profile" | "episodic"): string => {
      const isMeant = target.kinds?.includes(kind) !== false;
      const key = list === undefined ? "" : ` AND a.key=ANY(${list}::text[])`;
      return `SELECT a.user_id,a.session_id,a.agent,a.id FROM ${table} a WHERE ${isMeant ? `${p.scope("a", scope, reach)}${key}` : "false"}`;
    };
    const versions = meant(this.#versions, "profile");
    const episodes = meant(this.#episodes, "episodic");
    const doomed = `SELECT ${DERIVATION_ORDER} FROM ${this.#derivations} d WHERE ${p.scope("d", scope, reach)} AND (d.condemned OR (true${this.#implicated(p, target)}))`;
    const tenant = p.text(scope.tenantId);
    // What speaks of an artefact is looked up in the primary key, artefact by artefact.
    const isDoomed =
      "EXISTS (SELECT FROM x y WHERE y.adapter=o.adapter AND y.artefact_id=o.artefact_id AND y.user_id=o.user_id AND y.session_id=o.session_id AND y.agent=o.agent AND y.source_kind=o.source_kind AND y.source_id=o.source_id)";
    const speakers = `SELECT NOT bool_or(o.mixes) AND bool_or(NOT o.condemned AND (o.user_id,o.session_id,o.agent)<>(x.user_id,x.session_id,x.agent) AND NOT ${isDoomed}) AS is_kept FROM ${this.#derivations} o WHERE o.tenant_id=${tenant} AND o.adapter=x.adapter AND o.artefact_id=x.artefact_id`;
    const shared = `SELECT x.adapter,x.artefact_id,bool_and(k.is_kept) AS is_kept FROM x CROSS JOIN LATERAL (${speakers}) k GROUP BY x.adapter,x.artefact_id`;
    return {
      text:
        `WITH v AS MATERIALIZED (${versions}),e AS MATERIALIZED (${episodes}),x AS MATERIALIZED (${doomed}),s AS (${shared})` +
        " SELECT (SELECT count(*) FROM v),(SELECT count(*) FROM e),count(*) FILTER (WHERE NOT s.is_kept),count(*) FILTER (WHERE s.is_kept) FROM s",
      params: p.values,
    };
  }

  // Further conditions on derivations: of the kinds meant and, where keys are named, built from a record that is erased.
  #implicated(p: Params, { kinds, keys }: ErasureTarget): string {
    const kind = kinds === undefined ? "" : ` AND d.source_kind=ANY(${p.text(arrayLiteral(kinds))}::text[])`;
    if (keys === undefined) return kind;
    const sources =
      "SELECT 'profile',user_id,session_id,agent,id FROM v UNION ALL SELECT 'episodic',user_id,session_id,agent,id FROM e";
    return `${kind} AND (d.source_kind,d.user_id,d.session_id,d.agent,d.source_id) IN (${sources})`;
  }

  /** Takes the notes away. Row: their sums. */
  sweep(scope: MemoryScope, reach: MemoryReach): Statement {
    const p = new Params();
    return {
      text: `WITH n AS (DELETE FROM ${this.#erasures} n WHERE ${p.scope("n", scope, reach)} RETURNING n.profile,n.episodic) SELECT coalesce(sum(profile),0),coalesce(sum(episodic),0) FROM n`,
      params: p.values,
    };
  }

  /**
   * A page of registrations, condemned or not, in their order. Rows: a derivation (see `readDerivation`), then (condemned)
   * whether another scope keeps the artefact.
   */
  derivations(request: {
    readonly scope: MemoryScope;
    readonly reach: MemoryReach;
    readonly after: DerivationPosition | undefined;
    readonly limit: number;
    readonly isCondemned: boolean;
  }): Statement {
    const { scope, reach, after, limit, isCondemned } = request;
    const p = new Params();
    const conditions = [p.scope("d", scope, reach), isCondemned ? "d.condemned" : "NOT d.condemned"];
    if (after !== undefined) conditions.push(`(${DERIVATION_ORDER})>(${this.#place(p, after).join(",")})`);
    const page = `SELECT d.tenant_id,${DERIVATION_COLUMNS} FROM ${this.#derivations} d WHERE ${conditions.join(" AND ")} ORDER BY ${DERIVATION_ORDER} LIMIT ${p.add(limit, "::bigint")}`;
    if (!isCondemned)
      return { text: `SELECT ${DERIVATION_COLUMNS} FROM (${page}) d ORDER BY ${DERIVATION_ORDER}`, params: p.values };
    const shared = `SELECT NOT bool_or(o.mixes) AND bool_or(NOT o.condemned AND (o.user_id,o.session_id,o.agent)<>(d.user_id,d.session_id,d.agent)) AS is_shared FROM ${this.#derivations} o WHERE o.tenant_id=d.tenant_id AND o.adapter=d.adapter AND o.artefact_id=d.artefact_id`;
    return {
      text: `SELECT ${DERIVATION_COLUMNS},s.is_shared FROM (${page}) d CROSS JOIN LATERAL (${shared}) s ORDER BY ${DERIVATION_ORDER}`,
      params: p.values,
    };
  }

  /** Registers an artefact, or replaces the same registration. No row. */
  register(position: DerivationPosition, mixes: boolean): Statement {
    const p = new Params();
    const tenant = p.text(position.scope.tenantId);
    const place = this.#place(p, position);
    return {
      text:
        `INSERT INTO ${this.#derivations} (tenant_id,adapter,artefact_id,user_id,session_id,agent,source_kind,source_id,mixes) VALUES (${tenant},${place.join(",")},${p.add(mixes, "::boolean")})` +
        " ON CONFLICT (tenant_id,adapter,artefact_id,user_id,session_id,agent,source_kind,source_id) DO UPDATE SET mixes=excluded.mixes,condemned=false",
      params: p.values,
    };
  }

  /** Removes condemned registrations of one tenant. No row. */
  forget(tenantId: string, positions: readonly DerivationPosition[]): Statement {
    const columns = positions.map(({ adapter, artefactId, scope, sourceKind, sourceId }) => [
      adapter,
      artefactId,
      ...scopeParams(scope).slice(1),
      sourceKind,
      sourceId,
    ]);
    const lists = [0, 1, 2, 3, 4, 5, 6].map((at) => arrayLiteral(columns.map((row) => row[at] ?? "")));
    const names = "adapter,artefact_id,user_id,session_id,agent,source_kind,source_id";
    const placeholders = lists.map((_, index) => `$${index + 2}::text::text[]`).join(",");
    const same = names
      .split(",")
      .map((name) => `d.${name}=x.${name}`)
      .join(" AND ");
    return {
      text: `DELETE FROM ${this.#derivations} d USING unnest(${placeholders}) AS x(${names}) WHERE d.tenant_id=$1::text AND d.condemned AND ${same}`,
      params: [tenantId, ...lists],
    };
  }

  #place(p: Params, { adapter, artefactId, scope, sourceKind, sourceId }: DerivationPosition): readonly string[] {
    return [p.text(adapter), p.text(artefactId), ...p.parts(scope), p.text(sourceKind), p.text(sourceId)];
  }

  #lockOf({ tenantId }: MemoryScope): string {
    return this.#lockName + tenantId;
  }
}

interface HeldAt {
  readonly scope: (alias: string) => string;
  readonly key: string;
  readonly asOf: string;
  readonly now: string;
  readonly knownAt: string;
}

const heldColumns = `${columnsOf("v", VERSION_COLUMNS)},n.id,n.valid_from,e.id,e.valid_from`;
const METADATA = METADATA_BY_TENANT.replace("tenant_id", "a.tenant_id").replace("metadata", "a.metadata");
const DERIVATION_COLUMNS = "d.user_id,d.session_id,d.agent,d.adapter,d.artefact_id,d.source_kind,d.source_id,d.mixes";
const DERIVATION_ORDER = "d.adapter,d.artefact_id,d.user_id,d.session_id,d.agent,d.source_kind,d.source_id";

/** Whether a record that is there has other content than the one given. Which instant it was recorded at does not count. */
function differs(alias: string, given: (name: string) => string, anyFrom: string): string {
  const columns = CONTENT.filter((name) => !["id", "recorded_at", "valid_from"].includes(name));
  const parts = columns.map((name) => `${alias}.${name} IS DISTINCT FROM ${given(name)}`);
  return `(${parts.join(" OR ")} OR (NOT ${anyFrom} AND ${alias}.valid_from<>${given("valid_from")}))`;
}

function listType(name: string): string {
  return (CONTENT_CASTS[name] ?? "::text").replace("::text::", "::");
}

function isOptional(name: string): boolean {
  return ["valid_to", "subject", "predicate", "metadata", "redacted"].includes(name);
}

// A column of the lists as what it stands for.
function listed(name: string): string {
  if (!isOptional(name)) return `i.${name}`;
  if (name === "subject") return "substr(nullif(i.subject,''),2)";
  return `nullif(i.${name},'')${listType(name)}`;
}

function listParams(entries: readonly LogEntry[]): readonly (string | null)[] {
  const rows = entries.map(({ record }) => recordParams(record));
  const lists = CONTENT.map((name, index) => {
    const column = rows.map((row) => row[index] ?? null);
    if (column.every((value) => value === null)) return null;
    const mark = name === "subject" ? "+" : "";
    return arrayLiteral(column.map((value) => (value === null ? "" : mark === "" ? value : `${mark}${value}`)));
  });
  return [...lists, arrayLiteral(entries.map(({ anyFrom }) => (anyFrom ? "t" : "f")))];
}

function afterKey(p: Params, alias: string, after: KeyPosition | undefined): readonly string[] {
  if (after === undefined) return [];
  const place = [...p.parts(after.scope), p.text(after.key)];
  return [`(${alias}.user_id,${alias}.session_id,${alias}.agent,${alias}.key)>(${place.join(",")})`];
}

function prefixConditions(p: Params, alias: string, prefix: string | undefined): readonly string[] {
  if (prefix === undefined || prefix === "") return [];
  const end = prefixEnd(prefix);
  const from = `${alias}.key>=${p.text(prefix)}`;
  return end === undefined ? [from] : [from, `${alias}.key<${p.text(end)}`];
}

/** The least text, in UTF-8 byte order, that is above every text with this prefix; `undefined` where there is none. */
function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
