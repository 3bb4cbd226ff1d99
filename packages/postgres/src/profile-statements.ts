// Every statement that reads profiles, its parameters and its row. Tables are named with their schema, text parameters are
// cast from text (so that no serialiser of the client's matters), instants come from the caller and never from the server,
// and the tenant is always the first condition. Rows are columns of text.

import type { EpochMs, MemoryReach, MemoryScope } from "@memory/core";
import type { KeyPageRequest, KeyPosition } from "@memory/core/driver";
import {
  afterKey,
  columnsOf,
  exactScope,
  Params,
  prefixConditions,
  type Statement,
  scopeParams,
} from "@memory/core/sql";
import { NEWEST_COLUMNS, VERSION_COLUMNS } from "./row.ts";

/** A bound that no version number, and no instant, is above. */
const LAST_VERSION = 2_147_483_647;
const LAST_INSTANT = 9_000_000_000_000_000;

const HEAD_COLUMNS: readonly string[] = ["token", ...NEWEST_COLUMNS];

/** The statements that read one table of versions, named with its schema. */
export class ProfileStatements {
  readonly #versions: string;
  readonly #texts: {
    readonly newest: string;
    readonly newestFresh: string;
    readonly newestHead: string;
    readonly live: string;
    readonly heads: string;
  };

  constructor(versions: string) {
    this.#versions = versions;
    this.#texts = {
      newest: this.#newestText(NEWEST_COLUMNS),
      newestFresh: this.#newestText(HEAD_COLUMNS).replace("SELECT ", "SELECT NULL,"),
      newestHead: this.#newestHeadText(),
      live: this.#liveText(),
      heads: this.#headsText(),
    };
  }

  /**
   * The newest version of a key. Row: see `readNewest`. Where the key is plain, this is all that there is to know, at a fifth
   * of what {@link live} costs.
   */
  newest(scope: MemoryScope, key: string): Statement {
    return { text: this.#texts.newest, params: [...scopeParams(scope), key] };
  }

  #newestText(columns: readonly string[]): string {
    return `SELECT ${columnsOf("a", columns)} FROM ${this.#versions} a WHERE ${exactScope("a")} AND a.key=$5::text ORDER BY a.version DESC LIMIT 1`;
  }

  /**
   * The same, after the key that holds the id, if one is given, and the token of the version. Row: that key or null, the
   * token, then as {@link newest}, or nulls; without an id no row where there is no version.
   */
  newestHead(scope: MemoryScope, key: string, id: string | undefined): Statement {
    const params = [...scopeParams(scope), key];
    if (id === undefined) return { text: this.#texts.newestFresh, params };
    return { text: this.#texts.newestHead, params: [...params, id] };
  }

  #newestHeadText(): string {
    return `SELECT i.key,${columnsOf("k", HEAD_COLUMNS)} FROM (SELECT 1) o LEFT JOIN LATERAL (${this.#holder}) i ON true LEFT JOIN LATERAL (${this.#newestText(HEAD_COLUMNS)}) k ON true`;
  }

  get #holder(): string {
    return `SELECT a.key FROM ${this.#versions} a WHERE ${exactScope("a")} AND a.id>=$6::text AND a.id<=$6::text ORDER BY a.id LIMIT 1`;
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
    const at = { scope: exactScope, key: "$5::text", asOf: "$6::bigint", now: "$7::bigint", knownAt: "$8::bigint" };
    return `SELECT k.recorded_at,${heldColumns} FROM ${this.#held(at)} ORDER BY s.lineage`;
  }

  /**
   * A page of keys. Rows: `user_id`, `session_id`, `agent`, `key` and its newest `recorded_at`, then as {@link live};
   * by scope, key and lineage. Under a wide scope a prefix is looked for among all keys in the order of scopes: rows are read
   * until enough of them have it, of one that few have all keys that are under the scope, an index entry each.
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
      // Said as a range, which the index of keys is not for: for a prefix it would give the keys of all the tenant to be sorted.
      "b.follows=0 AND b.lineage<=1",
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
   * A key as a write finds it. Rows: `version`, `recorded_at`, how many lineages, the key that holds the id, the version's
   * token, then for each open lineage one or two rows of `is_newest`, `is_held` and a version; one row of nulls where there is none.
   */
  heads(request: {
    readonly scope: MemoryScope;
    readonly key: string;
    readonly id: string | undefined;
    readonly at: EpochMs | undefined;
    readonly before: number | undefined;
    readonly now: EpochMs;
  }): Statement {
    const { scope, key, id, at, before, now } = request;
    const params = [...scopeParams(scope), key, id ?? null, at ?? null, now, before ?? LAST_VERSION];
    return { text: this.#texts.heads, params };
  }

  #headsText(): string {
    const versions = this.#versions;
    const key = (alias: string): string => `${exactScope(alias)} AND ${alias}.key=$5::text`;
    const known = "a.version<$9::integer";
    const columns = columnsOf("a", VERSION_COLUMNS);
    return (
      `SELECT k.version,k.recorded_at,(SELECT count(*) FROM ${versions} a WHERE ${key("a")} AND a.follows=0 AND ${known}),i.key,k.token,` +
      `v.is_newest,v.is_held,${columnsOf("v", VERSION_COLUMNS)},n.id,n.valid_from,NULL,NULL` +
      " FROM (SELECT 1) o" +
      ` LEFT JOIN LATERAL (SELECT a.version,a.recorded_at,a.token,a.latest_from FROM ${versions} a WHERE ${key("a")} AND ${known} ORDER BY a.version DESC LIMIT 1) k ON true` +
      ` LEFT JOIN LATERAL (SELECT a.key FROM ${versions} a WHERE ${exactScope("a")} AND a.id>=$6::text AND a.id<=$6::text AND (a.key<>$5::text OR ${known}) ORDER BY a.id LIMIT 1) i ON true` +
      ` LEFT JOIN LATERAL (SELECT b.lineage FROM ${versions} b WHERE ${key("b")} AND b.follows=0 AND b.version<$9::integer` +
      ` AND NOT EXISTS (SELECT FROM ${versions} a WHERE ${key("a")} AND a.settles<>'{}'::integer[] AND a.settles@>ARRAY[b.lineage] AND ${known})) s ON true` +
      ` LEFT JOIN LATERAL (SELECT ${columns} FROM ${versions} a WHERE ${key("a")} AND a.lineage=s.lineage AND a.follows<$9::integer AND ${known} ORDER BY a.follows DESC LIMIT 1) w ON true` +
      ` LEFT JOIN LATERAL (SELECT ${columns} FROM ${versions} a WHERE ${key("a")} AND a.lineage=s.lineage AND a.valid_from<=coalesce($7::bigint,greatest($8::bigint,k.recorded_at)) AND ${known} ORDER BY a.valid_from DESC,a.version DESC LIMIT 1) h ON true` +
      ` LEFT JOIN LATERAL (SELECT true AS is_newest,w.version=h.version AS is_held,${columnsOf("w", VERSION_COLUMNS)} WHERE w.version IS NOT NULL UNION ALL SELECT false,true,${columnsOf("h", VERSION_COLUMNS)} WHERE h.version<>w.version) v ON true` +
      ` LEFT JOIN LATERAL (SELECT a.id,a.valid_from FROM ${versions} a WHERE ${key("a")} AND a.lineage=v.lineage AND (a.valid_from,a.version)>(v.valid_from,v.version) AND a.valid_from<=k.latest_from AND ${known} ORDER BY a.valid_from,a.version LIMIT 1) n ON true` +
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
    const isOfAny = key === undefined || reach === "exact";
    const columns = `${columnsOf("a", VERSION_COLUMNS)},a.tenant_id`;
    const conditions = isOfAny ? [p.scope("a", scope, reach)] : [`a.tenant_id=${p.text(scope.tenantId)}`, SAME_SCOPE];
    const keys = isOfAny ? [] : [p.scope("b", scope, reach), "b.follows=0 AND b.lineage=1"];
    if (key !== undefined) {
      const named = p.text(key);
      conditions.push(`a.key=${named}`);
      keys.push(`b.key=${named}`);
    }
    if (after !== undefined) {
      const parts = p.parts(after.scope).join(",");
      const place = `${parts},${p.text(after.key)},${p.add(after.version, "::integer")}`;
      conditions.push(`(a.user_id,a.session_id,a.agent,a.key,a.version)>(${place})`);
      keys.push(`(b.user_id,b.session_id,b.agent)>=(${parts})`);
    }
    const order = (alias: string): string =>
      ["user_id", "session_id", "agent", "key", "version"].map((name) => `${alias}.${name}`).join(",");
    // A limit that it does not know, a plan for any parameters takes for a tenth of all rows, and of many it sorts them. Core
    // asks with one.
    const isLong = isOfAny && reach === "under";
    const most = `LIMIT ${isLong ? limit : p.add(limit, "::bigint")}`;
    const versions = `SELECT ${columns} FROM ${this.#versions} a WHERE ${conditions.join(" AND ")}`;
    // Of one key under a wide scope: the scopes that have it, and of each its versions; one scope more than a page has
    // versions, for of the scope that it goes on in none may be left.
    const page = isOfAny
      ? `${versions} ORDER BY ${order("a")} ${most}`
      : `SELECT a.* FROM (SELECT b.user_id,b.session_id,b.agent FROM ${this.#versions} b WHERE ${keys.join(" AND ")} ORDER BY b.user_id,b.session_id,b.agent ${most}+1) p` +
        ` CROSS JOIN LATERAL (${versions} ORDER BY a.version ${most}) a ORDER BY p.user_id,p.session_id,p.agent,a.version ${most}`;
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
}

interface HeldAt {
  readonly scope: (alias: string) => string;
  readonly key: string;
  readonly asOf: string;
  readonly now: string;
  readonly knownAt: string;
}

/** Of the scope that `p` names, below the tenant. */
const SAME_SCOPE = "a.user_id=p.user_id AND a.session_id=p.session_id AND a.agent=p.agent";

const heldColumns = `${columnsOf("v", VERSION_COLUMNS)},n.id,n.valid_from,e.id,e.valid_from`;
