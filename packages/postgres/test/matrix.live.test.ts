// The suite, and random sequences beside the in-memory reference, on the server of this machine and on a newer one, in every
// way that they are deployed: with connections of the store's own and borrowed ones, behind a pooler in transaction mode,
// partitioned, and with row security under a role that may do nothing but read and write rows, in a session that is set up
// as strangely as it can be. MEMORY_SEQUENCES says how many sequences each way gets; the plain one gets three times as many.
// They begin alike, so that servers and ways are compared with each other, too; MEMORY_SEED makes those of an earlier run.

import { memoryStoreSettings } from "@memory/core";
import type { MemoryDriver } from "@memory/core/driver";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { BorrowedClient, Pool } from "@memory/core/postgres-js";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { findPgBouncer, type PgBouncer, type PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { postgresDriver } from "../src/driver.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner, targetOver } from "./target.ts";

const pooler = findPgBouncer();
const SEQUENCES = Number(process.env["MEMORY_SEQUENCES"] ?? 20);
const SEED = Number(process.env["MEMORY_SEED"] ?? Math.floor(Math.random() * 0x7fff_ffff));

/** A way of deploying: a database made for it, and a driver on that. */
interface Way {
  readonly name: string;
  readonly isMissing?: boolean;
  readonly sequences?: number;
  readonly schema?: string;
  open(url: string): Promise<{ readonly driver: MemoryDriver; close?(): Promise<void> }>;
}

const poolOf = (dsn: string, prepare = true): Pool => new Pool(postgres, memoryStoreSettings({ dsn, prepare }));

const ways: readonly Way[] = [
  {
    name: "connections of its own",
    sequences: SEQUENCES * 3,
    async open(url) {
      await applySchema(url);
      return { driver: postgresDriver(poolOf(url)) };
    },
  },
  {
    name: "a borrowed client that renames columns and parses as it likes",
    async open(url) {
      await applySchema(url);
      const sql = postgres(url, {
        max: 8,
        onnotice: () => {},
        transform: { ...postgres.camel, undefined: null },
        types: { bigint: postgres.BigInt },
      });
      return { driver: postgresDriver(new BorrowedClient(sql)), close: () => sql.end({ timeout: 1 }) };
    },
  },
  {
    name: "PgBouncer in transaction mode",
    isMissing: pooler.isMissing,
    async open(url) {
      await applySchema(url);
      const bouncer: PgBouncer = await pooler.start({ target: url });
      return { driver: postgresDriver(poolOf(bouncer.url, false)), close: () => bouncer.stop() };
    },
  },
  {
    name: "16 hash partitions",
    async open(url) {
      await applySchema(url, { partitions: 16 });
      return { driver: postgresDriver(poolOf(url)) };
    },
  },
  {
    name: "row security, a role that only reads and writes rows, a strange session",
    schema: 'Agent "memory"',
    async open(url) {
      const schema = 'Agent "memory"';
      await applySchema(url, { schema, rowSecurity: true, partitions: 4 });
      const role = `only_rows_${new URL(url).pathname.slice(1)}`;
      await asOwner(url, (sql) =>
        sql.unsafe(`
          CREATE ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS;
          GRANT USAGE ON SCHEMA "Agent ""memory""" TO ${role};
          GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "Agent ""memory""" TO ${role};
          ALTER ROLE ${role} SET search_path = '';
          ALTER ROLE ${role} SET timezone = 'Asia/Kathmandu';
          ALTER ROLE ${role} SET datestyle = 'German';
          ALTER ROLE ${role} SET extra_float_digits = -15;
          ALTER ROLE ${role} SET bytea_output = 'escape';
          ALTER ROLE ${role} SET standard_conforming_strings = off;
          ALTER ROLE ${role} SET default_transaction_isolation = 'read committed';
        `),
      );
      const own = new URL(url);
      own.username = role;
      return { driver: postgresDriver(poolOf(own.href), { schema, rowSecurity: true }) };
    },
  },
];

describeOnEach("deployed", (lane) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "100" } });
  });
  afterAll(async () => {
    await server?.stop();
  });

  for (const [index, way] of ways.entries()) {
    describe.skipIf(way.isMissing === true)(way.name, () => {
      let target: ConformanceTarget;
      let close: () => Promise<void>;

      beforeAll(async () => {
        const url = await server.createDatabase(`way_${index}`);
        const opened = await way.open(url);
        const schema = way.schema === undefined ? {} : { schema: `"${way.schema.replaceAll('"', '""')}"` };
        // A busy machine is not what is looked at.
        const defaults = { settings: { queueTimeoutMs: 60_000, attemptTimeoutMs: 60_000 } };
        target = targetOver(way.name, opened.driver, { url, defaults, ...schema });
        close = async () => {
          await opened.driver.close();
          await opened.close?.();
        };
      });
      afterAll(async () => {
        await close?.();
      });

      memoryStoreConformance(
        { describe, test },
        { name: way.name, open: (options) => target.open(options), corrupt: (...args) => target.corrupt?.(...args) },
      );

      const sequences = way.sequences ?? SEQUENCES;
      it(`agrees with the in-memory reference over ${sequences} random sequences`, { timeout: 3_600_000 }, async () => {
        const reference: ConformanceTarget = { name: "in-memory", open: (options) => new InMemoryMemoryStore(options) };
        const report = await modelBasedRun(target, reference, { sequences, seed: SEED });
        console.log(`${way.name}: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
        expect(report.sequences).toBe(sequences);
      });
    });
  }
});
