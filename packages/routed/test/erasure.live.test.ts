// Erasure over real servers: by processes that are killed between any two of its steps, past a member that is out of reach,
// and among writers and readers. What is gone is looked for in the servers themselves.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type DerivedIndex, exportScope, type MemoryKind, type MemoryScope, type MemoryStore } from "@memory/core";
import { startProxy, waitFor } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { FILLED, FILLED_RECORDS, fill, readable } from "./holdings.ts";
import { type Addresses, connect, dump, findServers, type Servers } from "./servers.ts";

const TIMEOUT_MS = 300_000;
const ann: MemoryScope = { tenantId: "acme", userId: "ann" };
const bob: MemoryScope = { tenantId: "acme", userId: "bob" };
const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];
const SLOT_OF = { working: "working", profile: "durable", episodic: "durable", semantic: "semantic" } as const;
type Slot = (typeof SLOT_OF)[MemoryKind];
const lane = await findServers();

describe.skipIf(lane.isMissing)("an erasure over real servers", () => {
  let servers: Servers;

  beforeAll(async () => {
    servers = await lane.start();
  });
  afterAll(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  function noting(): DerivedIndex & { readonly purged: Set<string> } {
    const purged = new Set<string>();
    return {
      name: "summaries",
      purged,
      purge: async (_scope, artefactIds) => {
        for (const id of artefactIds) purged.add(id);
      },
    };
  }

  async function registered(store: MemoryStore): Promise<readonly string[]> {
    const { derivations } = await store.derivations({ tenantId: "acme" }, { reach: "under" });
    return derivations.map(({ artefactId }) => artefactId);
  }

  const deaths = Array.from({ length: 10 }, (_, at) => at + 1).flatMap((at) =>
    (["before", "after"] as const).map((when) => ({ at, when })),
  );

  test.each(deaths)("killed $when call $at is finished by the next process", { timeout: TIMEOUT_MS }, async (death) => {
    const index = noting();
    await using store = connect(servers.addresses, { derivedIndices: [index] });
    for (const scope of [ann, bob]) await fill(store, scope, `text of ${scope.userId}`);
    for (const sourceKind of ["working", "episodic"] as const) {
      await store.derived(ann, { sourceKind, sourceId: "x", adapter: "summaries", artefactId: `of-${sourceKind}` });
    }
    await store.derived(bob, { sourceKind: "working", sourceId: "w", adapter: "summaries", artefactId: "bobs" });

    const done = await killedAt(servers.addresses, death, index.purged);
    const did = (slot: Slot, step: string) => done.includes(`${slot}.${step}`);
    expect(await readable(store, ann)).toEqual(KINDS.filter((kind) => !did(SLOT_OF[kind], "tombstone")));
    const receipt = await store.erase(ann);
    expect(receipt).toMatchObject({ complete: true, outstanding: [] });
    // What a member answered for at the end, the process that died could tell nobody.
    const owed = KINDS.filter((kind) => !did(SLOT_OF[kind], "sweep"));
    expect(receipt.records).toBe(owed.reduce((sum, kind) => sum + FILLED[kind], 0));
    expect([...index.purged].toSorted()).toEqual(["of-episodic", "of-working"]);
    expect(await store.erase(ann)).toMatchObject({ records: 0, artefacts: 0, complete: true });
    expect(await readable(store, bob)).toEqual(KINDS);
    expect(await registered(store)).toEqual(["bobs"]);
    const left = await dump(servers.addresses);
    expect(left).not.toMatch(/ann/);
    expect(left).toMatch(/text of bob/);
    expect(await store.erase({ tenantId: "acme" })).toMatchObject({ records: FILLED_RECORDS, artefacts: 1 });
    expect(await dump(servers.addresses)).toBe("");
  });

  describe("past a member that is out of reach", () => {
    const settings = { maxAttempts: 2, attemptTimeoutMs: 300, connectTimeoutMs: 300, backoffMs: 5 };

    test.each([
      ["redis", "refuse", ["working"]],
      ["redis", "blackHole", ["working"]],
      ["postgres", "refuse", ["profile", "episodic"]],
      ["postgres", "blackHole", ["profile", "episodic"]],
      ["pgvector", "refuse", ["semantic"]],
      ["pgvector", "blackHole", ["semantic"]],
    ] as const)(
      "%s (%s): the others are done, and running it again finishes",
      {
        timeout: TIMEOUT_MS,
      },
      async (name, fault, kinds) => {
        const addresses = servers.addresses;
        await using proxy = await startProxy(servers[name === "redis" ? "redis" : "postgres"]);
        const index = noting();
        const place = name === "pgvector" ? "vectors" : name;
        const through = { ...addresses, [place]: proxy.through(addresses[place]) };
        await using store = connect(through, { settings, derivedIndices: [index] });
        await using direct = connect(addresses, { derivedIndices: [index] });
        await fill(store, ann);
        await fill(store, bob);
        await store.derived(ann, { sourceKind: "working", sourceId: "w", adapter: "summaries", artefactId: "a" });

        proxy.set({ [fault]: true });
        if (fault === "refuse") proxy.reset();
        const error: unknown = await store.erase(ann).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "PARTIAL_ERASURE", adapter: name, cause: { code: "MEMORY_UNAVAILABLE" } });
        const others = KINDS.filter((kind) => !kinds.some((one) => one === kind));
        expect(error).toMatchObject({
          receipt: {
            counts: Object.fromEntries(others.map((kind) => [kind, FILLED[kind]])),
            artefacts: name === "postgres" ? 0 : 1,
            outstanding: [name],
            complete: false,
          },
        });
        expect(await readable(direct, ann)).toEqual(kinds);

        proxy.set({});
        // A client waits a while between its attempts to connect.
        await waitFor("every member", async () => (await readable(store, bob)).length === KINDS.length);
        const owed = kinds.reduce((sum, kind) => sum + FILLED[kind], 0);
        const receipt = await store.erase(ann);
        expect(receipt).toMatchObject({ complete: true, outstanding: [], artefacts: name === "postgres" ? 1 : 0 });
        // What was held back reached the server after all: it is counted there, by whoever asks first.
        expect(receipt.records).toBe(owed);
        expect([...index.purged]).toEqual(["a"]);
        expect(await readable(direct, bob)).toEqual(KINDS);
        expect(await dump(addresses)).not.toMatch(/ann/);
        await direct.erase({ tenantId: "acme" });
      },
    );
  });

  it("among 32 writers and readers takes what was there, keeps what came after, and counts each once", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const addresses = servers.addresses;
    await using store = connect(addresses, { settings: { maxQueued: 10_000, queueTimeoutMs: 60_000 } });
    const users = [ann, bob, { tenantId: "acme", userId: "eve" }] as const;
    const written: Written[] = [];
    let isOver = false;
    const writers = Array.from({ length: 16 }, async (_, number) => {
      const scope = number < 8 ? ann : (users[1 + (number % 2)] ?? bob);
      for (let turn = 0; !isOver; turn += 1) written.push(await writeOne(store, scope, `${number}-${turn}`, turn));
    });
    const readers = Array.from({ length: 16 }, async (_, number) => {
      while (!isOver) await readable(store, users[number % 3] ?? bob);
    });
    const until = async (count: number): Promise<void> => {
      while (written.length < count) await new Promise((resolve) => setImmediate(resolve));
    };

    await until(600);
    const called = performance.now();
    const receipt = await store.erase(ann);
    const settled = performance.now();
    await until(written.length + 300);
    isOver = true;
    await Promise.all([...writers, ...readers]);

    const anns = written.filter(({ scope }) => scope === ann);
    const there = new Set(await listed(store, ann));
    const before = anns.filter(({ ended }) => ended < called);
    const after = anns.filter(({ began }) => began > settled);
    expect(before.length).toBeGreaterThan(100);
    expect(after.length).toBeGreaterThan(30);
    expect(before.filter(({ text }) => there.has(text))).toEqual([]);
    expect(after.filter(({ text }) => !there.has(text))).toEqual([]);
    const left = await dump(addresses);
    expect(before.filter(({ text }) => left.includes(`"${text}"`))).toEqual([]);
    for (const scope of users.slice(1)) {
      const own = new Set(await listed(store, scope));
      expect(written.filter((one) => one.scope === scope && !own.has(one.text))).toEqual([]);
    }
    const rest = await store.erase(ann);
    expect(receipt.records + rest.records).toBe(anns.length);
    expect(await dump(addresses)).not.toMatch(/ann/);
    await store.erase({ tenantId: "acme" });
    expect(await dump(addresses)).toBe("");
  });
});

