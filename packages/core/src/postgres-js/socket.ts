// Opening a connection. postgres.js does this itself, but keeps the socket out of reach, and one that fell silent could not
// be closed.

import { connect, type Socket } from "node:net";
import type { PostgresJs } from "./client.ts";
import { ClosedConnectionError } from "./failures.ts";

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

/** A socket to that host, not yet connected. What goes wrong with it before somebody listens is heard by nobody. */
export function dial({ host, port, path }: Host): Socket {
  const socket = path === undefined ? connect(port, host) : connect(path);
  // What postgres.js looks for on a socket of its own: the name to check the certificate against.
  Object.assign(socket, { host, port });
  socket.setNoDelay(true);
  socket.on("error", () => {});
  return socket;
}

/** Resolves when the socket is connected. @throws What closed it before. */
export function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new ClosedConnectionError());
    socket.once("error", reject).once("close", closed);
    socket.once("connect", () => {
      socket.off("error", reject).off("close", closed);
      resolve();
    });
  });
}
