// Every statement that writes records or reads them by their keys, its parameters and its row. Values go in as parameters and
// come back as text; a record read back is built from its columns.

import type { MemoryScope } from "@memory/core";
import type { KeyPageRequest, StoredRecord } from "@memory/core/driver";
import {
  afterKey,
  arrayLiteral,
  CONTENT_COLUMNS,
  castOf,
  columnsOf,
  contentLists,
  contentListsSql,
  contentParams,
  exactScope,
  listedSql,
  PART_COLUMNS,
  Params,
  prefixConditions,
  RECORD_COLUMNS,
  type Statement,
  scopeParams,
  type TenantLock,
} from "@memory/core/sql";
import { vectorText } from "./vector.ts";

const SCOPE = ["tenant_id", ...PART_COLUMNS].join(",");
const NAMES = CONTENT_COLUMNS.join(",");
/** Where the parameters after a record's own begin. */
const REST = scopeParams({ tenantId: "" }).length + CONTENT_COLUMNS.length + 1;

/** The columns of a record with its vector, which is the last of them. */
const WHOLE_COLUMNS: readonly string[] = [...RECORD_COLUMNS, "embedding"];

/** The statements over the table of a collection. */
export class RecordStatements {
  readonly #records: string;
  readonly #embedder: string | null;
  readonly #lock: TenantLock;
  readonly #texts: { readonly index: string; readonly indexMany: string };

  /** @param vector The name of pgvector's type, with its schema. */
  constructor(records: string, vector: string, embedder: string | undefined, lock: TenantLock) {
    this.#records = records;
    this.#embedder = embedder ?? null;
    this.#lock = lock;
    this.#texts = { index: this.#indexText(vector), indexMany: this.#indexManyText(vector) };
  }

  /** One record, in the place of one with its key. No row. A row alone needs no lock: an erasure meets it or does not. */
  index(record: StoredRecord): Statement {
    const vector = vectorText(record.embedding ?? []);
    return {
      text: this.#texts.index,
      params: [...scopeParams(record.scope), ...contentParams(record), this.#embedder, vector],
    };
  }

  #indexText(vector: string): string {
    const values = CONTENT_COLUMNS.map((name, index) => `$${index + 5}${castOf(name)}`);
    return this.#upsert(
      `VALUES ($1::text,$2::text,$3::text,$4::text,${values.join(",")},$${REST}::text,$${REST + 1}::text::${vector})`,
    );
  }

  /**
   * Records of one scope, in the order given: that of their keys, so that no two writers wait for each other. No row. They
   * share the tenant's lock, so that an erasure takes all of them or none.
   */
  indexMany(scope: MemoryScope, records: readonly StoredRecord[]): Statement {
    const vectors = arrayLiteral(records.map(({ embedding }) => vectorText(embedding ?? [])));
    return {
      text: this.#texts.indexMany,
      params: [
        ...scopeParams(scope),
        ...contentLists(records.map(contentParams)),
        this.#embedder,
        vectors,
        this.#lock.param(scope),
      ],
    };
  }

  #indexManyText(vector: string): string {
    const values = CONTENT_COLUMNS.map((name) => listedSql("i", name)).join(",");
    const lists = `unnest(${contentListsSql(5)},$${REST + 1}::text::${vector}[]) AS i(${NAMES},embedding)`;
    const lock = `(${this.#lock.sharedSql(`$${REST + 2}::text`)} OFFSET 0) g`;
    return this.#upsert(
      `SELECT $1::text,$2::text,$3::text,$4::text,${values},$${REST}::text,i.embedding FROM ${lock} CROSS JOIN ${lists}`,
    );
  }

  #upsert(rows: string): string {
    const columns = [...CONTENT_COLUMNS, "embedder", "embedding"];
    const changes = columns.filter((name) => name !== "key").map((name) => `${name}=excluded.${name}`);
    return `INSERT INTO ${this.#records} (${SCOPE},${columns.join(",")}) ${rows} ON CONFLICT (${SCOPE},key) DO UPDATE SET ${changes.join(",")}`;
  }

  /** The record with a key. Row: the columns of a record, then its vector. */
  get(scope: MemoryScope, key: string): Statement {
    return {
      text: `SELECT ${columnsOf("a", WHOLE_COLUMNS)} FROM ${this.#records} a WHERE ${exactScope("a")} AND a.key=$5::text`,
      params: [...scopeParams(scope), key],
    };
  }

  /** A page of records in the order of scope and key. Rows: the columns of a record, then its vector. */
  scan({ scope, reach, keyPrefix, after, limit }: KeyPageRequest): Statement {
    const p = new Params();
    const conditions = [p.scope("a", scope, reach), ...afterKey(p, "a", after), ...prefixConditions(p, "a", keyPrefix)];
    return {
      text: `SELECT ${columnsOf("a", WHOLE_COLUMNS)} FROM ${this.#records} a WHERE ${conditions.join(" AND ")} ORDER BY a.user_id,a.session_id,a.agent,a.key LIMIT ${p.add(limit, "::bigint")}`,
      params: p.values,
    };
  }
}
