// Settings: what is taken, what is refused and under which name, and that no message shows any of the connection string.

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { isMemoryError, MemorySettingsError } from "./model/errors.ts";
import { SecretString } from "./secret.ts";
import { memoryStoreSettings, runtimeSettings } from "./settings.ts";

const DSN = "postgres://app:Tr0ub4dor-3@db.internal:5432/memory";

function settingOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    if (isMemoryError(error, "MEMORY_SETTINGS")) return error.setting;
    throw error;
  }
  return undefined;
}

function withInput(input: unknown): () => unknown {
  // What JavaScript callers can pass, whatever the types say.
  return () => Reflect.apply(memoryStoreSettings, undefined, [input]);
}

describe("memoryStoreSettings", () => {
  test("fills in the defaults, wraps the connection string and freezes", () => {
    const settings = memoryStoreSettings({ dsn: DSN });
    expect({ ...settings, dsn: settings.dsn.reveal() }).toEqual({
      dsn: DSN,
      poolSize: 10,
      maxInFlight: 10_000,
      maxQueued: 1_000,
      queueTimeoutMs: 1_000,
      connectTimeoutMs: 5_000,
      attemptTimeoutMs: 5_000,
      maxAttempts: 3,
      backoffMs: 50,
      prepare: true,
    });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(JSON.stringify(settings) + inspect(settings, { showHidden: true, depth: 9 })).not.toContain("Tr0ub4dor");
  });

  test("takes a secret, what is given, and undefined as left out", () => {
    const settings = memoryStoreSettings({
      dsn: new SecretString(DSN),
      poolSize: 2,
      prepare: false,
      backoffMs: undefined,
    });
    expect([settings.dsn.reveal(), settings.poolSize, settings.prepare, settings.backoffMs]).toEqual([
      DSN,
      2,
      false,
      50,
    ]);
  });

  test.each([
    ["poolSize", 0],
    ["poolSize", 1_001],
    ["poolSize", 1.5],
    ["poolSize", "10"],
    ["poolSize", null],
    ["maxInFlight", Number.POSITIVE_INFINITY],
    ["maxQueued", -1],
    ["queueTimeoutMs", 0],
    ["connectTimeoutMs", Number.NaN],
    ["attemptTimeoutMs", 600_001],
    ["maxAttempts", 0],
    ["maxAttempts", 21],
    ["backoffMs", -1],
    ["prepare", "false"],
    ["poolsize", 10],
    ["ssl", true],
  ])("refuses %s: %o by its name", (name, value) => {
    expect(settingOf(withInput({ dsn: DSN, [name]: value }))).toBe(name);
    expect(settingOf(() => Reflect.apply(runtimeSettings, undefined, [{ [name]: value }]))).toBe(name);
  });

  test.each([[undefined], [null], [DSN], [7]])("refuses %o in place of the settings", (input) => {
    expect(settingOf(withInput(input))).toBeDefined();
  });

  test.each([
    [undefined],
    [null],
    [7],
    [{}],
    [""],
    ["   "],
    ["db.internal:5432"],
    ["host=db user=app password=Tr0ub4dor-3"],
    ["postgres:/db"],
    [`${DSN}\n`],
    ["postgres://app:Tr0ub4dor 3@db/memory"],
    ["postgres://app:Tr0ub4dor/3@db/memory"],
    ["postgres://app:12/Tr0ub4dor@db/memory"],
    ["postgres://app:Tr0ub4dor%zz@db/memory"],
    ["postgres://app:Tr0ub4dor-3@db:port/memory"],
    ["postgres://app:Tr0ub4dor-3@db:70000/memory"],
    ["postgres://app:Tr0ub4dor-3@db,,other/memory"],
  ])("refuses the connection string %o, and says nothing of it", (dsn) => {
    const attempt = withInput({ dsn });
    expect(settingOf(attempt)).toBe("dsn");
    try {
      attempt();
    } catch (error) {
      expect(inspect(error, { showHidden: true, depth: 9 }) + JSON.stringify(error)).not.toMatch(
        /Tr0ub4dor|memory"|db\./,
      );
    }
  });

  test.each([
    ["postgres://app:postgres@db/memory"],
    ["postgres://app:mysecretpassword@db/memory"],
    ["postgresql://app:PassWord@db/memory"],
    ["postgres://app:p%40ssw0rd@db/memory"],
    ["postgres://app:%70ostgres@db/memory"],
    ["postgres://app:%2570ostgres@db/memory"],
    ["postgres://app:%252570ostgres@db/memory"],
    ["postgres://app:changeme@h1:1,h2:2/memory"],
    ["postgres://app@db/memory?password=changeme"],
    ["postgres://app@db/memory?sslmode=require&PASSWORD=%63hangeme#x"],
    ["postgres://app:Tr0ub4dor-3@db/memory?password=secret"],
    ["postgres://db/memory?user=app&password=app"],
    ["postgres://app:app@db/memory"],
    ["postgres://App:aPP@db/memory"],
    ["postgres://acme%20app:acme%2520app@db/memory"],
    ["postgres://app:undefined@db/memory"],
    ["redis://:redis@cache:6379"],
    ["redis://:foobared@cache"],
    ["redis://default:default@h1:1,h2:2"],
    ["rediss://:123456@cache"],
    ["postgres://app:%20secret%20@db/memory"],
  ])("refuses the shipped or guessable password of %s", (dsn) => {
    expect(settingOf(() => memoryStoreSettings({ dsn }))).toBe("dsn");
    expect(settingOf(() => memoryStoreSettings({ dsn: new SecretString(dsn) }))).toBe("dsn");
  });

  test.each([
    [DSN],
    ["postgres://app@db/memory"],
    ["postgres://app:@db/memory"],
    ["postgres:///memory?host=/var/run/postgresql"],
    ["postgres://app@%2Fvar%2Frun%2Fpostgresql/memory"],
    ["postgres://app:Tr0ub4dor-3@h1:1,h2:2/memory?target_session_attrs=primary"],
    ["postgres://app:Tr0ub4dor-3@[::1]:5432/memory"],
    ["postgres://postgres:Tr0ub4dor-3@db/postgres"],
    ["postgres://app:a%3Ab%2Fc%40d%25@db/memory"],
    ["postgres://app:a:b:c@db/memory"],
    ["postgres://app:postgres2@db/memory"],
    ["redis://cache"],
    ["redis://h1:1,h2:2"],
    ["rediss://:Tr0ub4dor-3@cache:6380/2?family=6"],
    ["redis+sentinel://:Tr0ub4dor-3@s1:26379,s2:26379/mymaster"],
    ["redis:///run/redis/redis.sock"],
  ])("takes %s", (dsn) => {
    expect(memoryStoreSettings({ dsn }).dsn.reveal()).toBe(dsn);
  });
});

describe("runtimeSettings", () => {
  test("gives the defaults, frozen, without a connection string", () => {
    const settings = runtimeSettings();
    expect(settings.maxAttempts).toBe(3);
    expect("dsn" in settings).toBe(false);
    expect(Object.isFrozen(settings)).toBe(true);
  });

  test("takes whole settings and leaves their connection string out", () => {
    const settings = runtimeSettings(memoryStoreSettings({ dsn: DSN, maxAttempts: 7 }));
    expect(settings.maxAttempts).toBe(7);
    expect("dsn" in settings).toBe(false);
  });

  test("refuses what is not an object", () => {
    expect(() => Reflect.apply(runtimeSettings, undefined, [null])).toThrow(MemorySettingsError);
  });
});
