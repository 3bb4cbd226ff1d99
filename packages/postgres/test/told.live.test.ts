// What is told to the caller where something fails: nothing of a record, of a scope or of a password.

import { inspect } from "node:util";
import { isMemoryError, type MemoryStoreSettingsInput, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();

describe.skipIf(lane.isMissing)("what is told of a failure", () => {
  let server: PostgresPrimary;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = (input: Partial<MemoryStoreSettingsInput> = {}) =>
    PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, ...input }), { redactor: null });

  it("holds nothing of a record, a scope or a password, whatever goes wrong", async () => {
    const secret = "s3cr3t-marker";
    const scope = memoryScope({ tenantId: `${secret}-tenant`, userId: `${secret}-user` });
    const record = {
      id: `${secret}-id`,
      key: `${secret}-key`,
      value: { a: `${secret}-value` },
      source: `${secret}-source`,
      metadata: { [`${secret}m`]: secret },
    };
    await server.psql(
      `CREATE ROLE reader LOGIN PASSWORD '${secret}-password'; GRANT USAGE ON SCHEMA memory TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA memory TO reader`,
    );
    await server.psql(
      "CREATE ROLE frozen LOGIN; GRANT USAGE ON SCHEMA memory TO frozen; GRANT ALL ON ALL TABLES IN SCHEMA memory TO frozen; ALTER ROLE frozen SET default_transaction_read_only = on",
    );
    const broken = await server.createDatabase("broken");
    await applySchema(broken);
    await asOwner(broken, (sql) =>
      sql.unsafe(
        "ALTER TABLE memory.episodes ADD CONSTRAINT no CHECK (length(value) > 1000); ALTER TABLE memory.profile_versions ADD CONSTRAINT no CHECK (length(value) > 1000)",
      ),
    );
    const password = `:${secret}-password@`;
    const cases: readonly (readonly [string, string])[] = [
      [server.url.replace("postgres@", `reader${password}`), "MEMORY_SCHEMA"],
      [server.url.replace("postgres@", `frozen${password}`), "MEMORY_UNAVAILABLE"],
      [server.url.replace("postgres@", `nobody${password}`), "MEMORY_UNAVAILABLE"],
      [server.url.replace("postgres@", `postgres${password}`).replace("/memory", `/${secret}`), "MEMORY_UNAVAILABLE"],
      [broken.replace("postgres@", `postgres${password}`), "MEMORY_UNAVAILABLE"],
      [`postgres://agent${password}127.0.0.1:1/${secret}`, "MEMORY_UNAVAILABLE"],
    ];
    for (const [dsn, code] of cases) {
      await using store = connect({ dsn, backoffMs: 1 });
      for (const call of [
        () => store.log(scope, record),
        () => store.logAll(scope, [record, { ...record, id: `${secret}2` }]),
        () => store.supersede(scope, record),
      ]) {
        const error: unknown = await call().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code });
        const said = [
          inspect(error, { depth: null, showHidden: false }),
          JSON.stringify(error),
          isMemoryError(error) ? inspect(error.cause, { depth: null }) + error.stack : "",
        ].join("\n");
        expect(said).not.toContain("s3cr3t");
      }
      expect(inspect(store, { depth: null, showHidden: true })).not.toContain("s3cr3t");
    }
    // A column that is damaged.
    await using store = connect();
    await store.log(scope, { ...record, id: "damaged" });
    await asOwner(server.url, (sql) =>
      sql.unsafe("UPDATE memory.episodes SET redacted = '{s3cr3t' WHERE id = 'damaged'"),
    );
    const error: unknown = await store.episodes(scope).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "MEMORY_CORRUPTION" });
    expect(inspect(error, { depth: null })).not.toContain("s3cr3t");
  });
});
