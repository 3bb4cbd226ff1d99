// How the server reads: the plan of every read statement (plan-cases.ts), over many episodes and versions in many scopes,
// with 16 partitions and without, planned for its parameters and for any. Only indexes are read, about as many rows as are
// given back, and of the partitions one. etc/plans.txt is the snapshot. MEMORY_SCALE=1 fills a million episodes and 100,000 versions into 2,000 scopes; the default is a tenth of it.

import type { Statement } from "@memory/core/sql";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PostgresClient } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { forgottenStatements, keyCases, type PlanCase, planCases } from "./plan-cases.ts";
import { applySchema, asOwner } from "./target.ts";

const SCALE = Number(process.env["MEMORY_SCALE"] ?? 0.1);
const SCOPES = Math.round(2_000 * SCALE);
const EPISODES = Math.round(1_000_000 * SCALE);
const VERSIONS = Math.round(100_000 * SCALE);

/** How a statement is planned: for its parameters, as behind a pooler and at first, or for any, as a connection keeps it. */
const MODES = ["force_custom_plan", "force_generic_plan"] as const;
type Mode = (typeof MODES)[number];

describeOnEach("plans", (lane) => {
  let server: PostgresServer;
  const plans = new Map<string, Explained>();

  beforeAll(async () => {
    server = await lane.start({
      settings: { shared_buffers: "256MB", max_wal_size: "4GB", autovacuum: "off", maintenance_work_mem: "256MB" },
    });
    await applySchema(server.url);
    await asOwner(server.url, (sql) => fill(sql, { scopes: SCOPES, episodes: EPISODES, versions: VERSIONS }));
    await asOwner(server.url, async (sql) => {
      for (const mode of MODES) {
        for (const { name, statement } of planCases) plans.set(`${mode} ${name}`, await explain(sql, statement, mode));
      }
    });
  }, 900_000);
  afterAll(async () => {
    await server?.stop();
  });

  it("asks every statement that reads", () => {
    expect(forgottenStatements()).toEqual([]);
  });

  it.each(planCases)("$name reads indexes only, and about the rows that it gives", (planCase) => {
    for (const mode of MODES) expectFrugal(planCase, mode, plans.get(`${mode} ${planCase.name}`));
  });

  it("keeps to the plans of the snapshot", async () => {
    const text = planCases
      .filter(({ varies, walks }) => varies === undefined && walks === undefined)
      .map(({ name }) => {
        const scans = plans.get(`force_generic_plan ${name}`)?.scans ?? [];
        return `${name}\n${scans.map(({ line }) => `  ${line}\n`).join("")}`;
      });
    await expect(text.join("\n")).toMatchFileSnapshot("../etc/plans.txt");
  });

  it("reads one of 16 partitions", { timeout: 120_000 }, async () => {
    const url = await server.createDatabase("partitioned");
    await applySchema(url, { partitions: 16 });
    // Some rows, so that what is looked up for each row is looked up.
    await asOwner(url, (sql) => fill(sql, { scopes: 100, episodes: 2_000, versions: 2_500 }));
    await asOwner(url, async (sql) => {
      for (const mode of MODES) {
        for (const { name, statement } of planCases) {
          const { scans } = await explain(sql, statement, mode);
          const touched = new Set(scans.filter((scan) => scan.loops > 0).map(({ table }) => table));
          const partitions = [...touched].filter((table) => /_\d+$/.test(table));
          const families = new Set(partitions.map((table) => table.replace(/_\d+$/, "")));
          expect({ mode, name, partitions: partitions.length }).toEqual({ mode, name, partitions: families.size });
        }
      }
    });
  });

  // By the statistics a key has one version; then any index that begins with the scope looks as good as the right one.
  it("reads of a key no more where its history has grown since it was analysed", { timeout: 120_000 }, async () => {
    const url = await server.createDatabase("grown");
    await applySchema(url);
    await asOwner(url, async (sql) => {
      await fill(sql, { scopes: 200, episodes: 2_000, versions: 1_000 });
      await grow(sql, 5_000);
      for (const mode of MODES) {
        for (const planCase of keyCases) expectFrugal(planCase, mode, await explain(sql, planCase.statement, mode));
      }
    });
  });
});

function expectFrugal({ name, slack = 25, walks }: PlanCase, mode: Mode, explained: Explained | undefined): void {
  const { given, scans, blocks } = explained ?? { given: 0, scans: [], blocks: 0 };
  expect(scans.length).toBeGreaterThan(0);
  expect({ mode, name, whole: scans.filter(({ node }) => node === "Seq Scan") }).toEqual({ mode, name, whole: [] });
  if (walks !== undefined) return;
  // What a bitmap of an index holds is read once, from the table.
  const read = scans.reduce((sum, { node, rows }) => sum + (node === "Bitmap Index Scan" ? 0 : rows), 0);
  expect({ mode, name, read: Math.min(read, given * 6 + slack) }).toEqual({ mode, name, read });
  // A condition that an index holds but does not begin with is told by no number of rows: the pages that it took are.
  const looks = scans.reduce((sum, { loops }) => sum + loops, 0);
  expect({ mode, name, blocks: Math.min(blocks, looks * 6 + read * 2 + 10) }).toEqual({ mode, name, blocks });
}

