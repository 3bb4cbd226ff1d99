// The suite, and random sequences beside the in-memory reference, on the server of this machine and on a newer one, in every
// way that they are deployed: with connections of the store's own and borrowed ones, behind a pooler in transaction mode,
// partitioned, with the extension off the search path, and with row security under a role that may do nothing but read and
// write rows, in a session that is set up as strangely as it can be. MEMORY_SEQUENCES says how many sequences each way gets;
// MEMORY_SEED makes those of an earlier run.

import { type Metric, memoryStoreSettings } from "@memory/core";
import type { MemoryDriver } from "@memory/core/driver";
import { BorrowedClient, Pool } from "@memory/core/postgres-js";
import { quoteIdentifier } from "@memory/core/sql";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { findPgBouncer, type PgBouncer, type PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { pgvectorDriver } from "../src/driver.ts";
import type { SchemaOptions } from "../src/schema.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner, referenceOf, targetOver } from "./target.ts";

const pooler = findPgBouncer();
const WIDTH = 8;
const SEQUENCES = Number(process.env["MEMORY_SEQUENCES"] ?? 20);
const SEED = Number(process.env["MEMORY_SEED"] ?? Math.floor(Math.random() * 0x7fff_ffff));

/** A way of deploying: a database made for it, and a driver on that. */
interface Way {
  readonly name: string;
  readonly isMissing?: boolean;
  readonly schema?: string;
  readonly collection?: string;
  readonly metric?: Metric;
  open(url: string): Promise<{ readonly driver: MemoryDriver; close?(): Promise<void> }>;
}

const poolOf = (dsn: string, prepare = true): Pool => new Pool(postgres, memoryStoreSettings({ dsn, prepare }));
const strange = { schema: 'Agent "memory"', collection: `What's "known"` };

const ways: readonly Way[] = [
  {
    name: "connections of its own",
    async open(url) {
      await applySchema(url, { dimensions: WIDTH });
      return { driver: pgvectorDriver(poolOf(url), { dimensions: WIDTH }) };
    },
  },
  {
    name: "a borrowed client that renames columns and parses as it likes",
    async open(url) {
      await applySchema(url, { dimensions: WIDTH });
      const sql = postgres(url, {
        max: 8,
        onnotice: () => {},
        transform: { ...postgres.camel, undefined: null },
        types: { bigint: postgres.BigInt },
      });
      return {
        driver: pgvectorDriver(new BorrowedClient(sql), { dimensions: WIDTH }),
        close: () => sql.end({ timeout: 1 }),
      };
    },
  },
  {
    name: "PgBouncer in transaction mode, by l2",
    isMissing: pooler.isMissing,
    metric: "l2",
    async open(url) {
      const collection: SchemaOptions = { dimensions: WIDTH, metric: "l2" };
      await applySchema(url, collection);
      const bouncer: PgBouncer = await pooler.start({ target: url });
      return { driver: pgvectorDriver(poolOf(bouncer.url, false), collection), close: () => bouncer.stop() };
    },
  },
  {
    name: "16 hash partitions, by inner product",
    metric: "inner",
    async open(url) {
      const collection: SchemaOptions = { dimensions: WIDTH, metric: "inner", embedder: "test@1" };
      await applySchema(url, { ...collection, partitions: 16 });
      return { driver: pgvectorDriver(poolOf(url), collection) };
    },
  },
  {
    name: "the extension off the search path, row security, a role that only reads and writes rows, a strange session",
    ...strange,
    async open(url) {
      const [schema, extension] = [quoteIdentifier(strange.schema), '"Off the ""path"""'];
      const role = `only_rows_${new URL(url).pathname.slice(1)}`;
      await asOwner(url, (sql) =>
        sql.unsafe(`CREATE SCHEMA ${extension}; CREATE EXTENSION vector SCHEMA ${extension}`),
      );
      await applySchema(url, { ...strange, dimensions: WIDTH, rowSecurity: true, partitions: 4 });
      await asOwner(url, (sql) =>
        sql.unsafe(`
          CREATE ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS;
          GRANT USAGE ON SCHEMA ${extension}, ${schema} TO ${role};
          GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
          ALTER ROLE ${role} SET search_path = '';
          ALTER ROLE ${role} SET timezone = 'Asia/Kathmandu';
          ALTER ROLE ${role} SET datestyle = 'German';
          ALTER ROLE ${role} SET extra_float_digits = -15;
          ALTER ROLE ${role} SET bytea_output = 'escape';
          ALTER ROLE ${role} SET standard_conforming_strings = off;
          ALTER ROLE ${role} SET array_nulls = off;
        `),
      );
      const own = new URL(url);
      own.username = role;
      return { driver: pgvectorDriver(poolOf(own.href), { ...strange, dimensions: WIDTH, rowSecurity: true }) };
    },
  },
];

describeOnEach("the suite", (lane) => {
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
        const { driver, close: closeOther } = await way.open(url);
        const { schema = "memory", collection = "semantic" } = way;
        // A busy machine is not what is looked at.
        const defaults = { settings: { queueTimeoutMs: 30_000 } };
        target = targetOver(way.name, driver, { url, defaults, schema, collection });
        close = async () => {
          await driver.close();
          await closeOther?.();
        };
      });
      afterAll(async () => {
        await close?.();
      });

      memoryStoreConformance(
        { describe, test },
        { name: way.name, open: (options) => target.open(options), corrupt: (...args) => target.corrupt?.(...args) },
      );

      it(`agrees with the in-memory reference over ${SEQUENCES} random sequences`, { timeout: 3_600_000 }, async () => {
        const reference = referenceOf(WIDTH, way.metric ?? "cosine");
        const report = await modelBasedRun(target, reference, { sequences: SEQUENCES, seed: SEED });
        console.log(`${way.name}: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
        expect(report.sequences).toBe(SEQUENCES);
      });
    });
  }
});
