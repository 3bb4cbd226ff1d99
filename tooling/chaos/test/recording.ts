// A genuine history without servers: the workload of a run over the in-memory store, with its last look, and the hands that
// do small wrongs to it.

import type { MemoryStore } from "@memory/core";
import { audit } from "../src/audit.ts";
import { canaryOf } from "../src/canary.ts";
import type { Answer, CallLine, EndLine, Line, Sight } from "../src/history.ts";
import { SETTINGS, STORES } from "../src/stores.ts";
import { type RemoteIndex, Workload } from "../src/workload.ts";
import { worldOf } from "../src/world.ts";

/** The canary of every recording. */
export const CANARY: string = canaryOf(1);

const NAME = "in-memory";
const CALLS = 3_000;

/** Records a run of some thousand calls. */
export async function recordRun(): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const world = worldOf(CANARY, NAME);
  const index: RemoteIndex = { isDown: false };
  let settled = 0;
  const plan = { seed: 1, name: NAME, world, record: (line: Line) => void lines.push(line) };
  const workload = new Workload({
    ...plan,
    ...{ client: "a0", callers: 6, thinkMs: 0 },
    onSettled: () => {
      settled += 1;
      if (settled === CALLS) workload.stop();
    },
  });
  const store = openInMemory(workload, index);
  await workload.run(store);
  await audit(store, world, new Workload({ ...plan, client: "audit0", callers: 0, thinkMs: 0 }), false);
  await audit(store, world, new Workload({ ...plan, client: "audit1", callers: 0, thinkMs: 0 }), true);
  return lines;
}

function openInMemory(workload: Workload, index: RemoteIndex): MemoryStore {
  const factory = STORES[NAME];
  if (factory === undefined) throw new RangeError(`no store is called ${NAME}`);
  return factory.open({ dsn: () => "", prepare: true, settings: SETTINGS }, workload.optionsFor(index));
}

/** A call with its answer. */
export interface Pair {
  readonly call: CallLine;
  readonly end: EndLine;
}

/** The calls of a history that were answered, in their order. */
export function pairsOf(lines: readonly Line[]): readonly Pair[] {
  const ends = new Map(lines.flatMap((line) => (line.line === "end" ? [[line.id, line] as const] : [])));
  return lines.flatMap((line) => {
    const end = line.line === "call" ? ends.get(line.id) : undefined;
    return line.line === "call" && end !== undefined ? [{ call: line, end }] : [];
  });
}

/** What a read saw. */
export function seenBy({ end }: Pair): readonly Sight[] {
  return end.answer?.seen ?? [];
}

/** The history with another answer to one call. */
export function withEnd(lines: readonly Line[], { end }: Pair, change: Partial<EndLine>): readonly Line[] {
  return lines.map((line) => (line === end ? { ...end, ...change } : line));
}

/** The history in which one read saw something else. */
export function withAnswer(lines: readonly Line[], pair: Pair, change: Partial<Answer>): readonly Line[] {
  return withEnd(lines, pair, { answer: { ...pair.end.answer, ...change } });
}

/** The first of a list, or the test cannot be made. */
export function first<T>(list: Iterable<T>, what: string): T {
  for (const one of list) return one;
  throw new Error(`the recording has no ${what}`);
}
