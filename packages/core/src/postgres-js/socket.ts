// Opening a connection. postgres.js does this itself, but keeps the socket out of reach, and one that fell silent could not
// be closed.

import { connect, type Socket } from "node:net";
import { MemorySettingsError } from "../model/errors.ts";
import type { PostgresJs } from "./client.ts";
import { ClosedConnectionError } from "./failures.ts";

/** Where a server may listen. */
export interface Host {
  readonly host: string;
  readonly port: number;
  /** A Unix socket; then the others do not count. */
  readonly path: string | undefined;
}

/**
 * The hosts of a connection string: those that it names, also `[::1]:5432` and, alone, the percent-encoded folder of a Unix
 * socket (`%2Frun%2Fpostgresql`), which postgres.js 3.4.9 takes for names; where it names none, what that falls back to.
 *
 * @throws {MemorySettingsError} It is none of PostgreSQL, which postgres.js would take it for; or postgres.js cannot read it,
 * whose own error would quote the password.
 */
export function readHosts(postgres: PostgresJs, dsn: string): readonly Host[] {
  if (!/^postgres(?:ql)?:\/\//i.test(dsn)) {
    throw new MemorySettingsError("dsn is not a postgres:// or postgresql:// address", { setting: "dsn" });
  }
  try {
    const { options } = postgres(dsn);
    const named = /^[^:]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(dsn)?.[1] || options.host.join(",");
    return named.split(",").map((text, index) => {
      const [, host = "", port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(text) ?? [];
      return hostAt(decodeURIComponent(host), Number(port ?? options.port[index] ?? 5432));
    });
  } catch {
    throw new MemorySettingsError("dsn names a host or a parameter in a form that postgres.js cannot read", {
      setting: "dsn",
    });
  }
}

function hostAt(text: string, port: number): Host {
  const host = text.replace(/^\[(.*)\]$/, "$1");
  return { host, port, path: host.includes("/") ? `${host}/.s.PGSQL.${port}` : undefined };
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
