// Working memory: a row an entry, a row an element. What has expired reads as absent by the store's clock; its rows leave
// when later writes come by.

import type { EpochMs, MemoryScope } from "@memory/core";
import type {
  AppendReply,
  AppendRequest,
  StoredRecord,
  WorkingContent,
  WorkingEntry,
  WorkingKeyRow,
  WorkingSection,
} from "@memory/core/driver";
import type { Connection } from "./connection.ts";
import {
  afterValues,
  beyond,
  count,
  EXACT,
  insertInto,
  order,
  PARTS,
  PREFIXED,
  RECORD_COLUMNS,
  type Row,
  readRecord,
  readScope,
  recordValues,
  scopeValues,
  text,
  within,
} from "./row.ts";

/** How long things stay, and how much. */
export interface SqliteWorkingOptions {
  /** How long a record lives after each write and append, in milliseconds. Default: it does not expire. */
  readonly ttlMs?: number | undefined;
  /** Reading a record re-arms `ttlMs`, unless an explicit `expire` holds. Default `false`. */
  readonly sliding?: boolean | undefined;
  /** The most elements a sequence may hold. Default 1,000,000. */
  readonly maxElements?: number | undefined;
}

/** The condition that an entry is still there. */
export const LIVE = "(expires_at IS NULL OR expires_at>:now)";

const COLUMNS = `${RECORD_COLUMNS},length,expires_at,is_explicit`;
const FIND = `SELECT entry,${COLUMNS} FROM memory_working WHERE ${EXACT} AND key=:key AND ${LIVE}`;
const PUT = `${insertInto("memory_working", COLUMNS)} ON CONFLICT (${PARTS.join(",")},key) DO UPDATE SET ${COLUMNS.split(
  ",",
)
  .map((name) => `${name}=excluded.${name}`)
  .join(",")} RETURNING entry`;
const ITEM = insertInto("memory_working_items", "entry,position,item");
const ANSWERED = `SELECT reply FROM memory_working_tokens WHERE ${EXACT} AND key=:key AND token=:token AND until>=:now`;
const ANSWER = `${insertInto("memory_working_tokens", `${PARTS.join(",")},key,token,reply,until`)} ON CONFLICT DO UPDATE SET reply=excluded.reply,until=excluded.until`;

// Rows whose time is over are absent at once; they go a day later, whatever clock another process has, a few with each write.
const GRACE_MS = 86_400_000;
const DRAIN = [
  "DELETE FROM memory_working WHERE entry IN (SELECT entry FROM memory_working WHERE expires_at<:gone ORDER BY expires_at LIMIT 8)",
  "DELETE FROM memory_working_tokens WHERE (tenant_id,user_id,session_id,agent,key,token) IN (SELECT tenant_id,user_id,session_id,agent,key,token FROM memory_working_tokens WHERE until<:gone ORDER BY until LIMIT 8)",
];

interface Expiry {
  readonly expires_at: EpochMs | null;
  readonly is_explicit: number;
}

