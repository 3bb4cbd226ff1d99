// How the server reads: the plan of every read statement, over many episodes and versions in many scopes, with 16 partitions
// and without. Only indexes are read, about as many rows as are given back, and of the partitions one. etc/plans.txt is the
// snapshot. MEMORY_SCALE=1 fills a million episodes and 100,000 versions into 2,000 scopes; the default is a tenth of it.

import { memoryScope } from "@memory/core";
import type { Statement } from "@memory/core/sql";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PostgresClient } from "../src/index.ts";
import { statementsOf } from "../src/statements.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

const SCALE = Number(process.env["MEMORY_SCALE"] ?? 0.1);
const SCOPES = Math.round(2_000 * SCALE);
const EPISODES = Math.round(1_000_000 * SCALE);
const VERSIONS = Math.round(100_000 * SCALE);

const { profile, episodes, erasure } = statementsOf("memory");
const scope = memoryScope({ tenantId: "t3", userId: "u3", sessionId: "s1" });
const user = memoryScope({ tenantId: "t3", userId: "u3" });
const tenant = memoryScope({ tenantId: "t3" });
const now = 2_000_000_000_000;
const exact = { scope, reach: "exact" } as const;
const under = { scope: user, reach: "under" } as const;
const keys = { keyPrefix: undefined, after: undefined, limit: 20, asOf: undefined, knownAt: undefined, now };
const page = {
  key: undefined,
  since: undefined,
  until: undefined,
  asOf: undefined,
  filter: undefined,
  after: undefined,
  limit: 20,
};
const episode = { scope, id: "e1", key: "turn", value: "1", source: "s", confidence: 1, validFrom: 1, recordedAt: 1 };
const nothing = {
  validTo: undefined,
  subject: undefined,
  predicate: undefined,
  metadata: undefined,
  redacted: undefined,
  version: undefined,
  embedding: undefined,
};
const entries = [...Array(50).keys()].map((n) => ({
  record: { ...nothing, ...episode, id: `new${n}` },
  anyFrom: false,
}));

/** Every statement that reads, as it is asked most, and how many rows it may look at beyond those that it gives. */
const reads: readonly { readonly name: string; readonly statement: Statement; readonly slack?: number }[] = [
  { name: "newest", statement: profile.newest(scope, "k3") },
  { name: "newest, and who holds an id", statement: profile.newestHead(scope, "k3", "new") },
  { name: "live", statement: profile.live({ scope, key: "k3", asOf: undefined, knownAt: undefined, now }) },
  { name: "as of", statement: profile.live({ scope, key: "k3", asOf: 5_000, knownAt: undefined, now }) },
  {
    name: "heads",
    statement: profile.heads({ scope, key: "k3", id: "new", at: undefined, before: undefined, now }),
  },
  { name: "heads, as it was", statement: profile.heads({ scope, key: "k3", id: "new", at: 5_000, before: 3, now }) },
  { name: "beliefs", statement: profile.beliefs({ ...exact, ...keys }) },
  { name: "beliefs, after a key", statement: profile.beliefs({ ...exact, ...keys, after: { scope, key: "k1" } }) },
  { name: "beliefs, by prefix", statement: profile.beliefs({ ...exact, ...keys, keyPrefix: "k" }) },
  { name: "beliefs under a user", statement: profile.beliefs({ ...under, ...keys }) },
  { name: "beliefs under a tenant", statement: profile.beliefs({ scope: tenant, reach: "under", ...keys }) },
  { name: "history", statement: profile.history({ ...exact, key: undefined, after: undefined, limit: 20 }) },
  { name: "history of a key", statement: profile.history({ ...exact, key: "k3", after: undefined, limit: 20 }) },
  {
    name: "history under a user, after a version",
    statement: profile.history({ ...under, key: undefined, after: { scope, key: "k1", version: 2 }, limit: 20 }),
  },
  { name: "page", statement: episodes.page({ ...exact, ...page }) },
  {
    name: "page, after an episode",
    statement: episodes.page({ ...exact, ...page, after: { scope, validFrom: 90_000, id: "e5" } }),
  },
  { name: "page, between instants", statement: episodes.page({ ...exact, ...page, since: 5_000, until: 500_000 }) },
  { name: "page, at an instant", statement: episodes.page({ ...exact, ...page, asOf: 500_000 }) },
  { name: "page of a key", statement: episodes.page({ ...exact, ...page, key: "turn7" }) },
  { name: "page under a user", statement: episodes.page({ ...under, ...page }) },
  {
    name: "page under a user, after an episode",
    statement: episodes.page({ ...under, ...page, after: { scope, validFrom: 90_000, id: "e5" } }),
  },
  { name: "page under a tenant", statement: episodes.page({ scope: tenant, reach: "under", ...page }) },
  {
    name: "page, by metadata that few have",
    statement: episodes.page({ scope: tenant, reach: "under", ...page, filter: { rare: ["yes"] } }),
    // The newest first until enough match, or all that match and then the newest: whichever the planner takes for less.
    slack: Number.POSITIVE_INFINITY,
  },
  { name: "log", statement: episodes.log({ record: { ...nothing, ...episode, id: "new" }, anyFrom: false }) },
  { name: "logMany", statement: episodes.logMany(scope, entries), slack: 500 },
  {
    name: "derivations",
    statement: erasure.derivations({ ...exact, after: undefined, limit: 20, isCondemned: false }),
  },
  {
    name: "condemned under a tenant",
    statement: erasure.derivations({
      scope: tenant,
      reach: "under",
      after: undefined,
      limit: 20,
      isCondemned: true,
    }),
    slack: 40,
  },
];

