// The last look at a store, by a process of its own when everything is healed: every place is read whole, and on the second
// look every tenant is erased and read again. It is history like any other; the checker judges it by the same rules.

import type { MemoryStore } from "@memory/core";
import { Dice } from "./dice.ts";
import type { CallArgs } from "./history.ts";
import { operationNamed } from "./operations/all.ts";
import { type Caller, isOffered } from "./operations/operation.ts";
import type { Workload } from "./workload.ts";
import type { World } from "./world.ts";

const READS: readonly (readonly [op: string, keys: readonly string[]])[] = [
  ["read", ["r0", "r1", "r2", "x0", "x1", "q0", "q1"]],
  ["recall", ["v0", "v1", "v2", "v3"]],
  ["history", ["f0", "f1", "b0"]],
  ["profile", ["f0", "f1"]],
];

const LISTS: readonly string[] = ["keys", "walk", "search", "derivations"];

/** Reads everything; when `erases`, forecasts and erases every tenant and reads everything again. */
export async function audit(store: MemoryStore, world: World, workload: Workload, erases: boolean): Promise<void> {
  const caller: Caller = { store, world, dice: new Dice(1), known: new Map(), logged: [] };
  await readAll(caller, workload);
  if (!erases) return;
  const tenants = world.scopes.flatMap((scope, at) => (Object.keys(scope).length === 1 ? [at] : []));
  for (const scope of tenants) {
    if (store.capabilities.erasureNarrowing) await ask(caller, workload, "erase", { scope, dryRun: true });
    await ask(caller, workload, "erase", { scope });
  }
  await readAll(caller, workload);
}

async function readAll(caller: Caller, workload: Workload): Promise<void> {
  for (const [scope] of caller.world.scopes.entries()) {
    for (const [op, keys] of READS) for (const key of keys) await ask(caller, workload, op, { scope, key });
    for (const op of LISTS) await ask(caller, workload, op, { scope });
  }
}

async function ask(caller: Caller, workload: Workload, op: string, args: CallArgs): Promise<void> {
  const operation = operationNamed(op);
  if (isOffered(caller, operation)) await workload.call(caller, operation, args);
}
