// Erasing amid a million keys of the same tenant, beside a raw UNLINK of a list of keys that somebody would have had to
// keep; and how long a bystander waits for a read meanwhile.

import { Worker } from "node:worker_threads";
import { type MemoryScope, memoryScope } from "@memory/core";
import type { StoredRecord } from "@memory/core/driver";
import type { Note } from "../report.ts";
import { type Column, compareOnce, median, type Table } from "../rounds.ts";
import { processorOf } from "./processor.ts";
import { chains, driverCall, headOf, type Rig, recordName, SCOPE, type Size } from "./rig.ts";

const TENANT = SCOPE.tenantId;
const TEXT = JSON.stringify("a short remark that an agent keeps for later");
/** How many keys of bystanders stand in one scope. */
const IN_A_SCOPE = 100;
const FILLERS = 512;
const ROUNDS_READ = 5;

/** One thing to erase: the scope, and how its keys are spread under it. */
interface Victim {
  readonly name: string;
  readonly scope: MemoryScope;
  readonly places: (keys: number) => readonly MemoryScope[];
}

const USER = memoryScope({ tenantId: TENANT, userId: "erased" });
const AGENT = memoryScope({ tenantId: TENANT, agent: "planner" });

const VICTIMS: readonly Victim[] = [
  { name: "a user, all in one scope", scope: USER, places: () => [USER] },
  {
    name: "a user, over sessions of 100 keys",
    scope: USER,
    places: (keys) => some(keys / 100, (n) => ({ tenantId: TENANT, userId: "erased", sessionId: `s-${n}` })),
  },
  {
    name: "tenant + agent, over users of 100 keys",
    scope: AGENT,
    places: (keys) => some(keys / 100, (n) => ({ tenantId: TENANT, userId: `user-${n}`, agent: "planner" })),
  },
  {
    name: "tenant + agent, over users of 10 keys",
    scope: AGENT,
    places: (keys) => some(keys / 10, (n) => ({ tenantId: TENANT, userId: `user-${n}`, agent: "planner" })),
  },
];

/** The table of erasures, what they cost here and in the server, and what a bystander waits. */
export async function erasureTables(
  rig: Rig,
  { rounds, bystanders, erased, erasedWhileRead }: Size,
): Promise<{
  readonly tables: readonly Table[];
  readonly costs: readonly Note[];
  readonly waits: readonly Note[];
}> {
  await rig.clear();
  const head = await headOf(rig, SCOPE, "head");
  const places = some(bystanders / IN_A_SCOPE, (n) => ({
    tenantId: TENANT,
    userId: `user-${n % 2_000}`,
    sessionId: `s-${n}`,
    ...(n % 2 === 0 ? {} : { agent: `agent-${n % 10}` }),
  }));
  await fill(rig, head, places, bystanders);
  const stored = String(await rig.plain.get(recordName(places[0] ?? SCOPE, "key-0")));
  const rawNames = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, n) => `raw:{${TENANT}}:erased:s-${n % 100}::working:key-${n}`);
  const unlink = (batch: number, count: number): Column => {
    const names = rawNames(count);
    return {
      name: `UNLINK of known keys, ${batch.toLocaleString("en")} at a time`,
      prepare: () => fillRaw(rig, names, stored),
      run: async () => {
        let gone = 0;
        for (let at = 0; at < names.length; at += batch) {
          gone += await rig.plain.unlink(...names.slice(at, at + batch));
        }
        mustBe(gone, names.length);
      },
    };
  };
  const erase = ({ name, scope, places }: Victim, count: number): Column => ({
    name: `erase of ${name}`,
    prepare: () => fill(rig, head, places(count), count),
    run: async () => mustBe((await rig.store.erase(scope)).records, count),
    targets: [500, 1_000].map((batch) => ({ against: unlink(batch, 0).name, most: 2 })),
  });

  const title = (count: number): string =>
    `erase of ${count.toLocaleString("en")} keys amid ${bystanders.toLocaleString("en")} of the same tenant`;
  const columns = [unlink(1_000, erased), unlink(500, erased), ...VICTIMS.map((victim) => erase(victim, erased))];
  // The first erasure of a process is its slowest: scripts are loaded, code is cold.
  for (const column of columns) await warm(column);
  const table = await compareOnce(`${title(erased)} (p99: the worst round)`, columns, rounds);

  const costs: Note[] = [];
  for (const { name, prepare, run } of columns) {
    const taken: { readonly client: number; readonly server: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await prepare?.();
      taken.push(await processorOf(rig, run));
    }
    costs.push(
      { name: `${name}: this process`, value: median(taken.map(({ client }) => client / 1_000)), unit: "ms" },
      { name: `${name}: the server`, value: median(taken.map(({ server }) => server / 1_000)), unit: "ms" },
    );
  }

  const reader = await Reader.start(rig.server.url, places[0] ?? SCOPE);
  const waits: Note[] = [];
  try {
    const [user, , agent] = VICTIMS;
    const beside: readonly { readonly column: Column; readonly most?: number }[] = [
      { column: { name: "nothing else going on", run: () => chains(1, 5_000, () => rig.plain.ping()) } },
      { column: unlink(500, erasedWhileRead) },
      ...[user, agent].flatMap((victim) =>
        victim === undefined ? [] : [{ column: erase(victim, erasedWhileRead), most: 5 }],
      ),
    ];
    const samples = beside.map((): Wait[] => []);
    for (let round = 0; round < Math.min(rounds, ROUNDS_READ); round += 1) {
      for (const [n, { column }] of beside.entries()) {
        await column.prepare?.();
        samples[n]?.push(await reader.during(column.run));
      }
    }
    for (const [n, { column, most }] of beside.entries()) {
      const own = samples[n] ?? [];
      const of = `read of a bystander, ${column.name.startsWith("nothing") ? "" : `during ${erasedWhileRead.toLocaleString("en")}: `}${column.name}`;
      waits.push(
        { name: `${of}, took`, value: median(own.map((one) => one.tookMs)), unit: "ms" },
        { name: `${of}, reads`, value: median(own.map((one) => one.reads)), unit: "reads" },
        { name: `${of}, p50`, value: median(own.map((one) => one.p50)), unit: "ms" },
        {
          name: `${of}, p99.9`,
          value: median(own.map((one) => one.p999)),
          unit: "ms",
          ...(most === undefined ? {} : { most }),
        },
        { name: `${of}, worst of all`, value: Math.max(...own.map((one) => one.worst)), unit: "ms" },
      );
    }
  } finally {
    await reader.end();
  }
  return { tables: [table], costs, waits };
}

