// PostgreSQL: raw postgres.js beside ours on one server, doing the same work on tables of the same columns. Raw has the
// indexes that its own statements need; ours has those of every promise. Both sides use ten connections and prepared
// statements.

import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { startPostgres } from "@tooling/servers";
import postgres from "postgres";
import { keep, printTable } from "./report.ts";
import { compare, compareOnce, type Table } from "./rounds.ts";

const VALUE = {
  role: "user",
  text: "Could you move the dinner with Ada to Friday, somewhere quiet, and not the place with the loud music again?",
  tags: ["dinner", "friday"],
  turn: 17,
};
const TEXT = JSON.stringify(VALUE);
const COLUMNS =
  "tenant_id,user_id,session_id,agent,id,key,value,source,confidence,valid_from,valid_to,subject,predicate,metadata,redacted,recorded_at";

/** Others' episodes that a scope's are read amid. */
const OTHERS = 1_000_000;

type Sql = ReturnType<typeof postgres>;

/** Runs the suite. It takes some minutes. */
export async function benchPostgres({ quick }: { readonly quick: boolean } = { quick: false }): Promise<void> {
  const server = await startPostgres({
    fsync: true,
    settings: { shared_buffers: "512MB", max_wal_size: "8GB", checkpoint_timeout: "30min", autovacuum: "off" },
  });
  const sql = postgres(server.url, { max: 10, onnotice: () => {} });
  try {
    await sql.unsafe(schemaSql());
    await rawTables(sql);
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, attemptTimeoutMs: 60_000 }));
    const tables: Table[] = [];
    const show = (table: Table): void => {
      printTable(table);
      tables.push(table);
    };
    for (const versions of [1, 10, 1_000]) show(await liveRead(sql, store, versions));
    show(await supersedeOne(sql, store));
    show(await supersedeMany(sql, store, "10 connections"));
    show(await logMany(sql, store, "10 connections"));
    // With ten, the raw client sends ahead on connections that are busy, which the gate of ours does not.
    await using wide = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, poolSize: 32 }));
    const wideSql = postgres(server.url, { max: 32, onnotice: () => {} });
    show(await supersedeMany(wideSql, wide, "32 connections"));
    show(await logMany(wideSql, wide, "32 connections"));
    await wideSql.end({ timeout: 1 });
    show(await bulk(sql, store));
    await fill(sql, quick ? OTHERS / 10 : OTHERS);
    show(await newest(sql, store));
    show(await pages(sql, store));
    show(await walk(sql, store));
    show(await erase(sql, store));
    const setting = { server: server.version, fsync: true, connections: 10, quick };
    console.log(`\nkept in ${keep("postgres", tables, { setting })}`);
  } finally {
    await sql.end({ timeout: 1 });
    await server.stop();
  }
}

async function rawTables(sql: Sql): Promise<void> {
  await sql.unsafe(`
    CREATE TABLE raw_facts (
      tenant_id text NOT NULL, user_id text NOT NULL, key text NOT NULL, version int NOT NULL, id text NOT NULL, value text NOT NULL,
      source text NOT NULL, confidence float8 NOT NULL, valid_from bigint NOT NULL, valid_to bigint, recorded_at bigint NOT NULL,
      PRIMARY KEY (tenant_id, user_id, key, version));
    CREATE UNIQUE INDEX raw_facts_live ON raw_facts (tenant_id, user_id, key) WHERE valid_to IS NULL;
    CREATE TABLE raw_episodes (
      tenant_id text NOT NULL, user_id text NOT NULL, session_id text NOT NULL, agent text NOT NULL, id text NOT NULL, key text NOT NULL,
      value text NOT NULL, source text NOT NULL, confidence numeric NOT NULL, valid_from bigint NOT NULL, valid_to bigint, subject text,
      predicate jsonb, metadata jsonb, redacted text, recorded_at bigint NOT NULL,
      PRIMARY KEY (tenant_id, user_id, session_id, agent, id));
    CREATE INDEX raw_episodes_time ON raw_episodes (tenant_id, user_id, session_id, agent, valid_from DESC, id DESC);
  `);
}

