// Processor time an operation, of this process and of the server, at 64 callers. It says which of the two has no more to
// give, and holds on a machine that others use, too, where the time on the clock says little.

import type { Note } from "../report.ts";
import { median } from "../rounds.ts";
import { CALLERS, chains, type Operation, type Rig, type Size } from "./rig.ts";

/** What each of the operations costs, interleaved: medians over the rounds, in microseconds. */
export async function processorNotes(
  rig: Rig,
  { rounds, processorOperations: count }: Size,
  operations: Readonly<Record<string, Operation>>,
): Promise<readonly Note[]> {
  const samples = Object.entries(operations).map(([name, operation]) => ({
    name,
    operation,
    client: [0].slice(1),
    server: [0].slice(1),
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { operation, client, server } of samples) {
      await chains(CALLERS, count / 10, operation);
      const took = await processorOf(rig, () => chains(CALLERS, count, operation));
      client.push(took.client / count);
      server.push(took.server / count);
    }
  }
  return samples.flatMap(({ name, client, server }) => [
    { name: `${name}: this process`, value: median(client), unit: "µs" },
    { name: `${name}: the server`, value: median(server), unit: "µs" },
  ]);
}

/** The microseconds of processor time that some work takes, of this process and of the server. */
export async function processorOf(
  rig: Rig,
  work: () => unknown,
): Promise<{ readonly client: number; readonly server: number }> {
  const serverBefore = await serverMicros(rig);
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { client: user + system, server: (await serverMicros(rig)) - serverBefore };
}

async function serverMicros(rig: Rig): Promise<number> {
  const info = String(await rig.plain.info("cpu"));
  const of = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
  return (of("used_cpu_user_main_thread") + of("used_cpu_sys_main_thread")) * 1_000_000;
}