interface Scan {
  readonly node: string;
  readonly table: string;
  readonly rows: number;
  readonly loops: number;
  readonly line: string;
}

interface Explained {
  readonly scans: readonly Scan[];
  /** Rows of the answer. */
  readonly given: number;
  /** Pages that were looked at, from memory or disk. */
  readonly blocks: number;
}

async function explain(sql: PostgresClient, { text, params }: Statement, mode: Mode): Promise<Explained> {
  await sql.unsafe(`SET plan_cache_mode = ${mode}; BEGIN`);
  try {
    await sql.unsafe(`PREPARE one AS ${text}`);
    const values = params.map((value) => (value === null ? "NULL" : `'${String(value).replaceAll("'", "''")}'`));
    const rows = await sql.unsafe(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON, TIMING OFF) EXECUTE one(${values.join(",")})`,
    );
    const explained: readonly { readonly Plan: PlanNode }[] = rows[0]?.["QUERY PLAN"] ?? [];
    const [first] = explained;
    if (first === undefined) throw new Error("no plan was given");
    const plan = first.Plan;
    const blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    return { scans: scansOf(plan), given: plan["Actual Rows"], blocks };
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
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

function scansOf(plan: PlanNode): readonly Scan[] {
  const inner = (plan.Plans ?? []).flatMap(scansOf);
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
  return [{ node, table, rows, loops, line: [kind, index === "" ? table : index].join(" ") }, ...inner];
}

interface Size {
  readonly scopes: number;
  readonly episodes: number;
  readonly versions: number;
}

async function fill(sql: PostgresClient, { scopes, episodes, versions }: Size): Promise<void> {
  const parts = `'t' || (s.n % 10), 'u' || (s.n % ${scopes / 20}), 's' || (s.n / ${scopes / 20}), ''`;
  await sql.unsafe(`
    CREATE TEMPORARY TABLE s AS SELECT g AS n FROM generate_series(0, ${scopes - 1}) g;
    INSERT INTO memory.episodes (tenant_id, user_id, session_id, agent, id, key, value, source, confidence, valid_from, metadata, recorded_at)
      SELECT ${parts}, 'e' || g, 'turn' || g % 10, '"a turn of some length, as people type them into a box"', 'fill', 1, g * 1000 + s.n,
        CASE WHEN g % 400 = 7 THEN '{"rare": "yes", "n": 1}'::jsonb WHEN g % 4 = 0 THEN '{"n": 1}'::jsonb END, g
      FROM s CROSS JOIN generate_series(1, ${episodes / scopes}) g;
    INSERT INTO memory.profile_versions (tenant_id, user_id, session_id, agent, key, version, id, lineage, follows, lineages, latest_from, token, value, source, confidence, valid_from, recorded_at)
      SELECT ${parts}, 'k' || k, v, 'p' || s.n || '-' || k || '-' || v, 1, v - 1, 1, v * 1000, 't', '"a fact"', 'fill', 1, v * 1000, v * 1000
      FROM s CROSS JOIN generate_series(1, 5) k CROSS JOIN generate_series(1, ${versions / scopes / 5}) v;
    INSERT INTO memory.derivations (tenant_id, user_id, session_id, agent, source_kind, source_id, adapter, artefact_id, mixes, condemned)
      SELECT ${parts}, 'episodic', 'e' || g, 'index', 'a' || s.n || '-' || g, false, g = 1 FROM s CROSS JOIN generate_series(1, 20) g;
    ANALYZE;
  `);
}

// The key that is asked for, and its scope, become long.
async function grow(sql: PostgresClient, most: number): Promise<void> {
  const scope = "'t3', 'u3', 's1', ''";
  await sql.unsafe(`
    INSERT INTO memory.episodes (tenant_id, user_id, session_id, agent, id, key, value, source, confidence, valid_from, recorded_at)
      SELECT ${scope}, 'late' || g, 'turn' || g % 10, '"a turn"', 'grow', 1, g * 1000, g FROM generate_series(1, ${most}) g;
    INSERT INTO memory.profile_versions (tenant_id, user_id, session_id, agent, key, version, id, lineage, follows, lineages, latest_from, token, value, source, confidence, valid_from, recorded_at)
      SELECT ${scope}, k.key, k.version + v, 'late-' || k.key || '-' || v, 1, k.version + v - 1, 1, (k.version + v) * 1000, 't', '"a fact"', 'grow', 1, (k.version + v) * 1000, (k.version + v) * 1000
      FROM (SELECT key, max(version) AS version FROM memory.profile_versions WHERE (tenant_id, user_id, session_id, agent) = (${scope}) AND key = 'k3' GROUP BY key) k
      CROSS JOIN generate_series(1, ${most}) v;
    INSERT INTO memory.derivations (tenant_id, user_id, session_id, agent, source_kind, source_id, adapter, artefact_id, mixes, condemned)
      SELECT ${scope}, 'episodic', 'late' || g, 'index', 'late' || g, false, false FROM generate_series(1, ${most}) g;
  `);
}
