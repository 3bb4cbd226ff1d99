// What a seed decides about a run: how the servers are deployed, and which faults come, when and for how long.

import { Dice } from "./dice.ts";
import { drawFault, FAULTS, type Lane, type PlannedFault } from "./faults.ts";
import type { PostgresForm } from "./servers/postgres.ts";
import { type ServerName, storeNamed } from "./stores.ts";

/** How Redis is deployed. */
export type RedisForm = "standalone" | "sentinel" | "cluster";

/** How the servers of a run are deployed. */
export interface Deployment {
  readonly redis?: RedisForm;
  readonly postgres?: PostgresForm;
}

/** Which kinds of fault the deployments know. */
export type Known = Readonly<Record<Lane, readonly string[]>>;

const CLIENT_KINDS: readonly string[] = Object.keys(FAULTS.client);

/** The deployment of a seed, of what the stores stand on. */
export function deploymentOf(seed: number, stores: readonly string[], hasSmallDisk: boolean): Deployment {
  const dice = Dice.of(seed, "deployment");
  const redis = dice.weighted<RedisForm>([
    [5, "standalone"],
    [2, "sentinel"],
    [2, "cluster"],
  ]);
  const postgres = dice.weighted<PostgresForm>([
    [3, "single"],
    [2, "pair"],
    [1.5, "pooled"],
    [hasSmallDisk ? 2 : 0, "small"],
  ]);
  const needs = new Set<ServerName>(stores.flatMap((name) => storeNamed(name).needs));
  return { ...(needs.has("redis") ? { redis } : {}), ...(needs.has("postgres") ? { postgres } : {}) };
}

/** The faults of a seed, lane by lane, for so many milliseconds: each lane is without one about a third of the time. */
export function planOf(seed: number, ms: number, known: Known): Readonly<Record<Lane, readonly PlannedFault[]>> {
  const lane = (name: Lane): readonly PlannedFault[] => {
    const dice = Dice.of(seed, `faults ${name}`);
    let kinds = known[name].map((kind) => [FAULTS[name][kind]?.weight ?? 0, kind] as const);
    const planned: PlannedFault[] = [];
    for (let rest = ms; rest > 0 && kinds.length > 0; ) {
      const fault = drawFault(dice, name, dice.weighted(kinds));
      planned.push(fault);
      if (FAULTS[name][fault.kind]?.isOnce === true) kinds = kinds.filter(([, kind]) => kind !== fault.kind);
      rest -= fault.waitMs + fault.ms;
    }
    return planned;
  };
  return { redis: lane("redis"), postgres: lane("postgres"), client: lane("client") };
}

/** Every one of these kinds once, in an order of the seed, none for long. */
export function coverOf(seed: number, kinds: Known): Readonly<Record<Lane, readonly PlannedFault[]>> {
  const lane = (name: Lane): readonly PlannedFault[] => {
    const dice = Dice.of(seed, `cover ${name}`);
    return dice.shuffled(kinds[name]).map((kind) => {
      const fault = drawFault(dice, name, kind);
      // Just longer than an attempt, where it may be; else no more than it takes to be met.
      const isLong = (FAULTS[name][kind]?.ms[1] ?? 0) > 1_000;
      return { ...fault, waitMs: 100, ms: isLong ? 850 : Math.min(fault.ms, 250) };
    });
  };
  return { redis: lane("redis"), postgres: lane("postgres"), client: lane("client") };
}

/** What rigs with these faults, and clients, know. @throws {RangeError} A rig knows one that is not in the table. */
export function knownOf(rigs: readonly { readonly server: ServerName; readonly faults: object }[]): Known {
  const of = (server: ServerName): readonly string[] => {
    const kinds = Object.keys(rigs.find((rig) => rig.server === server)?.faults ?? {});
    const unknown = kinds.find((kind) => FAULTS[server][kind] === undefined);
    if (unknown !== undefined) throw new RangeError(`${server} knows ${unknown}, which is not in the table of faults`);
    return kinds.sort();
  };
  return { redis: of("redis"), postgres: of("postgres"), client: CLIENT_KINDS };
}
