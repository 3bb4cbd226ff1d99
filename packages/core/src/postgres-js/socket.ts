// Opening a connection to the first host that answers. postgres.js does this itself, but keeps the socket out of reach, and
// one that fell silent could not be closed.

import { connect, Socket } from "node:net";
import type { PostgresJs } from "./client.ts";

/** Where a server may listen. */
export interface Host {
  readonly host: string;
  readonly port: number;
  /** A Unix socket; then the others do not count. */
  readonly path: string | undefined;
}

/** The hosts of a connection string, as postgres.js reads them. */
export function readHosts(postgres: PostgresJs, dsn: string): readonly Host[] {
  const { options } = postgres(dsn);
  const { host, port } = options;
  const given: unknown = Reflect.get(options, "path");
  const socket = typeof given === "string" && given !== "" ? given : undefined;
  return host.map((name, index) => ({ host: name, port: port[index] ?? 5432, path: socket }));
}

/**
 * A socket to the first host from `start` on (they go round) that takes a connection in time; after all others failed, to
 * the last one, connected or not: its failure is then the client's to tell. `isUnwanted`: one that is closed already.
 */
export async function openSocket(
  hosts: readonly Host[],
  start: number,
  timeoutMs: number,
  isUnwanted: boolean,
): Promise<{ readonly socket: Socket; readonly index: number }> {
  if (isUnwanted) {
    const socket = new Socket();
    // Not before the client listens.
    setImmediate(() => socket.destroy());
    return { socket, index: start };
  }
  const count = hosts.length;
  for (let index = start; ; index += 1) {
    const place = hosts[index % hosts.length] ?? { host: "localhost", port: 5432, path: undefined };
    const socket = place.path === undefined ? connect(place.port, place.host) : connect(place.path);
    // What postgres.js looks for on a socket of its own: the name to check the certificate against.
    Object.assign(socket, { host: place.host, port: place.port });
    socket.setNoDelay(true);
    if (index - start === count - 1 || (await isConnected(socket, timeoutMs / count))) return { socket, index };
    socket.destroy();
  }
}

function isConnected(socket: Socket, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (answer: boolean) => (): void => {
      clearTimeout(timer);
      socket.off("connect", yes).off("error", no);
      // Whoever takes it listens for errors; one that nobody takes may fail unheard.
      if (!answer) socket.on("error", () => {});
      resolve(answer);
    };
    const yes = settle(true);
    const no = settle(false);
    const timer = setTimeout(no, timeoutMs);
    socket.once("connect", yes).once("error", no);
  });
}