/** The section over this connection. */
export function workingSection(connection: Connection, options: SqliteWorkingOptions): WorkingSection {
  const { ttlMs, sliding = false, maxElements = 1_000_000 } = options;

  return {
    under: true,
    maxElements,

    put({ head, content, expiresInMs }, call): Promise<void> {
      return connection.write(call, () => {
        drain(call.now);
        const expiry =
          expiresInMs === undefined
            ? rearmed(find(head.scope, head.key, call.now), call.now)
            : { expires_at: call.now + expiresInMs, is_explicit: 1 };
        store(head, content, expiry);
      });
    },

    async get({ scope, key, last }, call): Promise<WorkingEntry | null> {
      const look = () => {
        const row = find(scope, key, call.now);
        return row === undefined ? null : { row, entry: { head: headOf(row), content: contentOf(row, last) } };
      };
      if (!sliding || ttlMs === undefined) return connection.read(look)?.entry ?? null;
      return connection.write(call, () => {
        const found = look();
        if (found !== null && found.row["is_explicit"] === 0) arm(found.row, rearmed(found.row, call.now));
        return found?.entry ?? null;
      });
    },

    append(request, call): Promise<AppendReply> {
      const { scope, key, token } = request;
      const values = { ...scopeValues(scope), key, token, now: call.now };
      return connection.write(call, () => {
        drain(call.now);
        const answered = connection.get(ANSWERED, values);
        if (answered !== undefined) return JSON.parse(text(answered, "reply"));
        const reply = append(request, call.now);
        connection.run(ANSWER, { ...values, reply: JSON.stringify(reply), until: call.now + call.budgetMs });
        return reply;
      });
    },

    expire({ scope, key, ttlMs: leftMs }, call): Promise<boolean> {
      return connection.write(call, () => {
        const row = find(scope, key, call.now);
        if (row === undefined) return false;
        if (leftMs > 0) arm(row, { expires_at: call.now + leftMs, is_explicit: 1 });
        else connection.run("DELETE FROM memory_working WHERE entry=:entry", row);
        return true;
      });
    },

    async keys({ scope, reach, keyPrefix, after, limit }, { now }): Promise<readonly WorkingKeyRow[]> {
      const columns = order(scope, reach, "key");
      const conditions = [within(scope, reach), LIVE];
      if (keyPrefix !== undefined) conditions.push(PREFIXED);
      if (after !== undefined) conditions.push(beyond(columns));
      const place = after === undefined ? {} : afterValues({ ...scopeValues(after.scope), key: after.key });
      const rows = connection.all(
        `SELECT ${PARTS.join(",")},key,expires_at FROM memory_working WHERE ${conditions.join(" AND ")} ORDER BY ${columns} LIMIT :limit`,
        { ...scopeValues(scope), ...place, prefix: keyPrefix ?? null, now, limit },
      );
      return rows.map((row) => {
        const expiresAt = count(row, "expires_at");
        const expiresInMs = expiresAt === undefined ? undefined : expiresAt - now;
        return { scope: readScope(row), key: text(row, "key"), expiresInMs };
      });
    },
  };

  function append({ scope, key, item, head, after }: AppendRequest, now: EpochMs): AppendReply {
    const row = find(scope, key, now);
    const length = count(row ?? {}, "length") ?? 0;
    if (after !== undefined && after !== length) return { outcome: "moved", length };
    if (length >= maxElements) return { outcome: "full", length, limit: maxElements };
    if (row === undefined) {
      store(head, { items: [item] }, rearmed(undefined, now));
    } else {
      const { entry = null } = row;
      if (row["value"] !== null) connection.run(ITEM, { entry, position: 1, item: text(row, "value") });
      connection.run(ITEM, { entry, position: length + 1, item });
      connection.run("UPDATE memory_working SET value=NULL,length=:length WHERE entry=:entry", {
        entry,
        length: length + 1,
      });
      arm(row, rearmed(row, now));
    }
    return { outcome: "appended", length: length + 1 };
  }

  function find(scope: MemoryScope, key: string, now: EpochMs): Row | undefined {
    return connection.get(FIND, { ...scopeValues(scope), key, now });
  }

  function store(head: StoredRecord, { value, items }: WorkingContent, expiry: Expiry): void {
    const length = items?.length ?? 1;
    const row = connection.get(PUT, { ...recordValues(head), value: value ?? null, length, ...expiry });
    const { entry = null } = row ?? {};
    connection.run("DELETE FROM memory_working_items WHERE entry=:entry", { entry });
    for (const [index, item] of (items ?? []).entries()) connection.run(ITEM, { entry, position: index + 1, item });
  }

  // What the store's own TTL makes of an entry's expiry; without one it stays as it is.
  function rearmed(row: Row | undefined, now: EpochMs): Expiry {
    if (ttlMs !== undefined) return { expires_at: now + ttlMs, is_explicit: 0 };
    return { expires_at: count(row ?? {}, "expires_at") ?? null, is_explicit: count(row ?? {}, "is_explicit") ?? 0 };
  }

  function arm({ entry = null }: Row, expiry: Expiry): void {
    const set = "UPDATE memory_working SET expires_at=:expires_at,is_explicit=:is_explicit WHERE entry=:entry";
    connection.run(set, { entry, ...expiry });
  }

  function contentOf({ entry = null, value, length = 0 }: Row, last: number | undefined): WorkingContent {
    if (typeof value === "string") return { value };
    const rows = connection.all(
      "SELECT item FROM memory_working_items WHERE entry=:entry AND position>:from ORDER BY position",
      { entry, from: last === undefined ? 0 : Number(length) - last },
    );
    return { items: rows.map((row) => text(row, "item")) };
  }

  function drain(now: EpochMs): void {
    for (const statement of DRAIN) connection.run(statement, { gone: now - GRACE_MS });
  }
}

function headOf(row: Row): StoredRecord {
  return { ...readRecord(row), value: "" };
}
