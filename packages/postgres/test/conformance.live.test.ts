// The suite on a real server, on connections of the store's own.

import { memoryStoreSettings } from "@memory/core";
import { type ConformanceTarget, memoryStoreConformance } from "@memory/testing";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, test } from "vitest";
import { postgresDriver } from "../src/driver.ts";
import { Pool } from "../src/pool.ts";
import { applySchema, targetOver } from "./target.ts";

const lane = findPostgres();

describe.skipIf(lane.isMissing)(`PostgreSQL ${lane.version}`, () => {
  let server: PostgresPrimary;
  let target: ConformanceTarget;
  let pool: Pool;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
    pool = new Pool(memoryStoreSettings({ dsn: server.url }));
    target = targetOver("postgres", postgresDriver(pool), { url: server.url });
  });
  afterAll(async () => {
    await pool?.close();
    await server?.stop();
  });

  memoryStoreConformance(
    { describe, test },
    { name: "postgres", open: (options) => target.open(options), corrupt: (...args) => target.corrupt?.(...args) },
  );
});
