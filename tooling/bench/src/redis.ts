// Our Redis store beside what ioredis does bare, on a private server: single operations, sequences, erasure, memory.

import { callTables } from "./redis/calls.ts";
import { erasureTables } from "./redis/erasure.ts";
import { memoryNotes } from "./redis/memory.ts";
import { FULL, QUICK, Rig } from "./redis/rig.ts";
import { sequenceTables } from "./redis/sequences.ts";
import { keep, printNotes, printTable } from "./report.ts";

/** How the suite runs. */
export interface RedisBenchOptions {
  /** Fewer and shorter rounds, a tenth of the bystanders: shows that it runs. */
  readonly quick?: boolean;
  /** Where the figures go instead of the results of this package. */
  readonly folder?: string;
}

/** Runs the suite; gives the file with its figures. Targets are printed beside what was reached and fail nothing. */
export async function benchRedis({ quick = false, folder }: RedisBenchOptions = {}): Promise<string> {
  await using rig = await Rig.start();
  const size = quick ? QUICK : FULL;
  const { flavour, version, source } = rig.server;

  const operations = await callTables(rig, size);
  for (const table of operations.tables) printTable(table);
  const sequences = await sequenceTables(rig, size);
  for (const table of sequences.tables) printTable(table);
  const calls = { ...operations.calls, ...sequences.calls };
  console.log("\nwhat one call runs in the server");
  for (const [name, commands] of Object.entries(calls)) console.log(`  ${name}: ${commands}`);
  const costs = [...operations.costs, ...sequences.costs];
  printNotes("processor time an operation, 64 callers", costs);
  const memory = await memoryNotes(rig, size);
  printNotes(`memory, over ${size.memoryKeys.toLocaleString("en")} keys`, memory);
  const erasure = await erasureTables(rig, size);
  for (const table of erasure.tables) printTable(table);
  printNotes("processor time of one of these", erasure.costs);
  printNotes("what a bystander waits for a read of its own (medians of the rounds)", erasure.waits);

  const file = keep("redis", [...operations.tables, ...sequences.tables, ...erasure.tables], {
    notes: [...costs, ...memory, ...erasure.costs, ...erasure.waits],
    setting: { server: `${flavour} ${version}`, source, quick, ...size, serverCalls: calls },
    ...(folder === undefined ? {} : { folder }),
  });
  console.log(`\nkept in ${file}`);
  return file;
}