interface Written {
  readonly scope: MemoryScope;
  readonly kind: MemoryKind;
  readonly text: string;
  readonly began: number;
  readonly ended: number;
}

async function writeOne(store: MemoryStore, scope: MemoryScope, name: string, turn: number): Promise<Written> {
  const text = `text of ${scope.userId} ${name}`;
  const record = { id: name, key: name, value: text, source: "test" };
  const kind = KINDS[turn % 4] ?? "working";
  const began = performance.now();
  if (kind === "working") await store.write(scope, record);
  else if (kind === "profile") await store.upsert(scope, record);
  else if (kind === "episodic") await store.log(scope, record);
  else await store.index(scope, { ...record, embedding: [1, 2, 3, turn + 1] });
  return { scope, kind, text, began, ended: performance.now() };
}

/** Every value that can be read of a scope. */
async function listed(store: MemoryStore, scope: MemoryScope): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { record } of exportScope(store, scope)) found.push(String(record.value));
  return found;
}

/** Lets a process erase up to a call, kills it there, and gives the calls that had their effect. */
async function killedAt(
  { redis, postgres, vectors }: Addresses,
  { at, when }: { readonly at: number; readonly when: string },
  purged: Set<string>,
): Promise<string> {
  const script = fileURLToPath(new URL("./dying-erasure.ts", import.meta.url));
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ["--conditions=@memory/source", script, redis, postgres, vectors, String(at), when],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env,
    },
  );
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("purged ")) purged.add(line.slice("purged ".length));
    if (!line.startsWith("died")) continue;
    child.kill("SIGKILL");
    await exited;
    return line;
  }
  throw new Error("the process ended before it was killed");
}
