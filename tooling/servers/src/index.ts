// The one door of this package: what a test asks for a server, and the handles it gets.

export { canMountDisk } from "./disk.ts";
export { MissingServerError } from "./missing.ts";
export { findPgBouncer, type PgBouncer, type PgBouncerLane, type PgBouncerOptions } from "./pgbouncer.ts";
export {
  findPostgres,
  findPostgresContainer,
  namedPostgresUrl,
  type PostgresLane,
  type PostgresOptions,
  type PostgresPrimary,
  type PostgresServer,
  type PostgresStandby,
  startPostgres,
} from "./postgres.ts";
export {
  type Address,
  type LostMessages,
  type ProxyCounts,
  type ProxyFaults,
  startProxy,
  type TcpProxy,
} from "./proxy.ts";
export {
  findRedis,
  type RedisLane,
  type RedisOptions,
  type RedisServer,
  type RedisWish,
  startRedis,
} from "./redis.ts";
export { canStartLocally, type RedisCluster, type RedisClusterOptions, startRedisCluster } from "./redis-cluster.ts";
export { type RedisSentinel, type RedisSentinelOptions, startSentinel } from "./redis-sentinel.ts";
export { type Reply, ServerReplyError } from "./resp.ts";
export { waitFor } from "./wait.ts";
