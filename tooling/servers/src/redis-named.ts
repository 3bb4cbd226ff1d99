// The Redis server that a person names for `npm run test:live`. It is not ours: it is neither stopped nor broken.

import { MissingServerError } from "./missing.ts";
import type { RedisLane, RedisServer } from "./redis.ts";
import { ask } from "./resp.ts";

/** The lane of a named server. Its URL is never printed: it may hold a password. */
export async function findNamedRedis(url: string): Promise<RedisLane> {
  const { hostname: host, port, username, password, protocol } = new URL(url);
  const entrance = {
    host,
    port: Number(port === "" ? 6379 : port),
    username: username === "" ? undefined : decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
    // The system's own authorities judge a named server.
    tls: protocol === "rediss:",
  };
  const info = `${await ask(entrance, ["INFO", "server"])}`;
  const valkey = /valkey_version:([\d.]+)/.exec(info)?.[1];
  const version = valkey ?? /redis_version:([\d.]+)/.exec(info)?.[1] ?? "unknown";
  const flavour = valkey === undefined ? "redis" : "valkey";
  const refuse = () => Promise.reject(new Error("a server named by ADK_TEST_REDIS_URL is not to be broken"));
  const leave = () => Promise.resolve();
  const server: RedisServer = {
    url,
    host,
    port: entrance.port,
    version,
    flavour,
    source: "named",
    isRunning: true,
    log: () => "",
    kill: refuse,
    pause: refuse,
    resume: refuse,
    restart: refuse,
    stop: leave,
    cli: (...args) => ask(entrance, args),
    [Symbol.asyncDispose]: leave,
  };
  return {
    isMissing: false,
    description: `${flavour} ${version} that ADK_TEST_REDIS_URL names`,
    version,
    start: (options = {}) =>
      Object.keys(options).some((name) => ["args", "password", "users", "tls", "appendOnly"].includes(name))
        ? Promise.reject(new MissingServerError("a named server is taken as it is"))
        : Promise.resolve(server),
  };
}
