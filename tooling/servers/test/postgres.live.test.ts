// What the handle of a PostgreSQL server promises, seen through psql.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPostgres, findPostgresContainer, MissingServerError, type PostgresServer } from "../src/index.ts";

const local = findPostgres();
const lanes = [
  ["of the test's own", local],
  ["in a container", await findPostgresContainer({ isOptional: true })],
] as const;

describe.each(lanes)("a PostgreSQL server %s", (_, lane) => {
  describe.skipIf(lane.isMissing)("with a password", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await lane.start({ password: "for tests: only", settings: { max_connections: "30" } });
      await server.psql("CREATE TABLE kept (n int)");
    });
    afterAll(() => server?.stop());

    test("takes its settings, and its version is the one that was found", async () => {
      expect(await server.psql("SHOW max_connections")).toBe("30");
      expect(await server.psql("SHOW server_version")).toContain(server.version);
      expect(lane.version ?? server.version).toBe(server.version);
      const available = await server.psql("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'");
      expect(available === "1").toBe(server.hasVector);
    });

    test("says what is wrong with a statement", async () => {
      await expect(server.psql("SELECT nothing")).rejects.toThrow(/column "nothing" does not exist/);
    });

    test("makes databases", async () => {
      expect(new URL(await server.createDatabase("other")).pathname).toBe("/other");
      expect(await server.psql("SELECT current_database()", "other")).toBe("other");
    });

    test("keeps what was committed over a kill and a restart", async () => {
      await server.psql("INSERT INTO kept VALUES (1)");
      await server.kill();
      expect(server.isRunning).toBe(false);
      await server.restart();
      expect(await server.psql("SELECT n FROM kept")).toBe("1");
    });

    test("is silent while it is paused, backends too", { timeout: 60_000 }, async () => {
      // It would answer in 5 s; a busy machine takes a part of them to see that it runs.
      const answer = server.psql("SELECT pg_sleep(5), 'awake'");
      await expect
        .poll(() => server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%awake%'"), { timeout: 4_500 })
        .toBe("2");
      await server.pause();
      const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 6_000, "silence"))]);
      await server.resume();
      expect(first).toBe("silence");
      expect(await answer).toBe("|awake");
    });
  });

  test.skipIf(local.isMissing)("is none where it lacks an extension that is asked for", async () => {
    const wish = { extensions: ["plpgsql", "nowhere"] };
    if (process.env["CI"] === "true") expect(() => findPostgres(wish)).toThrow(MissingServerError);
    const lacking = findPostgres({ ...wish, isOptional: true });
    expect(lacking).toMatchObject({ isMissing: true, description: expect.stringContaining("nowhere") });
    await expect(lacking.start()).rejects.toBeInstanceOf(MissingServerError);
    expect(findPostgres({ extensions: ["plpgsql"] }).isMissing).toBe(false);
  });

  test.skipIf(lane.isMissing)("has an extension in every database, or says that it cannot", async () => {
    await expect(lane.start({ extensions: ["nowhere"] })).rejects.toBeInstanceOf(MissingServerError);
    await using server = await lane.start({ extensions: ["btree_gin"] });
    await server.createDatabase("other");
    const has = "SELECT count(*) FROM pg_extension WHERE extname = 'btree_gin'";
    expect(await server.psql(has)).toBe("1");
    expect(await server.psql(has, "other")).toBe("1");
  });
});

describe.skipIf(local.isMissing)("a primary", () => {
  test("a synchronous standby holds what was acknowledged and takes writes when promoted", async () => {
    await using server = await local.start({ password: "for tests: only" });
    await server.psql("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    await using standby = await server.createStandby({ synchronous: true });
    await server.psql("INSERT INTO kept VALUES (2)");
    await expect(standby.psql("INSERT INTO kept VALUES (3)")).rejects.toThrow();
    await server.kill();
    await standby.promote();
    await standby.psql("INSERT INTO kept VALUES (4)");
    expect(await standby.psql("SELECT string_agg(n::text, ',' ORDER BY n) FROM kept")).toBe("1,2,4");
  });
});
