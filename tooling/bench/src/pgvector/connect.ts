// A strategy as a column: with connections of its own, without parallel workers and JIT, and with plans for the parameters
// unless it says otherwise.

import postgres from "postgres";
import type { DataSet } from "./data.ts";
import type { Manner } from "./ours.ts";
import type { Racer } from "./race.ts";
import { parametersOf, type Strategy } from "./raw.ts";

/** A raw column, whose connection is to be closed. */
export interface RawRacer extends Racer {
  readonly close: () => Promise<void>;
}

/** Opens a strategy's connection. */
export function connectRaw(url: string, strategy: Strategy, data: DataSet, manner: Manner = {}): RawRacer {
  const { name, settings = {}, text } = strategy;
  const { reach = "exact", isFiltered = false } = manner;
  const connection = {
    max_parallel_workers_per_gather: "0",
    jit: "off",
    plan_cache_mode: "force_custom_plan",
    ...settings,
  };
  const client = postgres(url, { max: 1, onnotice: () => {}, connection });
  return {
    name,
    search: async ({ vector, scope }) => {
      const digits = `[${vector.map((x) => x.toPrecision(9)).join(",")}]`;
      const question = { scope, reach, isFiltered, vector: digits };
      const rows = await client.unsafe(text(data, question), parametersOf(question), { prepare: true });
      return rows.map((row) => String(row["key"]));
    },
    close: () => client.end(),
  };
}
