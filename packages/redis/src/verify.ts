// What `verify()` looks at: whether the server can do what the driver needs, and whether it is set up to lose what it holds.

import { MemorySchemaError, type MemoryWarning } from "@memory/core/driver";
import { PROBE } from "./lua.ts";
import type { RedisClient, Scripts } from "./script.ts";

/** The oldest server: `PEXPIREAT ... GT` and `PEXPIRETIME` came with 7.0, and Valkey's oldest is 7.2. */
const OLDEST: readonly [number, number] = [7, 0];

/**
 * Checks that the server is reachable, new enough and runs scripts.
 *
 * @param probe A name that the user must be allowed to use.
 * @returns `redis-eviction`: `maxmemory-policy` can drop keys that have no expiry; `redis-persistence`: the server saves
 * nothing; `redis-unchecked`: this user may not ask (`INFO` or `CONFIG GET` is forbidden).
 * @throws {MemorySchemaError} The server is too old, or may not run scripts.
 */
export async function verifyServer(
  client: RedisClient,
  scripts: Scripts,
  probe: string,
): Promise<readonly MemoryWarning[]> {
  await scripts.ready();
  await client.ping();
  const warnings: MemoryWarning[] = [];
  const info = await asked(() => client.info("server"));
  if (info === undefined) warnings.push(unchecked("its version", "INFO"));
  else checkVersion(info);
  try {
    await scripts.run(PROBE, [probe], []);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const finding =
      "the user may not run scripts: allow +evalsha and +eval, and the commands of @memory/redis's manual";
    throw new MemorySchemaError(finding, { findings: [finding] }, error);
  }
  const policy = await asked(() => setting(client, "maxmemory-policy"));
  const save = await asked(() => setting(client, "save"));
  const appendOnly = await asked(() => setting(client, "appendonly"));
  if (policy === undefined || save === undefined || appendOnly === undefined) {
    warnings.push(unchecked("eviction and persistence", "CONFIG GET"));
  }
  if (policy?.startsWith("allkeys-")) {
    warnings.push({
      code: "redis-eviction",
      message: `maxmemory-policy ${policy} can drop keys that have no expiry; noeviction or a volatile- policy keeps them`,
    });
  }
  if (save === "" && appendOnly === "no") {
    warnings.push({
      code: "redis-persistence",
      message: "the server saves nothing (save is empty, appendonly is no): a restart loses every record",
    });
  }
  return warnings;
}

function checkVersion(info: string): void {
  // A Valkey names the Redis it is compatible with here, 7.2.4.
  const [, major = "0", minor = "0"] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  if (Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])) return;
  const finding = `the server is version ${Number(major)}.${Number(minor)}; this driver needs ${OLDEST.join(".")} or newer`;
  throw new MemorySchemaError(finding, { findings: [finding] });
}

/** Undefined when the user may not ask, or the service has taken the command away. */
async function asked(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

async function setting(client: RedisClient, name: string): Promise<string | undefined> {
  const reply: unknown = await client.config("GET", name);
  const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
  if (typeof value === "string") return value;
  return typeof reply === "object" && reply !== null ? String(Reflect.get(reply, name) ?? "") : undefined;
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && /^(?:NOPERM|ERR unknown command|ERR unknown subcommand)/.test(error.message);
}

function unchecked(what: string, command: string): MemoryWarning {
  return { code: "redis-unchecked", message: `${what} could not be checked: this user may not run ${command}` };
}
