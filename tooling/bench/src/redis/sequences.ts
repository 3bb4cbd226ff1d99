// Sequences of 1 to 100,000 elements beside bare lists: append, and the newest 20. Lists are cut back to their length
// before each round of each column, so that a length stays what the table says.

import type { MemoryStore } from "@memory/core";
import type { Note } from "../report.ts";
import { type Column, compare, type Table, type Target } from "../rounds.ts";
import { TURN } from "../value.ts";
import { processorNotes } from "./processor.ts";
import { inTurn, keysOf, type Operation, type Rig, recordName, SCOPE, type Size, sideBySide } from "./rig.ts";

const LENGTHS = [1, 100, 10_000, 100_000] as const;
// As many lists of a length as keep it within a few elements over a round, and no more than fits a small machine.
const LISTS: Readonly<Record<number, number>> = { 1: 4_000, 100: 500, 10000: 20, 100000: 4 };
const META = "raw:{acme}:meta";
const INDEX = "raw:{acme}:ada:s-1::index";
const MARK = "\0era";
const TTL_MS = 3_600_000;

const SCRIPTS = {
  append: `redis.call('HMGET', KEYS[3], 'e', 'g', 'n')
redis.call('ZMSCORE', KEYS[2], ARGV[1], ARGV[2])
return redis.call('RPUSHX', KEYS[1], ARGV[3])`,
  appendExpiring: `redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
  newest: `redis.call('HMGET', KEYS[3], 'e', 'n')
redis.call('ZMSCORE', KEYS[2], ARGV[1], ARGV[2])
local v = redis.call('LRANGE', KEYS[1], -1 - ARGV[3], -1)
v[1] = redis.call('LINDEX', KEYS[1], 0)
return v`,
};

/** The lists of one length: ours and bare ones, with the same elements. */
interface Lists {
  readonly length: number;
  readonly key: () => string;
  readonly name: () => string;
  readonly cutOurs: () => Promise<void>;
  readonly cutRaw: () => Promise<void>;
}

/** The tables, what one call runs in the server, and what it costs there and here. */
export async function sequenceTables(
  rig: Rig,
  size: Size,
): Promise<{
  readonly tables: readonly Table[];
  readonly calls: Readonly<Record<string, string>>;
  readonly costs: readonly Note[];
}> {
  await rig.clear();
  await rig.plain.hset(META, "e", "era");
  await rig.plain.zadd(INDEX, 0, MARK);
  const digest = {
    append: await rig.load(SCRIPTS.append),
    appendExpiring: await rig.load(SCRIPTS.appendExpiring),
    newest: await rig.load(SCRIPTS.newest),
  };
  await rig.store.append(SCOPE, "element", TURN, { source: "turn" });
  const element = String(await rig.plain.lindex(recordName(SCOPE, "element"), -1));
  const all: Lists[] = [];
  for (const length of LENGTHS) all.push(await layOut(rig, length, size.listsPart, element));

  const rawAppend = (client: Rig["plain"], name: string): Promise<unknown> =>
    client.evalsha(digest.append, 3, name, INDEX, META, name.slice(name.lastIndexOf(":") + 1), MARK, element);
  const rawNewest = (client: Rig["plain"], name: string): Promise<unknown> =>
    client.evalsha(digest.newest, 3, name, INDEX, META, name.slice(name.lastIndexOf(":") + 1), MARK, 20);
  const append = (store: MemoryStore, { key }: Lists): Operation => {
    return () => store.append(SCOPE, key(), TURN, { source: "turn" });
  };
  const newest = (store: MemoryStore, { key }: Lists): Operation => {
    return () => store.read(SCOPE, key(), { last: 20 });
  };
  const appendColumns = (client: Rig["plain"], isAlone: boolean): readonly Column[] =>
    all.flatMap((lists) => [
      {
        name: nameOf("RPUSH", lists),
        ...run(isAlone, () => client.rpush(lists.name(), element)),
        prepare: lists.cutRaw,
      },
      {
        name: nameOf("EVALSHA, same commands", lists),
        ...run(isAlone, () => rawAppend(client, lists.name())),
        prepare: lists.cutRaw,
      },
      {
        name: nameOf("append", lists),
        ...run(isAlone, append(rig.store, lists)),
        prepare: lists.cutOurs,
        targets: [...targets(isAlone, "RPUSH", lists), ...flat("append", lists, 1)],
      },
    ]);
  const newestColumns = (client: Rig["plain"], isAlone: boolean): readonly Column[] =>
    all.flatMap((lists) => [
      { name: nameOf("LRANGE -20 -1", lists), ...run(isAlone, () => client.lrange(lists.name(), -20, -1)) },
      { name: nameOf("EVALSHA, same commands", lists), ...run(isAlone, () => rawNewest(client, lists.name())) },
      {
        name: nameOf("read last 20", lists),
        ...run(isAlone, newest(rig.store, lists)),
        targets: [...targets(isAlone, "LRANGE -20 -1", lists), ...flat("read last 20", lists, 100)],
      },
    ]);
  const [, hundred] = all;
  if (hundred === undefined) throw new Error("there are no lists");
  const expiring = rig.connect({ ttlMs: TTL_MS });
  const expiringColumns = (client: Rig["plain"], isAlone: boolean): readonly Column[] => [
    {
      name: "RPUSH and PEXPIRE in one pipeline",
      ...run(isAlone, () => {
        const name = hundred.name();
        return isAlone
          ? client.pipeline().rpush(name, element).pexpire(name, TTL_MS).exec()
          : Promise.all([client.rpush(name, element), client.pexpire(name, TTL_MS)]);
      }),
      prepare: hundred.cutRaw,
    },
    {
      name: "EVALSHA, RPUSH and PEXPIRE",
      ...run(isAlone, () => client.evalsha(digest.appendExpiring, 1, hundred.name(), element, TTL_MS)),
      prepare: hundred.cutRaw,
    },
    {
      name: "append",
      ...run(isAlone, append(expiring, hundred)),
      prepare: hundred.cutOurs,
      targets: isAlone
        ? [{ against: "RPUSH and PEXPIRE in one pipeline", most: 1.2 }]
        : [{ against: "EVALSHA, RPUSH and PEXPIRE", least: 0.9 }],
    },
  ];

  const calls = {
    "append, ours": await rig.serverCalls(append(rig.store, hundred)),
    "append, raw": await rig.serverCalls(() => rawAppend(rig.plain, hundred.name())),
    "read last 20, ours": await rig.serverCalls(newest(rig.store, hundred)),
    "read last 20, raw": await rig.serverCalls(() => rawNewest(rig.plain, hundred.name())),
    "append with an expiry, ours": await rig.serverCalls(append(expiring, hundred)),
  };
  const { rounds, roundMs } = size;
  const pace = { rounds, roundMs };
  const tables = [
    await compare("append of a 97-byte turn, by length, one caller", appendColumns(rig.plain, true), pace),
    await compare("append by length, 64 callers", appendColumns(rig.piped, false), pace),
    await compare("newest 20, by length, one caller", newestColumns(rig.plain, true), pace),
    await compare("newest 20 by length, 64 callers", newestColumns(rig.piped, false), pace),
    await compare("append with an expiry at 100 elements, one caller", expiringColumns(rig.plain, true), pace),
    await compare("append with an expiry at 100 elements, 64 callers", expiringColumns(rig.piped, false), pace),
  ];
  const costs = await processorNotes(rig, size, {
    RPUSH: () => rig.piped.rpush(hundred.name(), element),
    "append, EVALSHA, same commands": () => rawAppend(rig.piped, hundred.name()),
    append: append(rig.store, hundred),
    "append with an expiry": append(expiring, hundred),
    "LRANGE -20 -1": () => rig.piped.lrange(hundred.name(), -20, -1),
    "newest 20, EVALSHA, same commands": () => rawNewest(rig.piped, hundred.name()),
    "read last 20": newest(rig.store, hundred),
  });
  return { tables, calls, costs };
}

async function layOut(rig: Rig, length: number, part: number, element: string): Promise<Lists> {
  const count = Math.max(1, Math.floor((LISTS[length] ?? 1) * part));
  const keys = keysOf(`of-${length}-`, count);
  const ours: readonly [string, ...string[]] = [
    recordName(SCOPE, keys[0]),
    ...keys.slice(1).map((key) => recordName(SCOPE, key)),
  ];
  const raw = keysOf(`raw:{acme}:ada:s-1::working:of-${length}-`, count);
  await rig.plain.zadd(INDEX, ...keys.flatMap((key) => ["inf", key]));
  for (const [n, key] of keys.entries()) {
    await rig.store.append(SCOPE, key, TURN, { source: "turn" });
    // More of the element that is there, without as many calls: what an element looks like stays the driver's matter.
    await fill(rig, ours[n] ?? "", length - 1, element);
    await fill(rig, raw[n] ?? "", length, element);
  }
  const value = (await rig.store.read(SCOPE, keys[0]))?.value;
  if (!Array.isArray(value) || value.length !== length) {
    throw new Error("the stored form of a sequence is not what the suite takes it for");
  }
  const cut = async (names: readonly string[], last: number): Promise<void> => {
    for (let at = 0; at < names.length; at += 1_000) {
      const pipeline = rig.plain.pipeline();
      for (const name of names.slice(at, at + 1_000)) pipeline.ltrim(name, 0, last);
      await pipeline.exec();
    }
  };
  return {
    length,
    key: inTurn(keys),
    name: inTurn(raw),
    // Of ours the head is an element, too.
    cutOurs: () => cut(ours, length),
    cutRaw: () => cut(raw, length - 1),
  };
}

async function fill(rig: Rig, name: string, count: number, element: string): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    await rig.plain.rpush(name, ...Array<string>(Math.min(left, 1_000)).fill(element));
  }
}

function nameOf(what: string, { length }: Pick<Lists, "length">): string {
  return `${what}, at ${length.toLocaleString("en")}`;
}

function run(isAlone: boolean, operation: Operation): Pick<Column, "run" | "operations"> {
  return isAlone ? { run: operation } : sideBySide(operation);
}

function targets(isAlone: boolean, bare: string, lists: Lists): readonly Target[] {
  return isAlone
    ? [{ against: nameOf(bare, lists), most: 1.2 }]
    : [{ against: nameOf("EVALSHA, same commands", lists), least: 0.9 }];
}

// The same at every length from the first that does the same work.
function flat(what: string, { length }: Lists, from: number): readonly Target[] {
  return length > from ? [{ against: nameOf(what, { length: from }), most: 1.2 }] : [];
}
