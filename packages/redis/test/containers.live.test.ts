// The whole suite and a model-based run over the newest Redis and over Valkey, each in a container. Where no engine
// answers or the images are not here, they are skipped, and the standard error says why.

import { memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { findRedis, type RedisServer } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, describe, expect, test } from "vitest";
import { modelTarget, reference, SEQUENCES } from "./model-target.ts";
import { redisTarget } from "./target.ts";

const TIMEOUT_MS = 300_000;

for (const flavour of ["redis", "valkey"] as const) {
  const lane = await findRedis({ flavour, source: "container", isOptional: true });
  const server: RedisServer | undefined = lane.isMissing ? undefined : await lane.start();

  describe.skipIf(server === undefined)(`${flavour} ${server?.version ?? "in a container"}`, () => {
    const client = new Redis(server?.url ?? "", { enableAutoPipelining: true, lazyConnect: true });

    afterAll(async () => {
      client.disconnect();
      await server?.stop();
    });

    memoryStoreConformance({ describe, test }, redisTarget(`${flavour} in a container`, client, "suite"));

    test(`agrees with the reference over ${SEQUENCES} sequences`, { timeout: TIMEOUT_MS }, async () => {
      await client.flushall();
      const target = modelTarget(flavour, client, "model");
      const report = await modelBasedRun(target, reference, { sequences: SEQUENCES, seed: 20_261_130 });
      expect(report.sequences).toBe(SEQUENCES);
    });
  });
}
