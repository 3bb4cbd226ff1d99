// Several hosts in the connection string: whatever is wrong with one, the next is used, in the same attempt, and the one
// that served is asked first from then on, until it serves no more.

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type MemoryStoreSettingsInput, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary, type PostgresStandby, startProxy, waitFor } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

interface Place {
  readonly host: string;
  readonly port: number;
}

const lane = findPostgres();

/** A listener that does one thing to whoever connects; what speaks here is no server yet, or none any more. */
async function startListener(take: (socket: Socket) => void) {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.on("error", () => undefined);
    take(socket);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    host: "127.0.0.1",
    port: address.port,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      listener.close();
    },
  };
}

/** FATAL 57P03, as a server answers that is starting up (ErrorResponse, PostgreSQL manual, chapter 55.7). */
function startingUp(): Buffer {
  const fields = Buffer.from("SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0");
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

const WRONGS: Readonly<Record<string, (socket: Socket) => void>> = {
  "resets it": (socket) => socket.resetAndDestroy(),
  "resets it when it is greeted": (socket) => socket.once("data", () => socket.resetAndDestroy()),
  "ends it": (socket) => socket.end(),
  "ends it when it is greeted": (socket) => socket.once("data", () => socket.end()),
  "says nothing": () => undefined,
  "is starting up": (socket) => socket.once("data", () => socket.end(startingUp())),
};

describe.skipIf(lane.isMissing)("several hosts", () => {
  let server: PostgresPrimary;
  let standby: PostgresStandby;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
    standby = await server.createStandby();
  });
  afterAll(async () => {
    await standby?.stop();
    await server?.stop();
  });

  const connect = (places: readonly Place[], input: Partial<MemoryStoreSettingsInput> = {}) => {
    const hosts = places.map(({ host, port }) => `${host}:${port}`).join(",");
    const dsn = `postgres://${server.user}@${hosts}/${server.database}`;
    return PostgresMemoryStore.connect(
      memoryStoreSettings({ dsn, poolSize: 4, attemptTimeoutMs: 2_000, maxAttempts: 1, ...input }),
    );
  };
  const newScope = () => memoryScope({ tenantId: `hosts-${++count}` });
  const episode = (id: string) => ({ id, key: "turn", value: id, source: "test" });

  it.each(Object.entries(WRONGS))(
    "leaves the one that takes a connection and %s, at the first attempt",
    async (_, take) => {
      await using wrong = await startListener(take);
      await using store = connect([wrong, server]);
      const scope = newScope();
      await Promise.all([...Array(8).keys()].map((n) => store.log(scope, episode(`e${n}`))));
      expect(await store.episodes(scope)).toHaveLength(8);
      expect(wrong.connections).toBeGreaterThan(0);
    },
  );

  it("leaves a standby, and one behind a proxy whose server is gone", async () => {
    await using gone = await startProxy({ host: "127.0.0.1", port: 1 });
    await using store = connect([gone, standby, server]);
    const scope = newScope();
    await store.log(scope, episode("e"));
    expect(gone.counts().connections).toBe(1);
    expect(await store.episodes(scope)).toHaveLength(1);
  });

  it("begins with the one that served last", async () => {
    await using wrong = await startListener((socket) => socket.resetAndDestroy());
    await using store = connect([wrong, server], { maxAttempts: 3 });
    const scope = newScope();
    for (let n = 0; n < 4; n += 1) {
      await store.log(scope, episode(`e${n}`));
      await server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%episodes%' AND pid <> pg_backend_pid()",
      );
    }
    expect(wrong.connections).toBe(1);
  });

  it("goes over when the one that serves is gone, and back again when the other is", async () => {
    const gone = { host: "127.0.0.1", port: 1 };
    await using first = await startProxy(server);
    await using second = await startProxy(gone);
    await using store = connect([first, second], { maxAttempts: 3 });
    const scope = newScope();
    for (const [round, [there, away]] of [
      [first, second] as const,
      [second, first] as const,
      [first, second] as const,
    ].entries()) {
      there.retarget(server);
      away.retarget(gone);
      away.reset();
      for (let n = 0; n < 5; n += 1) await store.log(scope, episode(`r${round}-${n}`));
      expect(there.counts().open).toBeGreaterThan(0);
      expect(away.counts().open).toBe(0);
    }
    expect(await store.episodes(scope, { limit: 100 })).toHaveLength(15);
  });

  it("leaves the one that falls silent, and its other connections before each has cost an attempt", async () => {
    await using first = await startProxy(server);
    await using second = await startProxy(server);
    await using store = connect([first, second], { attemptTimeoutMs: 1_500, maxAttempts: 3 });
    const scope = newScope();
    await Promise.all([...Array(4).keys()].map((n) => store.log(scope, episode(`e${n}`))));
    expect(first.counts().open).toBe(4);
    first.set({ blackHole: true });
    expect(await store.episodes(scope)).toHaveLength(4);
    expect(second.counts().open).toBe(1);
  });

  it("leaves the one that takes no more writes, and its connections with it", async () => {
    await using other = await lane.start();
    await applySchema(other.url);
    await using store = connect([server, other], { maxAttempts: 2 });
    const scope = newScope();
    await Promise.all([...Array(4).keys()].map((n) => store.log(scope, episode(`before${n}`))));
    await server.psql("ALTER SYSTEM SET default_transaction_read_only = on");
    await server.psql("SELECT pg_reload_conf()");
    try {
      let logged = 0;
      // Each session hears of it before its next statement, some time after the call.
      await waitFor("the other one to be used", async () => {
        await store.log(scope, episode(`after${++logged}`));
        return (await other.psql(`SELECT count(*) FROM memory.episodes WHERE tenant_id = '${scope.tenantId}'`)) !== "0";
      });
    } finally {
      await server.psql("ALTER SYSTEM RESET default_transaction_read_only");
      await server.psql("SELECT pg_reload_conf()");
    }
  });

  it("says where none serves that nothing was done, and why", async () => {
    await using silent = await startListener(() => undefined);
    await using closing = await startListener((socket) => socket.end());
    await using store = connect([closing, silent, standby], { attemptTimeoutMs: 900 });
    await expect(store.log(newScope(), episode("e"))).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      attempts: 1,
      outcome: "not-applied",
      cause: { code: "READ_ONLY_HOST" },
    });
  });

  it("does not ask the others what a wrong password is", async () => {
    await using guarded = await lane.start({ password: "correct horse" });
    await using next = await startProxy(server);
    await using store = connect([guarded, next]);
    await expect(store.episodes(newScope())).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      outcome: "not-applied",
    });
    expect(next.counts().connections).toBe(0);
  });

  it("stops asking when its caller does", async () => {
    await using silent = await startListener(() => undefined);
    await using next = await startProxy(server);
    await using store = connect([silent, next], { attemptTimeoutMs: 60_000 });
    const controller = new AbortController();
    const call = store.log(newScope(), episode("e"), { signal: controller.signal });
    const failed = expect(call).rejects.toThrow("enough");
    while (silent.connections === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(new Error("enough"));
    await failed;
    expect(next.counts().connections).toBe(0);
  });
});

describe.skipIf(lane.isMissing)("one host", () => {
  it.each(Object.entries(WRONGS))("that takes a connection and %s: nothing was done", async (_, take) => {
    await using wrong = await startListener(take);
    const dsn = `postgres://agent@${wrong.host}:${wrong.port}/memory`;
    await using store = PostgresMemoryStore.connect(
      memoryStoreSettings({ dsn, attemptTimeoutMs: 500, maxAttempts: 2 }),
    );
    await expect(
      store.log(memoryScope({ tenantId: "one" }), { key: "turn", value: 1, source: "test" }),
    ).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 2, outcome: "not-applied" });
  });
});
