// Write and read of one value beside the bare commands: one caller alone, and 64 at once.

import type { Note } from "../report.ts";
import { type Column, compare, type Table } from "../rounds.ts";
import { VALUE } from "../value.ts";
import { processorNotes } from "./processor.ts";
import {
  driverCall,
  headOf,
  inTurn,
  keysOf,
  type Operation,
  type Rig,
  recordName,
  SCOPE,
  type Size,
  sideBySide,
} from "./rig.ts";

// Each raw script runs in the server what ours runs on its usual path, and nothing else.
const SCRIPTS = {
  set: "return redis.call('SET', KEYS[1], ARGV[1])",
  write: `redis.call('HMGET', KEYS[3], 'e', 'g', 'n')
redis.call('ZMSCORE', KEYS[2], ARGV[1], ARGV[2])
redis.call('SET', KEYS[1], ARGV[3])
return 1`,
  add: `redis.call('HMGET', KEYS[3], 'e', 'g', 'n')
redis.call('ZMSCORE', KEYS[2], ARGV[1], ARGV[2])
redis.call('SET', KEYS[1], ARGV[3], 'NX')
redis.call('ZADD', KEYS[2], 'inf', ARGV[1])
return 1`,
  get: "return redis.call('GET', KEYS[1])",
  read: `redis.call('HMGET', KEYS[3], 'e', 'n')
redis.call('ZMSCORE', KEYS[2], ARGV[1], ARGV[2])
return redis.call('GET', KEYS[1])`,
};

const RAW = "raw:{acme}:ada:s-1::working:";
const META = "raw:{acme}:meta";
const INDEX = "raw:{acme}:ada:s-1::index";
const MARK = "\0era";
const TTL_MS = 3_600_000;

