// A primary and its standby that take turns for ever: each failover promotes the standby and makes a new one in the place
// of the primary that was killed. Clients know both places.

import { type PostgresPrimary, startPostgres, startProxy, type TcpProxy } from "@tooling/servers";
import { POSTGRES_SETTINGS, prepareDatabase, ROLE, waitForStandby } from "./postgres.ts";
import { passwordOf } from "./rig.ts";

/** The pair. */
export interface PostgresLine {
  readonly dsn: string;
  /** Kills the primary; resolves when the standby was promoted and follows by another. */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

interface Seat {
  readonly server: PostgresPrimary;
  readonly proxy: TcpProxy;
}

/** Starts it. */
export async function startPostgresLine(canary: string, hasVectors: boolean): Promise<PostgresLine> {
  const password = passwordOf(canary);
  const extensions = hasVectors ? ["vector"] : [];
  const first = await startPostgres({ password, extensions, settings: POSTGRES_SETTINGS });
  await prepareDatabase(first, password, hasVectors);
  const second = await first.createStandby({ synchronous: true });
  let [primary, standby]: [Seat, Seat] = [
    { server: first, proxy: await startProxy(first) },
    { server: second, proxy: await startProxy(second) },
  ];
  let next = second;
  const hosts = [primary, standby].map(({ proxy }) => `${proxy.host}:${proxy.port}`).join(",");
  return {
    dsn: `postgres://${ROLE}:${password}@${hosts}/${first.database}`,
    failover: async () => {
      await waitForStandby(primary.server);
      await primary.server.kill();
      await next.promote();
      await primary.server.stop();
      const follower = await next.createStandby({ synchronous: true });
      primary.proxy.retarget(follower);
      [primary, standby] = [standby, { server: follower, proxy: primary.proxy }];
      next = follower;
    },
    stop: async () => {
      for (const { proxy, server } of [primary, standby]) {
        await proxy.stop();
        await server.stop();
      }
    },
  };
}
