// What a connection string means, without a server.

import { isMemoryError } from "@memory/core";
import { describe, expect, it } from "vitest";
import { parseTarget } from "./connect.ts";

describe("parseTarget", () => {
  it("reads a standalone server with user, password, database and TLS", () => {
    expect(parseTarget("rediss://app:p%40ss@h:7000/3")).toEqual({
      kind: "standalone",
      hosts: [{ host: "h", port: 7000 }],
      isTls: true,
      username: "app",
      password: "p@ss",
      db: 3,
      master: undefined,
    });
    expect(parseTarget("redis://[::1]?db=2")).toMatchObject({ hosts: [{ host: "::1", port: 6379 }], db: 2 });
  });

  it("takes several hosts, or `cluster=true`, for a cluster", () => {
    const hosts = [
      { host: "a", port: 1 },
      { host: "b", port: 6379 },
    ];
    expect(parseTarget("redis://a:1,b")).toMatchObject({ kind: "cluster", hosts });
    expect(parseTarget("redis://a?cluster=true")).toMatchObject({
      kind: "cluster",
      hosts: [{ host: "a", port: 6379 }],
    });
  });

  it("reads Sentinels, the master's name and a database", () => {
    const hosts = [
      { host: "a", port: 26379 },
      { host: "b", port: 5 },
    ];
    const target = parseTarget("redis+sentinel://:secret-word@a,b:5/my%20master/4");
    expect(target).toMatchObject({ kind: "sentinel", hosts, master: "my master", db: 4, password: "secret-word" });
    expect(parseTarget("rediss+sentinel://a/m").isTls).toBe(true);
  });

  it.each([
    "postgres://h/db",
    "redis://",
    "redis://h/one",
    "redis://h/1/2",
    "redis://a,b/1",
    "redis+sentinel://a",
    "redis://h?password=x",
    "redis://h/-1",
  ])("refuses %s, and says nothing of it", (dsn) => {
    const attempt = (): unknown => parseTarget(dsn);
    expect(attempt).toThrow();
    try {
      attempt();
    } catch (error) {
      expect(isMemoryError(error, "MEMORY_SETTINGS") && error.setting).toBe("dsn");
      expect(String(error)).not.toContain(dsn);
    }
  });
});
