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
   * The write of a version, whole or not at all. A row where it was written.
   *
   * It is added from the version that the plan was made on, which is locked: one that an erasure removed, or that another
   * write follows already, gives no row to add from, or a version number (a successor, an id) that is taken. Nothing that
   * is there is changed. The tenant's lock is shared among writers; an erasure takes it alone, so that it never removes a
   * history while a write adds to its end unseen.
   */
  commit({ scope, key, base, baseToken = "", record, lineage, head, settles, token }: WritePlan): Statement {
    const content = contentParams(record);
    const own = [base, lineage, head ?? 0, `{${settles.join(",")}}`, token];
    const params = [...scopeParams(scope), key, ...own, ...content.filter((_, index) => index !== 1)];
    if (base === 0) return { text: this.#texts.first, params };
    return { text: this.#texts.next, params: [...params, this.#lock.param(scope), baseToken] };
  }

  #commitText(hasBase: boolean): string {
    const columns = CONTENT_COLUMNS.filter((name) => name !== "key");
    const values = columns.map((name, index) => `$${index + 11}${castOf(name)}`);
    const lock = `$${columns.length + 11}::text`;
    const from = values[columns.indexOf("valid_from")] ?? "";
    const facts = hasBase ? `greatest(b.lineages,$7::integer),greatest(b.latest_from,${from})` : `$7::integer,${from}`;
    // The lock is one condition for all rows, which is looked at before the first of them. The version is asked for as a
    // range in the order of versions, which only the primary key gives; by equality, statistics of short histories make
    // another index as cheap, through which a long history is read whole.
    const base = `SELECT a.lineages,a.latest_from FROM ${this.#versions} a WHERE (${this.#lock.sharedSql(lock)}) IS NOT NULL AND ${this.#version("$6::integer")} AND a.token=$${columns.length + 12}::text ORDER BY a.version LIMIT 1 FOR UPDATE`;
    return (
      `INSERT INTO ${this.#versions} (tenant_id,user_id,session_id,agent,key,version,lineage,follows,settles,token,lineages,latest_from,${columns.join(",")})` +
      ` SELECT $1::text,$2::text,$3::text,$4::text,$5::text,$6::integer+1,$7::integer,$8::integer,$9::text::integer[],$10::text,${facts},${values.join(",")}${hasBase ? ` FROM (${base}) b` : ""}` +
      " ON CONFLICT DO NOTHING RETURNING 1"
    );
  }

  /** Whether an earlier attempt of this write is there: what a lost race is told from. A row where it is. */
  isThere({ scope, key, base, token }: WritePlan): Statement {
    const text = `SELECT 1 FROM (SELECT a.token FROM ${this.#versions} a WHERE ${this.#version("$6::integer+1")} ORDER BY a.version LIMIT 1) v WHERE v.token=$7::text`;
    return { text, params: [...scopeParams(scope), key, base, token] };
  }

  #version(number: string): string {
    return `${exactScope("a")} AND a.key=$5::text AND a.version>=${number} AND a.version<=${number}`;
  }
}
