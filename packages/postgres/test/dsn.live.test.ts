// Connection strings in all the forms that the settings take: each reaches its server, or is refused by name and with
// nothing of the password in it.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

const lane = findPostgres();
const CANARY = "c4nary-of-a-password";
const impatient = { attemptTimeoutMs: 2_000, connectTimeoutMs: 2_000, maxAttempts: 1 };

function openAt(dsn: string): PostgresMemoryStore {
  return PostgresMemoryStore.connect(memoryStoreSettings({ dsn, ...impatient }));
}

describe.skipIf(lane.isMissing)("a connection string names its server", () => {
  let server: PostgresPrimary;
  let folder: string;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
    folder = await mkdtemp(join(tmpdir(), "memory dsn"));
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A listener in front of the server, and how many connections it took. */
  async function listenAt(place: ListenOptions) {
    let taken = 0;
    const { hostname, port } = new URL(server.url);
    const listener = createServer((near) => {
      taken += 1;
      const far = connect(Number(port), hostname);
      near.pipe(far).on("error", () => near.destroy());
      far.pipe(near).on("error", () => far.destroy());
    });
    await once(listener.listen(place), "listening");
    const address = listener.address();
    return {
      port: typeof address === "object" && address !== null ? address.port : 0,
      taken: () => taken,
      [Symbol.asyncDispose]: async () => void listener.close(),
    };
  }

  const at = (hosts: string) => {
    const { username, pathname } = new URL(server.url);
    return `postgres://${username}@${hosts}${pathname}`;
  };

  async function served(dsn: string): Promise<void> {
    await using store = openAt(dsn);
    await store.log({ tenantId: "acme" }, { key: "k", value: 1, source: "test" });
  }

  it("by its IPv6 address, alone and before and after another one", async () => {
    await using six = await listenAt({ host: "::1", port: 0, ipv6Only: true });
    await served(at(`[::1]:${six.port}`));
    expect(six.taken()).toBe(1);
    await served(at(`[::1]:${six.port},127.0.0.1:1`));
    expect(six.taken()).toBe(2);
    await served(at(`127.0.0.1:1,[::1]:${six.port}`));
    expect(six.taken()).toBe(3);
  });

  it.each(["require", "verify-full"])("and is told at once that it has no TLS, by sslmode=%s", async (sslmode) => {
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: `${server.url}?sslmode=${sslmode}` }));
    const error: unknown = await store.episodes({ tenantId: "acme" }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 1, outcome: "not-applied" });
    expect(error).toHaveProperty("cause.code", "SERVER_WITHOUT_TLS");
  });

  it("without TLS where it has none, by sslmode=prefer", async () => {
    await served(`${server.url}?sslmode=prefer`);
  });

  it("by the folder of its Unix socket, percent-encoded", async () => {
    await using socket = await listenAt({ path: join(folder, ".s.PGSQL.6543") });
    await served(at(`${encodeURIComponent(folder)}:6543`));
    expect(socket.taken()).toBe(1);
  });
});

test.each([
  ["another server's scheme", `mysql://user:${CANARY}@localhost/db`],
  ["no scheme that is known", `postgresq://user:${CANARY}@localhost/db`],
  ["a user and no host", `postgres://user:${CANARY}@/db?host=/run/postgresql`],
  ["an address with a zone", `postgres://user:${CANARY}@[fe80::1%25eth0]:5432/db`],
  ["an address with a zone that is not encoded", `postgres://user:${CANARY}@[fe80::1%eth0]/db`],
  ["an address that is none", `postgres://user:${CANARY}@[1.2.3]/db`],
  ["a socket's folder among several hosts", `postgres://user:${CANARY}@h:1,%2Frun%2Fpostgresql/db`],
  ["a host that is badly encoded", `postgres://user:${CANARY}@h%zz/db`],
])("%s is refused, and nothing of the connection string told", (_what, dsn) => {
  const refused = () => openAt(dsn);
  expect(refused).toThrow(expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "dsn" }));
  try {
    refused();
  } catch (error) {
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(CANARY);
  }
});