const RAW_READ =
  "SELECT id, version, value, source, confidence, valid_from, recorded_at FROM raw_facts WHERE tenant_id = $1 AND user_id = $2 AND key = $3 AND valid_to IS NULL";
const RAW_SUPERSEDE = `WITH old AS (UPDATE raw_facts SET valid_to = $4 WHERE tenant_id = $1 AND user_id = $2 AND key = $3 AND valid_to IS NULL AND version = $5 RETURNING version)
  INSERT INTO raw_facts SELECT $1, $2, $3, old.version + 1, $6, $7, 'bench', 1, $4, NULL, $4 FROM old RETURNING version`;

async function liveRead(sql: Sql, store: PostgresMemoryStore, versions: number): Promise<Table> {
  const scope = memoryScope({ tenantId: "read", userId: `u${versions}` });
  for (let n = 0; n < versions; n += 1) await store.upsert(scope, { key: "city", value: VALUE, source: "bench" });
  await sql`INSERT INTO raw_facts SELECT 'read', ${`u${versions}`}, 'city', g, 'id' || g, ${TEXT}, 'bench', 1, g, CASE WHEN g < ${versions} THEN g + 1 END, g FROM generate_series(1, ${versions}::int) g`;
  await sql.unsafe("ANALYZE");
  const raw = async () => {
    const [row] = await sql.unsafe(RAW_READ, ["read", `u${versions}`, "city"], { prepare: true });
    return JSON.parse(row?.["value"]);
  };
  return await compare(`live read, ${versions} version(s)`, [
    { name: "raw: the row that is open", run: raw },
    {
      name: "store.profile",
      run: () => store.profile(scope, "city"),
      targets: [{ against: "raw: the row that is open", most: 1.3 }],
    },
  ]);
}

// What a caller of the raw driver does for the same effect: reads what is there, then compares and sets in one statement.
async function rawSupersede(sql: Sql, user: string, key: string, n: number): Promise<void> {
  const [row] = await sql.unsafe(RAW_READ, ["write", user, key], { prepare: true });
  await sql.unsafe(RAW_SUPERSEDE, ["write", user, key, Date.now(), row?.["version"] ?? 0, `id-${n}`, TEXT], {
    prepare: true,
  });
}

async function supersedeOne(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  const scope = memoryScope({ tenantId: "write", userId: "one" });
  await store.upsert(scope, { key: "city", value: VALUE, source: "bench" });
  await sql`INSERT INTO raw_facts VALUES ('write', 'one', 'city', 1, 'id', ${TEXT}, 'bench', 1, 1, NULL, 1)`;
  await sql.unsafe("ANALYZE");
  let n = 0;
  return await compare("supersede, one after the other", [
    { name: "raw: live read, then compare and set", run: () => rawSupersede(sql, "one", "city", ++n) },
    {
      name: "store.supersede",
      run: () => store.supersede(scope, { key: "city", value: VALUE, source: "bench" }),
      targets: [{ against: "raw: live read, then compare and set", most: 1.3 }],
    },
  ]);
}

async function supersedeMany(sql: Sql, store: PostgresMemoryStore, over: string): Promise<Table> {
  const callers = [...Array(32).keys()];
  const scope = memoryScope({ tenantId: "write", userId: over });
  for (const caller of callers) {
    await store.upsert(scope, { key: `k${caller}`, value: VALUE, source: "bench" });
    await sql`INSERT INTO raw_facts VALUES ('write', ${over}, ${`k${caller}`}, 1, ${`id${caller}`}, ${TEXT}, 'bench', 1, 1, NULL, 1)`;
  }
  await sql.unsafe("ANALYZE");
  let n = 0;
  return await compare(
    `supersede, 32 callers on keys of their own, ${over}`,
    [
      {
        name: "raw: live read, then compare and set",
        run: () => Promise.all(callers.map((caller) => rawSupersede(sql, over, `k${caller}`, ++n))),
        operations: 32,
      },
      {
        name: "store.supersede",
        run: () =>
          Promise.all(
            callers.map((caller) => store.supersede(scope, { key: `k${caller}`, value: VALUE, source: "bench" })),
          ),
        operations: 32,
        targets: [{ against: "raw: live read, then compare and set", most: 1.3 }],
      },
    ],
    { roundMs: 500 },
  );
}

