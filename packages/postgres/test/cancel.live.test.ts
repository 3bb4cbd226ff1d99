// Requests to cancel a statement travel on connections of their own, which break as others do: nothing of that is left to
// nobody, and the store goes on.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary, waitFor } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();

// CancelRequest: a length of 16, then this code (PostgreSQL, Frontend/Backend Protocol, Message Formats).
const CANCEL_CODE = 80_877_102;

describe.skipIf(lane.isMissing)("a request to cancel", () => {
  let server: PostgresPrimary;
  let count = 0;
  const unheard: unknown[] = [];
  const hear = (error: unknown): void => {
    unheard.push(error);
  };

  beforeAll(async () => {
    process.on("unhandledRejection", hear).on("uncaughtException", hear);
    server = await lane.start();
    await applySchema(server.url);
  });
  afterAll(async () => {
    process.off("unhandledRejection", hear).off("uncaughtException", hear);
    await server?.stop();
  });

  /** A listener in front of the server that resets connections which ask to cancel, before or after the server hears it. */
  async function resetting(isHeard: boolean) {
    let resets = 0;
    const links = new Set<Socket>();
    const listener = createServer((near) => {
      const far = connect(server.port, server.host);
      for (const socket of [near, far]) links.add(socket.on("error", () => {}).on("close", () => links.delete(socket)));
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      far.on("data", (chunk: Buffer) => near.write(chunk));
      near.on("data", (chunk: Buffer) => {
        if (chunk.length !== 16 || chunk.readUInt32BE(4) !== CANCEL_CODE) {
          far.write(chunk);
          return;
        }
        resets += 1;
        if (isHeard) far.write(chunk, () => near.resetAndDestroy());
        else near.resetAndDestroy();
      });
    });
    await once(listener.listen(0, "127.0.0.1"), "listening");
    const address = listener.address();
    const url = new URL(server.url);
    url.port = String(typeof address === "object" && address !== null ? address.port : 0);
    return {
      url: url.href,
      resets: () => resets,
      [Symbol.asyncDispose]: async () => {
        for (const socket of links) socket.destroy();
        listener.close();
      },
    };
  }

  it.each([
    { isOwn: true, isHeard: false },
    { isOwn: true, isHeard: true },
    { isOwn: false, isHeard: false },
    { isOwn: false, isHeard: true },
  ])("may be reset on its way: nothing goes unheard, and the store goes on (%o)", async ({ isOwn, isHeard }) => {
    await using proxy = await resetting(isHeard);
    const sql = isOwn ? undefined : postgres(proxy.url, { max: 2, onnotice: () => {} });
    const store =
      sql === undefined
        ? PostgresMemoryStore.connect(memoryStoreSettings({ dsn: proxy.url, poolSize: 2 }))
        : new PostgresMemoryStore(sql);
    const scope = memoryScope({ tenantId: `cancel-${++count}` });
    const episode = (id: string) => ({ id, key: "k", value: 1, source: "t" });
    await store.log(scope, episode("before"));
    const reason = new Error("enough");
    await asOwner(server.url, async (owner) => {
      await owner.unsafe("BEGIN; LOCK TABLE memory.episodes IN ACCESS EXCLUSIVE MODE");
      const controller = new AbortController();
      const calls = ["one", "two"].map((id) => store.log(scope, episode(id), { signal: controller.signal }));
      const settled = Promise.allSettled(calls);
      await waitFor(
        "the calls to wait",
        async () => (await server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) === "2",
      );
      controller.abort(reason);
      expect(await settled).toEqual(calls.map(() => ({ status: "rejected", reason })));
      await waitFor("the requests to be reset", async () => proxy.resets() === 2);
      await owner.unsafe("ROLLBACK");
    });
    await Promise.all([...Array(10).keys()].map((n) => store.log(scope, episode(`after ${n}`))));
    expect((await store.episodes(scope, { limit: 20 })).length).toBeGreaterThanOrEqual(11);
    await store.close();
    await sql?.end({ timeout: 1 });
    expect(unheard).toEqual([]);
  });
});