describeOnEach("plans", (lane) => {
  let server: PostgresServer;
  const plans = new Map<string, readonly Scan[]>();

  beforeAll(async () => {
    server = await lane.start({
      settings: { shared_buffers: "256MB", max_wal_size: "4GB", autovacuum: "off", maintenance_work_mem: "256MB" },
    });
    await applySchema(server.url);
    await asOwner(server.url, fill);
    await asOwner(server.url, async (sql) => {
      for (const { name, statement } of reads) plans.set(name, await explain(sql, statement));
    });
  }, 900_000);
  afterAll(async () => {
    await server?.stop();
  });

  it.each(reads)("$name reads indexes only, and about the rows that it gives", ({ name, slack = 25 }) => {
    const scans = plans.get(name) ?? [];
    expect(scans.filter(({ node }) => node === "Seq Scan")).toEqual([]);
    const read = scans.reduce((sum, scan) => sum + scan.rows, 0);
    const given = scans[0]?.given ?? 0;
    expect(read).toBeLessThanOrEqual(given * 6 + slack);
  });

  it("keeps to the plans of the snapshot", async () => {
    const text = reads.map(
      ({ name }) => `${name}\n${(plans.get(name) ?? []).map(({ line }) => `  ${line}\n`).join("")}`,
    );
    await expect(text.join("\n")).toMatchFileSnapshot("../etc/plans.txt");
  });

  it("reads one of 16 partitions", { timeout: 120_000 }, async () => {
    const url = await server.createDatabase("partitioned");
    await applySchema(url, { partitions: 16 });
    await asOwner(url, async (sql) => {
      for (const { name, statement } of reads) {
        const scans = await explain(sql, statement);
        const touched = new Set(scans.filter((scan) => scan.loops > 0).map(({ table }) => table));
        const partitions = [...touched].filter((table) => /_\d+$/.test(table));
        const families = new Set(partitions.map((table) => table.replace(/_\d+$/, "")));
        expect({ name, partitions: partitions.length }).toEqual({ name, partitions: families.size });
      }
    });
  });
});

interface Scan {
  readonly node: string;
  readonly table: string;
  readonly rows: number;
  readonly loops: number;
  readonly given: number;
  readonly line: string;
}

// The plan that a connection keeps after its first executions: for any parameters.
async function explain(sql: PostgresClient, { text, params }: Statement): Promise<readonly Scan[]> {
  await sql.unsafe("SET plan_cache_mode = force_generic_plan; BEGIN");
  try {
    await sql.unsafe(`PREPARE one AS ${text}`);
    const values = params.map((value) => (value === null ? "NULL" : `'${String(value).replaceAll("'", "''")}'`));
    const rows = await sql.unsafe(`EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) EXECUTE one(${values.join(",")})`);
    const explained: readonly { readonly Plan: PlanNode }[] = rows[0]?.["QUERY PLAN"] ?? [];
    return explained.flatMap(({ Plan: plan }) => scansOf(plan, plan["Actual Rows"]));
  } finally {
    await sql.unsafe("ROLLBACK; DEALLOCATE ALL");
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

function scansOf(plan: PlanNode, given: number): readonly Scan[] {
  const inner = (plan.Plans ?? []).flatMap((one) => scansOf(one, given));
  const table = plan["Relation Name"] ?? "";
  const index = plan["Index Name"] ?? "";
  const node = plan["Node Type"];
  if ((table === "" && index === "") || node === "ModifyTable") return inner;
  const loops = plan["Actual Loops"];
  const rows =
    (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0)) *
    loops;
  // An Index Only Scan is an Index Scan on a table that was vacuumed lately.
  const kind = node.replace("Index Only Scan", "Index Scan");
  return [{ node, table, rows, loops, given, line: [kind, index === "" ? table : index].join(" ") }, ...inner];
}

async function fill(sql: PostgresClient): Promise<void> {
  const parts = `'t' || (s.n % 10), 'u' || (s.n % ${SCOPES / 20}), 's' || (s.n / ${SCOPES / 20}), ''`;
  await sql.unsafe(`
    CREATE TEMPORARY TABLE s AS SELECT g AS n FROM generate_series(0, ${SCOPES - 1}) g;
    INSERT INTO memory.episodes (tenant_id, user_id, session_id, agent, id, key, value, source, confidence, valid_from, metadata, recorded_at)
      SELECT ${parts}, 'e' || s.n || '-' || g, 'turn' || g % 10, '"a turn of some length, as people type them into a box"', 'fill', 1, g * 1000 + s.n,
        CASE WHEN g % 400 = 7 THEN '{"rare": "yes", "n": 1}'::jsonb WHEN g % 4 = 0 THEN '{"n": 1}'::jsonb END, g
      FROM s CROSS JOIN generate_series(1, ${EPISODES / SCOPES}) g;
    INSERT INTO memory.profile_versions (tenant_id, user_id, session_id, agent, key, version, id, lineage, follows, lineages, latest_from, token, value, source, confidence, valid_from, recorded_at)
      SELECT ${parts}, 'k' || k, v, 'p' || s.n || '-' || k || '-' || v, 1, v - 1, 1, v * 1000, 't', '"a fact"', 'fill', 1, v * 1000, v * 1000
      FROM s CROSS JOIN generate_series(1, 5) k CROSS JOIN generate_series(1, ${VERSIONS / SCOPES / 5}) v;
    INSERT INTO memory.derivations (tenant_id, user_id, session_id, agent, source_kind, source_id, adapter, artefact_id, mixes, condemned)
      SELECT ${parts}, 'episodic', 'e' || s.n || '-' || g, 'index', 'a' || s.n || '-' || g, false, g = 1 FROM s CROSS JOIN generate_series(1, 20) g;
    ANALYZE;
  `);
}
