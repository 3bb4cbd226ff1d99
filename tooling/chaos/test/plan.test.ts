// What a seed decides, it decides the same each time; and a canary is found wherever a handler would print it.

import { isMemoryError } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { describe, expect, it } from "vitest";
import { readArguments } from "../src/arguments.ts";
import { canaryOf, findCanary } from "../src/canary.ts";
import { FAULTS } from "../src/faults.ts";
import { coverOf, deploymentOf, knownOf, planOf } from "../src/plan.ts";

const known = {
  redis: Object.keys(FAULTS.redis),
  postgres: Object.keys(FAULTS.postgres),
  client: Object.keys(FAULTS.client),
};
const seeds = [...Array(60).keys()];

describe("a plan", () => {
  it("is the same for the same seed, and another for another", () => {
    for (const seed of seeds) expect(planOf(seed, 20_000, known)).toEqual(planOf(seed, 20_000, known));
    expect(new Set(seeds.map((seed) => JSON.stringify(planOf(seed, 20_000, known)))).size).toBe(seeds.length);
    expect(deploymentOf(7, ["redis", "postgres"], true)).toEqual(deploymentOf(7, ["redis", "postgres"], true));
  });

  it("reaches every kind of fault and every deployment within a few dozen seeds", () => {
    const drawn = seeds.flatMap((seed) => Object.values(planOf(seed, 20_000, known)).flat());
    for (const [lane, kinds] of Object.entries(known)) {
      for (const kind of kinds)
        expect(
          drawn.some((one) => one.lane === lane && one.kind === kind),
          kind,
        ).toBe(true);
    }
    const deployments = seeds.map((seed) => deploymentOf(seed, ["redis", "postgres"], true));
    expect(new Set(deployments.map(({ redis }) => redis))).toEqual(new Set(["standalone", "sentinel", "cluster"]));
    expect(new Set(deployments.map(({ postgres }) => postgres))).toEqual(
      new Set(["single", "pair", "pooled", "small"]),
    );
  });

  it("promotes a standby once at most", () => {
    for (const seed of seeds) {
      const { postgres } = planOf(seed, 60_000, known);
      expect(postgres.filter(({ kind }) => kind === "promote").length).toBeLessThan(2);
    }
  });

  it("deploys only what its stores stand on, and no small disk where none can be had", () => {
    expect(seeds.map((seed) => deploymentOf(seed, ["redis"], true).postgres)).not.toContain("single");
    expect(seeds.map((seed) => deploymentOf(seed, ["postgres"], false).postgres)).not.toContain("small");
  });

  it("covers every kind that is asked for once", () => {
    const covered = Object.values(coverOf(3, known)).flat();
    expect(covered.map(({ kind }) => kind).sort()).toEqual(Object.values(known).flat().sort());
  });

  it("refuses a rig with a fault of which nobody said what is promised under it", () => {
    expect(() => knownOf([{ server: "redis", faults: { earthquake: () => undefined } }])).toThrow(RangeError);
  });
});

describe("the command", () => {
  it("reads what it is asked for", () => {
    const args = ["--", "--runs", "200", "--seconds", "20", "--seed", "7", "--only", "redis", "--parallel", "2"];
    expect(readArguments(args)).toEqual({
      runs: { runs: 200, ms: 20_000, seed: 7, stores: ["redis"], parallel: 2, keeps: false },
    });
    expect(readArguments(["--replay", "9"])).toMatchObject({ runs: { runs: 1, seed: 9, keeps: true } });
    const soak = readArguments(["--soak", "15m", "--callers", "64", "--failover-every", "30s"]);
    expect(soak).toMatchObject({ soak: { ms: 900_000, callers: 64, failoverEveryMs: 30_000 } });
  });

  it("refuses what is not", () => {
    expect(() => readArguments(["--runs", "many"])).toThrow(RangeError);
    expect(() => readArguments(["--only", "mongo"])).toThrow(RangeError);
    expect(() => readArguments(["--soak", "long"])).toThrow(RangeError);
  });
});

describe("the canary", () => {
  const canary = canaryOf(5);

  it("is found in a message, a cause, a member and a name", () => {
    expect(findCanary(canary, new Error(`no ${canary}`))).toBeDefined();
    expect(
      findCanary(canary, new Error("no", { cause: new Error("of", { cause: { detail: canary } }) })),
    ).toBeDefined();
    expect(findCanary(canary, Object.assign(new Error("no"), { parameters: [{ value: canary }] }))).toBeDefined();
    expect(findCanary(canary, { [canary]: 1 })).toBeDefined();
    expect(findCanary(canary, { toJSON: () => canary })).toBeDefined();
    expect(findCanary(canary, new Error("nothing of it"))).toBeUndefined();
  });

  it("is stored as it is, and in no error of a store", async () => {
    await using store = new InMemoryMemoryStore();
    const scope = { tenantId: canary, userId: canary };
    const record = { id: canary, key: canary, value: { [canary]: canary }, source: canary };
    await store.log(scope, record);
    const [hit] = await store.episodes(scope);
    expect(hit?.record.value).toEqual({ [canary]: canary });
    const refused = await store.log(scope, { ...record, value: 2 }).catch((error: unknown) => error);
    expect(isMemoryError(refused, "MEMORY_CONFLICT")).toBe(true);
    expect(findCanary(canary, refused)).toBeUndefined();
  });
});