/** What one round of reading beside something else showed, in milliseconds. */
interface Wait {
  readonly tookMs: number;
  readonly reads: number;
  readonly p50: number;
  readonly p999: number;
  readonly worst: number;
}

/** A bystander on a thread of its own: what it waits is the server's doing, not that of the erasing thread's event loop. */
class Reader {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(url: string, scope: MemoryScope): Promise<Reader> {
    const reader = new Reader(new Worker(new URL("./bystander.ts", import.meta.url), { workerData: { url, scope } }));
    await reader.#next();
    return reader;
  }

  async during(work: () => unknown): Promise<Wait> {
    const begun = this.#next();
    this.#worker.postMessage("start");
    await begun;
    const start = performance.now();
    await work();
    const tookMs = performance.now() - start;
    const ended = this.#next();
    this.#worker.postMessage("stop");
    const times = (await ended).sort((left, right) => left - right);
    const at = (part: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
    return { tookMs, reads: times.length, p50: at(0.5), p999: at(0.999), worst: at(1) };
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): Promise<number[]> {
    return new Promise((resolve, reject) => {
      this.#worker.once("error", reject);
      this.#worker.once("message", (message: unknown) => {
        this.#worker.off("error", reject);
        resolve(Array.isArray(message) ? message.map(Number) : []);
      });
    });
  }
}

async function warm({ prepare, run }: Column): Promise<void> {
  await prepare?.();
  await run();
}

/** So many keys, spread over the scopes evenly, written by our driver. */
async function fill(rig: Rig, head: StoredRecord, places: readonly MemoryScope[], count: number): Promise<void> {
  const each = Math.ceil(count / places.length);
  await chains(FILLERS, count, (n) => {
    const scope = places[Math.floor(n / each)] ?? SCOPE;
    return rig.driver.put({ head: { ...head, scope, key: `key-${n % each}` }, content: { value: TEXT } }, driverCall());
  });
}

async function fillRaw(rig: Rig, names: readonly string[], stored: string): Promise<void> {
  for (let at = 0; at < names.length; at += 1_000) {
    await rig.plain.mset(...names.slice(at, at + 1_000).flatMap((name) => [name, stored]));
  }
}

function some(count: number, parts: (n: number) => MemoryScope): readonly MemoryScope[] {
  return Array.from({ length: Math.max(1, Math.ceil(count)) }, (_, n) => memoryScope(parts(n)));
}

function mustBe(count: number, wanted: number): void {
  if (count !== wanted) throw new Error(`${count} keys went, not ${wanted}`);
}
