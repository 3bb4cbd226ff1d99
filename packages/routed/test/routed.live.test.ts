// The whole suite, and random sequences beside a single store, over real servers bound as one.

import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { findServers, type Servers, WIDTH } from "./servers.ts";
import { type ServersTarget, serversTarget } from "./target.ts";

const TIMEOUT_MS = 600_000;
const SEQUENCES = Number(process.env["MEMORY_SEQUENCES"] ?? 60);
const lane = await findServers();

describe.skipIf(lane.isMissing)("routed over Redis, PostgreSQL and vectors", () => {
  let servers: Servers;
  let target: ServersTarget;

  beforeAll(async () => {
    servers = await lane.start();
    target = serversTarget("routed", servers.addresses);
  });
  afterAll(async () => {
    await target?.[Symbol.asyncDispose]();
    await servers?.[Symbol.asyncDispose]();
  });

  memoryStoreConformance(
    { describe, test },
    {
      name: "routed",
      open: (options) => target.open(options),
      elapse: (ms) => target.elapse?.(ms),
      corrupt: (...args) => target.corrupt?.(...args),
    },
  );

  it(`agrees with a single store over ${SEQUENCES} random sequences`, { timeout: TIMEOUT_MS }, async () => {
    const reference: ConformanceTarget = {
      name: "in-memory",
      open: (options) => new InMemoryMemoryStore({ ...options, embeddingDimensions: WIDTH }),
    };
    const report = await modelBasedRun(target.stretched, reference, { sequences: SEQUENCES });
    console.log(`model-based run: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
    expect(report.sequences).toBe(SEQUENCES);
  });
});
