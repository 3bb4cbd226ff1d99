// A PostgreSQL server on a small disk: it refuses writes while the disk is full, and takes them again.

import { describe, expect, test } from "vitest";
import { canMountDisk, findPostgres } from "../src/index.ts";

const lane = findPostgres();

describe.skipIf(lane.isMissing || !canMountDisk())("a PostgreSQL server on a small disk", () => {
  test("runs full when it is told to, and has room again", { timeout: 60_000 }, async () => {
    await using server = await lane.start({ diskMb: 144, password: "for tests only" });
    await server.psql("CREATE TABLE kept (text text)");
    server.fillDisk();
    const much = "INSERT INTO kept SELECT repeat(md5(random()::text), 200) FROM generate_series(1, 20000)";
    await expect(server.psql(much)).rejects.toThrow(/No space left on device|server closed the connection/);
    server.freeDisk();
    if (!server.isRunning) await server.restart();
    await expect
      .poll(() => server.psql("SELECT count(*) FROM kept").catch(() => undefined), { timeout: 20_000 })
      .toBe("0");
    await server.psql("INSERT INTO kept VALUES ('room')");
  });

  test("has no ballast where the disk is not its own", { timeout: 60_000 }, async () => {
    await using server = await lane.start();
    expect(() => server.fillDisk()).toThrow(/no disk of its own/);
  });
});