const RAW_LOG = `INSERT INTO raw_episodes (${COLUMNS}) VALUES ($1,$2,'','',$3,'turn',$4,'bench',1,$5,NULL,NULL,NULL,NULL,NULL,$5) ON CONFLICT DO NOTHING`;

async function logMany(sql: Sql, store: PostgresMemoryStore, over: string): Promise<Table> {
  const scope = memoryScope({ tenantId: "log", userId: "u" });
  const callers = [...Array(32).keys()];
  let n = 0;
  const raw = () => {
    n += 1;
    return sql.unsafe(RAW_LOG, ["log", "u", `${over}-7a3d-7f7e-9b1a-${n}`, TEXT, Date.now()], { prepare: true });
  };
  const ours = () => store.log(scope, { key: "turn", value: VALUE, source: "bench" });
  return await compare(
    `log, 32 callers, ${over}`,
    [
      { name: "raw insert", run: () => Promise.all(callers.map(raw)), operations: 32 },
      {
        name: "store.log",
        run: () => Promise.all(callers.map(ours)),
        operations: 32,
        targets: [{ against: "raw insert", least: 0.85 }],
      },
    ],
    { roundMs: 500 },
  );
}

async function bulk(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  const count = 100_000;
  let round = 0;
  const idsOf = () => [...Array(count).keys()].map((n) => `${round}-${String(n).padStart(6, "0")}`);
  const raw = async () => {
    const ids = idsOf();
    for (let at = 0; at < count; at += 2_000) {
      const batch = ids.slice(at, at + 2_000).map((id, index) => ({
        ...{
          tenant_id: "bulk",
          user_id: `u${round}`,
          session_id: "",
          agent: "",
          id,
          key: "turn",
          value: JSON.stringify(VALUE),
        },
        ...{ source: "bench", confidence: 1, valid_from: at + index, recorded_at: at + index },
      }));
      await sql`INSERT INTO raw_episodes ${sql(batch)}`;
    }
  };
  const ours = () => {
    const records = idsOf().map((id, n) => ({ id, key: "turn", value: VALUE, source: "bench", validFrom: n }));
    return store.logAll(memoryScope({ tenantId: "bulk", userId: `u${round}` }), records);
  };
  const prepare = async () => {
    round += 1;
  };
  return await compareOnce(
    "logAll of 100,000",
    [
      { name: "raw multi-row inserts of 2,000", run: raw, operations: count, prepare },
      {
        name: "store.logAll",
        run: ours,
        operations: count,
        targets: [{ against: "raw multi-row inserts of 2,000", least: 0.7 }],
      },
    ],
    3,
  );
}

// A scope of 100,000 episodes amid a million others in 2,000 scopes, in both tables.
async function fill(sql: Sql, others: number): Promise<void> {
  for (const table of ["raw_episodes", "memory.episodes"]) {
    await sql.unsafe(`INSERT INTO ${table} (${COLUMNS})
      SELECT 'amid', 'u' || g % 2000, '', '', 'e' || g, 'turn', '${TEXT.replaceAll("'", "''")}', 'bench', 1, g, NULL, NULL, NULL, NULL, NULL, g
      FROM generate_series(1, ${others}) g`);
    await sql.unsafe(`INSERT INTO ${table} (${COLUMNS})
      SELECT 'amid', 'me', '', '', 'e' || g, 'turn', '${TEXT.replaceAll("'", "''")}', 'bench', 1, g * 10, NULL, NULL, NULL, NULL, NULL, g
      FROM generate_series(1, 100000) g`);
    await sql.unsafe(`VACUUM ANALYZE ${table}`);
  }
}

