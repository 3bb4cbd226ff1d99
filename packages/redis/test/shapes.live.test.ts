// The whole suite over the other deployments: a cluster of six nodes with autopipelining on and off, a master behind
// Sentinels, and a store with a client of its own over TLS as an ACL user. A model-based run over the first two.

import { memoryStoreSettings } from "@memory/core";
import { memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { canStartLocally, startRedis, startRedisCluster, startSentinel } from "@tooling/servers";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";
import { modelTarget, reference, SEQUENCES } from "./model-target.ts";
import { redisTarget } from "./target.ts";

const START_MS = 60_000;
const RUN_MS = 300_000;

/** As the README says. */
const COMMANDS = "+@hash +@sortedset +@string +@list +@keyspace -@dangerous +eval +evalsha +ping +time +info +select";

describe.skipIf(!canStartLocally())("a cluster", async () => {
  const cluster = canStartLocally() ? await startRedisCluster() : undefined;
  const nodes = cluster?.addresses.map(({ host, port }) => ({ host, port })) ?? [];
  const plain = new Cluster(nodes, { lazyConnect: true });
  const batched = new Cluster(nodes, { lazyConnect: true, enableAutoPipelining: true });
  const dsn = `redis://${nodes.map(({ host, port }) => `${host}:${port}`).join(",")}`;

  beforeAll(async () => {
    await plain.connect();
    await batched.connect();
  }, START_MS);

  afterAll(async () => {
    plain.disconnect();
    batched.disconnect();
    await cluster?.stop();
  });

  memoryStoreConformance({ describe, test }, redisTarget("redis cluster", plain, "plain"));
  memoryStoreConformance({ describe, test }, redisTarget("redis cluster with autopipelining", batched, "batched"));
  memoryStoreConformance(
    { describe, test },
    redisTarget("redis cluster, connected by the store", plain, "own", ({ settings, ...options }) =>
      RedisMemoryStore.connect(memoryStoreSettings({ ...settings, dsn }), { ...options, namespace: "own" }),
    ),
  );

  test(`agrees with the reference over ${SEQUENCES} sequences`, { timeout: RUN_MS }, async () => {
    const target = modelTarget("redis cluster", batched, "model");
    const report = await modelBasedRun(target, reference, { sequences: SEQUENCES, seed: 20_261_130 });
    expect(report.sequences).toBe(SEQUENCES);
  });
});

describe.skipIf(!canStartLocally())("Sentinels", async () => {
  const sentinel = canStartLocally() ? await startSentinel() : undefined;
  const hosts = sentinel?.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
  const master = new Redis({
    sentinels: sentinel?.addresses.map(({ host, port }) => ({ host, port })) ?? [],
    name: sentinel?.name ?? "",
    lazyConnect: true,
  });

  beforeAll(() => master.connect(), START_MS);

  afterAll(async () => {
    master.disconnect();
    await sentinel?.stop();
  });

  memoryStoreConformance(
    { describe, test },
    redisTarget("redis behind Sentinels", master, "own", ({ settings, ...options }) =>
      RedisMemoryStore.connect(
        memoryStoreSettings({ ...settings, dsn: `redis+sentinel://${hosts}/${sentinel?.name}` }),
        { ...options, namespace: "own" },
      ),
    ),
  );

  test(`agrees with the reference over ${SEQUENCES} sequences`, { timeout: RUN_MS }, async () => {
    const target = modelTarget("redis behind Sentinels", master, "model");
    const report = await modelBasedRun(target, reference, { sequences: SEQUENCES, seed: 20_261_130 });
    expect(report.sequences).toBe(SEQUENCES);
  });
});

describe("TLS and an ACL user", async () => {
  const password = "a-long-Passphrase-9";
  const server = await startRedis({
    tls: true,
    users: [`app on >${password} ~own:* ${COMMANDS}`],
  });
  const admin = new Redis(server.url, { tls: { ca: server.ca ?? "" }, lazyConnect: true });
  const dsn = `rediss://app:${password}@${server.host}:${server.port}/1`;

  beforeAll(() => admin.connect().then(() => admin.select(1)), START_MS);

  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  memoryStoreConformance(
    { describe, test },
    redisTarget("redis over TLS, as an ACL user, in database 1", admin, "own", ({ settings, ...options }) =>
      RedisMemoryStore.connect(memoryStoreSettings({ ...settings, dsn }), {
        ...options,
        namespace: "own",
        tls: { ca: server.ca ?? "", servername: "localhost" },
      }),
    ),
  );

  test("a user that may not ask for the configuration still verifies, with a warning", async () => {
    const codes: string[] = [];
    await using store = RedisMemoryStore.connect(memoryStoreSettings({ dsn }), {
      namespace: "own",
      tls: { ca: server.ca ?? "", servername: "localhost" },
      onEvent: (event) => {
        if (event.name === "adk.memory.warning") codes.push(event.code);
      },
    });
    await store.verify();
    expect(codes).toContain("redis-unchecked");
  });
});
