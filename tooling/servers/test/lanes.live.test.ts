// Which server a test gets, and what a missing one means.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  findPostgresContainer,
  findRedis,
  MissingServerError,
  namedPostgresUrl,
  startRedis,
} from "../src/index.ts";

const lane = await findRedis();
const missing = { major: 9 };

beforeEach(() => {
  vi.stubEnv("MEMORY_LIVE", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a missing server", () => {
  test("fails where servers are promised", () => {
    vi.stubEnv("CI", "true");
    expect(() => findPostgres(missing)).toThrow(MissingServerError);
    expect(findPostgres({ ...missing, isOptional: true }).isMissing).toBe(true);
  });

  test("fails where the environment names its image", async () => {
    vi.stubEnv("CI", "true");
    vi.stubEnv("ADK_TEST_POSTGRES_IMAGE", "memory.invalid/postgres:0");
    await expect(findPostgresContainer({ isOptional: true })).rejects.toBeInstanceOf(MissingServerError);
    vi.stubEnv("CI", "");
    expect((await findPostgresContainer()).isMissing).toBe(true);
  });

  test("is said elsewhere, and cannot be started", async () => {
    vi.stubEnv("CI", "");
    const found = findPostgres(missing);
    expect(found.isMissing).toBe(true);
    await expect(found.start()).rejects.toBeInstanceOf(MissingServerError);
  });
});

describe.skipIf(lane.isMissing)("a server that the person names", () => {
  test("is used for who takes any, live only, and is never broken", async () => {
    await using server = await lane.start({ password: "for:tests/only" });
    vi.stubEnv("ADK_TEST_REDIS_URL", server.url);
    await using own = await startRedis({ mayBeNamed: true });
    expect(own.source).not.toBe("named");

    vi.stubEnv("MEMORY_LIVE", "1");
    const named = await startRedis({ mayBeNamed: true });
    expect(named).toMatchObject({ source: "named", port: server.port, version: server.version });
    expect(await named.cli("PING")).toBe("PONG");
    await expect(named.kill()).rejects.toThrow();
    await named.stop();
    expect(await server.cli("PING")).toBe("PONG");
    await using unnamed = await startRedis();
    expect(unnamed.source).not.toBe("named");
    await expect(startRedis({ mayBeNamed: true, appendOnly: true })).rejects.toBeInstanceOf(MissingServerError);
  });

  test("is no PostgreSQL either but live", () => {
    vi.stubEnv("ADK_TEST_POSTGRES_DSN", "postgres://somewhere");
    expect(namedPostgresUrl()).toBeUndefined();
    vi.stubEnv("MEMORY_LIVE", "1");
    expect(namedPostgresUrl()).toBe("postgres://somewhere");
  });
});
