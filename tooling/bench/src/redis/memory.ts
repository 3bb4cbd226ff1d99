// Bytes a key: what the server holds more after so many keys, ours beside a raw SET of the value. The raw key has the
// name that ours has, so that the difference is what the bookkeeping costs; a short name is printed, too.

import { type MemoryScope, memoryScope } from "@memory/core";
import type { Note } from "../report.ts";
import { TURN, VALUE } from "../value.ts";
import { chains, type Rig, recordName, SCOPE, type Size } from "./rig.ts";

const FILLERS = 256;
const TTL_MS = 3_600_000;

/** The figures, each with how much it is above the raw SET it is compared with. */
export async function memoryNotes(rig: Rig, { memoryKeys: count }: Size): Promise<readonly Note[]> {
  const expiring = rig.connect({ ttlMs: TTL_MS });
  const [value, turn] = [JSON.stringify(VALUE), JSON.stringify(TURN)];
  const inTens = (n: number): MemoryScope =>
    memoryScope({ tenantId: "acme", userId: "ada", sessionId: `s-${Math.floor(n / 10)}` });
  const of = (n: number): string => `key-${n}`;

  const bytes = async (write: (n: number) => unknown): Promise<number> => {
    await rig.clear();
    // Once, so that buffers and loaded scripts are there before.
    await write(0);
    await rig.clear();
    const before = await usedMemory(rig);
    await chains(FILLERS, count, write);
    return ((await usedMemory(rig)) - before) / count;
  };
  const raw = (text: string, scopeOf: (n: number) => MemoryScope): Promise<number> =>
    bytes((n) => rig.piped.set(recordName(scopeOf(n), of(n)), text));
  const one = (): MemoryScope => SCOPE;
  const record = (n: number) => ({ key: of(n), value: VALUE, source: "turn" });

  const set = {
    value: await raw(value, one),
    short: await bytes((n) => rig.piped.set(of(n), value)),
    px: await bytes((n) => rig.piped.set(recordName(SCOPE, of(n)), value, "PX", TTL_MS)),
    tens: await raw(value, inTens),
    turn: await raw(turn, one),
    turnInTens: await raw(turn, inTens),
  };
  const ours = {
    value: await bytes((n) => rig.store.write(SCOPE, record(n))),
    px: await bytes((n) => expiring.write(SCOPE, record(n))),
    tens: await bytes((n) => rig.store.write(inTens(n), record(n))),
    turn: await bytes((n) => rig.store.append(SCOPE, of(n), TURN, { source: "turn" })),
    turnInTens: await bytes((n) => rig.store.append(inTens(n), of(n), TURN, { source: "turn" })),
  };
  const B = "bytes a key";
  return [
    { name: `raw SET of a ${value.length}-byte value under ${of(0)}`, value: set.short, unit: B },
    { name: "raw SET of it under the name that ours has", value: set.value, unit: B },
    { name: "raw SET PX of it under that name", value: set.px, unit: B },
    { name: `written value, all in one scope`, value: ours.value, unit: B },
    { name: "  above the raw SET, same name", value: ours.value - set.value, unit: B, most: 150 },
    { name: "written value with an expiry", value: ours.px, unit: B },
    { name: "  above the raw SET PX, same name", value: ours.px - set.px, unit: B, most: 150 },
    { name: "written value, 10 keys a scope", value: ours.tens, unit: B },
    { name: "  above the raw SET, same name", value: ours.tens - set.tens, unit: B },
    { name: `raw SET of a ${turn.length}-byte turn under the name that ours has`, value: set.turn, unit: B },
    { name: "sequence of that one turn, all in one scope", value: ours.turn, unit: B },
    { name: "  above the raw SET, same name", value: ours.turn - set.turn, unit: B, most: 260 },
    { name: "sequence of that one turn, 10 keys a scope", value: ours.turnInTens, unit: B },
    { name: "  above the raw SET, same name", value: ours.turnInTens - set.turnInTens, unit: B },
  ];
}

// Without the clients' buffers; and once the server has ended enlarging its dictionary, of which it holds two meanwhile.
async function usedMemory(rig: Rig): Promise<number> {
  let last = Number.NaN;
  let agreed = 0;
  for (let times = 0; times < 100 && agreed < 3; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const info = String(await rig.plain.info("memory"));
    const of = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
    const used = of("used_memory") - of("mem_clients_normal");
    agreed = used === last ? agreed + 1 : 0;
    last = used;
  }
  return last;
}
