// Writes beside raw SQL on a table of the same schema, with the same indexes: one record, many, an erasure. 100,000 records
// are there already.

import { memoryScope } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import postgres, { type Sql } from "postgres";
import { compare, compareOnce, type Table } from "../rounds.ts";
import { World } from "../vectors.ts";
import { copySource, dataSet, NOW } from "./data.ts";
import { type Collection, fillOurs, openOurs } from "./ours.ts";

const DIMENSIONS = 384;
const MANY = 2_000;
/** How many vectors there are to write. */
const FRESH = 4_096;
/** The records of a scope that is erased. */
const ERASED = 753;
const VALUE = { role: "user", text: "we will be four on Friday, one of us eats no meat, is the window table free?" };
const METADATA = { rare: 1, lang: "en" };
const COLUMNS = "tenant_id, user_id, key, id, value, source, confidence, valid_from, metadata, recorded_at, embedding";
const KEY = "(tenant_id, user_id, session_id, agent, key)";
const REPLACED = "DO UPDATE SET value = excluded.value, embedding = excluded.embedding";

/** The tables of the writes. */
export async function writeTables(
  server: PostgresServer,
  { records }: { readonly records: number },
): Promise<readonly Table[]> {
  const data = dataSet(new World({ dimensions: DIMENSIONS }), "cosine", {
    count: records,
    scopes: 100,
    large: records / 2,
  });
  const url = await server.createDatabase("writes");
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe("CREATE EXTENSION vector");
  await copySource(sql, data);
  const collection = (name: string): Collection => ({ name, dimensions: DIMENSIONS, metric: "cosine" });
  for (const name of ["ours", "raw"]) await fillOurs(sql, collection(name), data);
  await using store = openOurs(url, collection("ours"));
  const fresh = data.world.ofScope(500, FRESH);
  // As an embedding model's client gives them.
  const vectors = Array.from({ length: FRESH }, (_, n) => [...fresh.subarray(n * DIMENSIONS, (n + 1) * DIMENSIONS)]);
  const vectorAt = (n: number): readonly number[] => vectors[n % FRESH] ?? [];
  const scope = (n: number) => memoryScope({ tenantId: `write-${n}`, userId: "user" });
  const record = (n: number) => ({
    ...{ key: `note-${n}`, value: VALUE, source: "turn 12", validFrom: NOW, metadata: METADATA },
    embedding: vectorAt(n),
  });
  let n = 0;
  try {
    const one = await compare("index one record, amid 100,000", [
      { name: "raw insert, same indexes", run: () => insert(sql, scope(++n % 200).tenantId, [n], vectorAt) },
      {
        name: "store.index",
        run: () => store.index(scope(++n % 200), record(n)),
        targets: [{ against: "raw insert, same indexes", least: 0.9 }],
      },
    ]);
    const numbers = (): readonly number[] => Array.from({ length: MANY }, () => ++n);
    const many = await compareOnce(
      `indexAll of ${MANY.toLocaleString("en")}, amid 100,000`,
      [
        {
          name: "raw multi-row insert, same indexes",
          run: () => insert(sql, "many", numbers(), vectorAt),
          operations: MANY,
        },
        {
          name: "store.indexAll",
          run: () => store.indexAll(memoryScope({ tenantId: "many", userId: "user" }), numbers().map(record)),
          operations: MANY,
          targets: [{ against: "raw multi-row insert, same indexes", least: 0.9 }],
        },
      ],
      5,
    );
    const gone = memoryScope({ tenantId: "gone", userId: "user" });
    const erased = await compareOnce(
      `erase a scope of ${ERASED}, amid 100,000`,
      [
        {
          name: "raw delete",
          run: () => sql`DELETE FROM memory.raw WHERE tenant_id = 'gone' AND user_id = 'user'`,
          prepare: () => insert(sql, "gone", numbers().slice(0, ERASED), vectorAt),
        },
        {
          name: "store.erase",
          run: () => store.erase(gone),
          prepare: async () => {
            await store.indexAll(gone, numbers().slice(0, ERASED).map(record));
          },
        },
      ],
      5,
    );
    return [one, many, erased];
  } finally {
    await sql.end();
  }
}

// All values as text, as the client sends them best: one array a column.
async function insert(
  sql: Sql,
  tenant: string,
  numbers: readonly number[],
  vectorAt: (n: number) => readonly number[],
): Promise<void> {
  const vectors = numbers.map(
    (n) =>
      `"[${vectorAt(n)
        .map((x) => x.toPrecision(9))
        .join(",")}]"`,
  );
  await sql.unsafe(
    `INSERT INTO memory.raw (${COLUMNS}) SELECT $1::text, 'user', 'note-' || n, gen_random_uuid()::text, $2::text, 'turn 12', 1, ${NOW}, $3::text::jsonb, ${NOW}, v::vector
      FROM unnest($4::text::bigint[], $5::text::text[]) AS i (n, v) ON CONFLICT ${KEY} ${REPLACED}`,
    [tenant, JSON.stringify(VALUE), JSON.stringify(METADATA), `{${numbers.join(",")}}`, `{${vectors.join(",")}}`],
    { prepare: true },
  );
}
