// The statement that writes a version, and the one that looks whether it did.

import type { WritePlan } from "@memory/core/driver";
import {
  CONTENT_COLUMNS,
  castOf,
  contentParams,
  exactScope,
  type Statement,
  scopeParams,
  type TenantLock,
} from "@memory/core/sql";

/** The statements that write one table of versions, named with its schema. */
export class CommitStatements {
  readonly #versions: string;
  readonly #lock: TenantLock;
  readonly #texts: { readonly first: string; readonly next: string };

  constructor(versions: string, lock: TenantLock) {
    this.#versions = versions;
    this.#lock = lock;
    this.#texts = { first: this.#commitText(false), next: this.#commitText(true) };
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
    const content = contentParams(record);
    const own = [base, lineage, head ?? 0, `{${settles.join(",")}}`, token];
    const params = [...scopeParams(scope), key, ...own, ...content.filter((_, index) => index !== 1)];
    if (base === 0) return { text: this.#texts.first, params };
    return { text: this.#texts.next, params: [...params, this.#lock.param(scope)] };
  }

  #commitText(hasBase: boolean): string {
    const columns = CONTENT_COLUMNS.filter((name) => name !== "key");
    const values = columns.map((name, index) => `$${index + 11}${castOf(name)}`);
    const lock = `$${columns.length + 11}::text`;
    const from = values[columns.indexOf("valid_from")] ?? "";
    const facts = hasBase ? `greatest(b.lineages,$7::integer),greatest(b.latest_from,${from})` : `$7::integer,${from}`;
    const base =
      `g AS MATERIALIZED (${this.#lock.sharedSql(lock)}),` +
      `b AS (SELECT a.version,a.lineages,a.latest_from FROM g CROSS JOIN ${this.#versions} a WHERE ${exactScope("a")} AND a.key=$5::text AND a.version=$6::integer FOR UPDATE OF a),`;
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
    return `EXISTS (SELECT FROM ${this.#versions} a WHERE ${exactScope("a")} AND a.key=$5::text AND a.version=$6::integer+1 AND a.token=${token}::text)`;
  }
}