const RAW_PAGE = `SELECT ${COLUMNS} FROM raw_episodes WHERE tenant_id = $1 AND user_id = $2 AND session_id = '' AND agent = ''`;
const ORDER = "ORDER BY valid_from DESC, id DESC LIMIT";
const RAW_NEXT = `${RAW_PAGE} AND (valid_from, id) < ($3, $4) ${ORDER} 200`;
const me: MemoryScope = memoryScope({ tenantId: "amid", userId: "me" });

async function newest(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  const raw = `${RAW_PAGE} ${ORDER} 20`;
  return await compare("newest 20 of a scope amid 1,000,000 others", [
    {
      name: "raw keyset",
      run: async () => {
        for (const row of await sql.unsafe(raw, ["amid", "me"], { prepare: true })) JSON.parse(row["value"]);
      },
    },
    {
      name: "store.episodes",
      run: () => store.episodes(me, { limit: 20 }),
      targets: [{ against: "raw keyset", most: 1.3 }],
    },
  ]);
}

async function pages(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  const read = async (text: string, params: (string | number)[]): Promise<void> => {
    for (const row of await sql.unsafe(text, params, { prepare: true })) JSON.parse(row["value"]);
  };
  let cursor: string | null = null;
  for (let n = 1; n < 500; n += 1) cursor = (await store.page(me, { limit: 200 }, { cursor })).cursor;
  const deep = cursor;
  return await compare("a page of 200 in a scope of 100,000 amid 1,000,000 others", [
    { name: "raw keyset, page 1", run: () => read(`${RAW_PAGE} ${ORDER} 200`, ["amid", "me"]) },
    {
      name: "store.page, page 1",
      run: () => store.page(me, { limit: 200 }),
      targets: [{ against: "raw keyset, page 1", most: 1.3 }],
    },
    { name: "raw keyset, page 500", run: () => read(RAW_NEXT, ["amid", "me", 2_001, ""]) },
    {
      name: "store.page, page 500",
      run: () => store.page(me, { limit: 200 }, { cursor: deep }),
      targets: [
        { against: "raw keyset, page 500", most: 1.3 },
        { against: "store.page, page 1", most: 1.1 },
      ],
    },
  ]);
}

async function walk(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  const raw = async () => {
    let rows = await sql.unsafe(`${RAW_PAGE} ${ORDER} 200`, ["amid", "me"], { prepare: true });
    for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
      for (const row of rows) JSON.parse(row["value"]);
      rows = await sql.unsafe(RAW_NEXT, ["amid", "me", last["valid_from"], last["id"]], { prepare: true });
    }
  };
  const ours = async () => {
    let cursor: string | null = null;
    do {
      cursor = (await store.page(me, { limit: 200 }, { cursor })).cursor;
    } while (cursor !== null);
  };
  return await compareOnce(
    "100,000 episodes amid 1,000,000 others, paged by 200; a page",
    [
      { name: "raw keyset", run: raw, operations: 500 },
      { name: "store.page", run: ours, operations: 500, targets: [{ against: "raw keyset", most: 1.3 }] },
    ],
    3,
  );
}

async function erase(sql: Sql, store: PostgresMemoryStore): Promise<Table> {
  let round = 0;
  const fillBoth = async () => {
    round += 1;
    for (const table of ["raw_episodes", "memory.episodes"]) {
      await sql.unsafe(`INSERT INTO ${table} (${COLUMNS})
        SELECT 'erase', 'u${round}', '', '', 'e' || g, 'turn', '${TEXT.replaceAll("'", "''")}', 'bench', 1, g, NULL, NULL, NULL, NULL, NULL, g
        FROM generate_series(1, 10000) g`);
    }
  };
  return await compareOnce("erase 10,000 episodes amid 1,000,000 others", [
    {
      name: "raw delete",
      run: () => sql`DELETE FROM raw_episodes WHERE tenant_id = 'erase' AND user_id = ${`u${round}`}`,
      prepare: fillBoth,
    },
    {
      name: "store.erase",
      run: () => store.erase(memoryScope({ tenantId: "erase", userId: `u${round}` })),
      targets: [{ against: "raw delete", most: 2 }],
    },
  ]);
}