/** The tables, what one call runs in the server, and what it costs there and here. */
export async function callTables(
  rig: Rig,
  size: Size,
): Promise<{
  readonly tables: readonly Table[];
  readonly calls: Readonly<Record<string, string>>;
  readonly costs: readonly Note[];
}> {
  await rig.clear();
  const keys = keysOf("key-", 1_000);
  for (const key of keys) await rig.store.write(SCOPE, { key, value: VALUE, source: "turn" });
  const stored = String(await rig.plain.get(recordName(SCOPE, keys[0])));
  await rig.plain.hset(META, "e", "era");
  await rig.plain.zadd(INDEX, 0, MARK, ...keys.flatMap((key) => ["inf", key]));
  for (const key of keys) await rig.plain.set(RAW + key, stored);
  const digest = {
    set: await rig.load(SCRIPTS.set),
    write: await rig.load(SCRIPTS.write),
    add: await rig.load(SCRIPTS.add),
    get: await rig.load(SCRIPTS.get),
    read: await rig.load(SCRIPTS.read),
  };
  const head = await headOf(rig, SCOPE, "head");
  const text = JSON.stringify(VALUE);
  const start = stored.slice(0, -text.length);
  const expiring = rig.connect({ ttlMs: TTL_MS });
  const key = inTurn(keys);
  const name = (): string => RAW + key();
  let fresh = 0;
  const next = (): string => {
    fresh += 1;
    return `new-${fresh}`;
  };
  const call = driverCall();

  const ours = {
    write: () => rig.store.write(SCOPE, { key: key(), value: VALUE, source: "turn" }),
    unbatched: () => rig.unbatched.write(SCOPE, { key: key(), value: VALUE, source: "turn" }),
    put: () => rig.driver.put({ head: { ...head, key: key() }, content: { value: text } }, call),
    add: () => rig.store.write(SCOPE, { key: next(), value: VALUE, source: "turn" }),
    expiring: () => expiring.write(SCOPE, { key: key(), value: VALUE, source: "turn" }),
    read: () => rig.store.read(SCOPE, key()),
    readUnbatched: () => rig.unbatched.read(SCOPE, key()),
    get: () => rig.driver.get({ scope: SCOPE, key: key(), last: undefined }, call),
  };
  const raw = (
    client: Rig["plain"],
  ): Readonly<Record<keyof typeof digest | "bareSet" | "bareGet" | "px" | "writeValue" | "readValue", Operation>> => ({
    bareSet: () => client.set(name(), stored),
    px: () => client.set(name(), stored, "PX", TTL_MS),
    bareGet: () => client.get(name()),
    set: () => client.evalsha(digest.set, 1, name(), stored),
    writeValue: () => {
      const member = key();
      const bytes = start + JSON.stringify(VALUE);
      return client.evalsha(digest.write, 3, RAW + member, INDEX, META, member, MARK, bytes);
    },
    readValue: async () => {
      const member = key();
      const bytes = String(await client.evalsha(digest.read, 3, RAW + member, INDEX, META, member, MARK));
      return JSON.parse(bytes.slice(start.length));
    },
    write: () => {
      const member = key();
      return client.evalsha(digest.write, 3, RAW + member, INDEX, META, member, MARK, stored);
    },
    add: () => {
      const member = next();
      return client.evalsha(digest.add, 3, RAW + member, INDEX, META, member, MARK, stored);
    },
    get: () => client.evalsha(digest.get, 1, name()),
    read: () => {
      const member = key();
      return client.evalsha(digest.read, 3, RAW + member, INDEX, META, member, MARK);
    },
  });
  const [plain, piped] = [raw(rig.plain), raw(rig.piped)];
  const same = "EVALSHA, same commands";
  const alone = (bare: string): Pick<Column, "targets"> => ({ targets: [{ against: bare, most: 1.2 }] });
  const together = { targets: [{ against: same, least: 0.9 }] };

  const calls = {
    "write, ours": await rig.serverCalls(ours.write),
    "write, raw": await rig.serverCalls(plain.write),
    "write of a new key, ours": await rig.serverCalls(ours.add),
    "write of a new key, raw": await rig.serverCalls(plain.add),
    "read, ours": await rig.serverCalls(ours.read),
    "read, raw": await rig.serverCalls(plain.read),
  };
  const { rounds, roundMs } = size;
  const pace = { rounds, roundMs };
  const tables = [
    await compare(
      "write of a 386-byte value over one that is there, one caller",
      [
        { name: "SET of the same bytes", run: plain.bareSet },
        { name: "EVALSHA, SET alone", run: plain.set },
        { name: same, run: plain.write },
        { name: "our driver without core", run: ours.put },
        { name: "write", run: ours.write, ...alone("SET of the same bytes") },
      ],
      pace,
    ),
    await compare(
      "write of a new key, one caller",
      [
        { name: "SET of the same bytes", run: () => rig.plain.set(RAW + next(), stored) },
        { name: same, run: plain.add },
        { name: "write", run: ours.add, ...alone("SET of the same bytes") },
      ],
      pace,
    ),
    await compare(
      "write with an expiry, one caller",
      [
        { name: "SET PX of the same bytes", run: plain.px },
        { name: "write", run: ours.expiring, ...alone("SET PX of the same bytes") },
      ],
      pace,
    ),
    await compare(
      "write over one that is there, 64 callers (time an operation: the run's, divided)",
      [
        { name: same, ...sideBySide(piped.write) },
        { name: "EVALSHA, same, and JSON.stringify", ...sideBySide(piped.writeValue) },
        { name: "write", ...sideBySide(ours.write), ...together },
        { name: "our driver without core", ...sideBySide(ours.put) },
        { name: "EVALSHA, SET alone", ...sideBySide(piped.set) },
        { name: "SET of the same bytes", ...sideBySide(piped.bareSet) },
        { name: "SET, node-redis", ...sideBySide(() => rig.nodeRedis.set(name(), stored)) },
        { name: "SET, no autopipelining", ...sideBySide(plain.bareSet) },
        { name: "EVALSHA, same, no autopipelining", ...sideBySide(plain.write) },
        { name: "write, no autopipelining", ...sideBySide(ours.unbatched) },
      ],
      pace,
    ),
    await compare(
      "write of a new key, 64 callers",
      [
        { name: same, ...sideBySide(piped.add) },
        { name: "write", ...sideBySide(ours.add), ...together },
      ],
      pace,
    ),
    await compare(
      "read of the same value, one caller",
      [
        { name: "GET", run: plain.bareGet },
        { name: "EVALSHA, GET alone", run: plain.get },
        { name: same, run: plain.read },
        { name: "our driver without core", run: ours.get },
        { name: "read", run: ours.read, ...alone("GET") },
      ],
      pace,
    ),
    await compare(
      "read of the same value, 64 callers",
      [
        { name: same, ...sideBySide(piped.read) },
        { name: "EVALSHA, same, and JSON.parse", ...sideBySide(piped.readValue) },
        { name: "read", ...sideBySide(ours.read), ...together },
        { name: "our driver without core", ...sideBySide(ours.get) },
        { name: "EVALSHA, GET alone", ...sideBySide(piped.get) },
        { name: "GET", ...sideBySide(piped.bareGet) },
        { name: "GET, node-redis", ...sideBySide(() => rig.nodeRedis.get(name())) },
        { name: "GET, no autopipelining", ...sideBySide(plain.bareGet) },
        { name: "EVALSHA, same, no autopipelining", ...sideBySide(plain.read) },
        { name: "read, no autopipelining", ...sideBySide(ours.readUnbatched) },
      ],
      pace,
    ),
  ];
  const costs = await processorNotes(rig, size, {
    SET: piped.bareSet,
    "write, EVALSHA, same commands": piped.write,
    "write, our driver without core": ours.put,
    write: ours.write,
    "write of a new key, EVALSHA, same commands": piped.add,
    "write of a new key": ours.add,
    "write with an expiry": ours.expiring,
    GET: piped.bareGet,
    "read, EVALSHA, same commands": piped.read,
    "read, our driver without core": ours.get,
    read: ours.read,
  });
  return { tables, calls, costs };
}
