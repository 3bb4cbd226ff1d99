// Free ports on loopback. They lie below the range from which systems take ports for outgoing connections, and are
// reserved by a file that names the owner, so that a server that is down for a while finds its port free again.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const firstPort = 20_000;
const portCount = 10_000;

/** A free port that no other test process gets before this one ends. */
export async function reservePort(): Promise<number> {
  const folder = join(tmpdir(), `memory-servers-ports-${process.getuid?.() ?? "all"}`);
  mkdirSync(folder, { recursive: true });
  for (let attempt = 0; attempt < portCount; attempt += 1) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    if (isReserved(join(folder, `${port}`)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${firstPort} and ${firstPort + portCount}`);
}

/** Whether the process with this id is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isReserved(path: string): boolean {
  try {
    writeFileSync(path, `${process.pid}`, { flag: "wx" });
    return true;
  } catch {
    try {
      if (!isAlive(Number(readFileSync(path, "utf8")))) rmSync(path);
    } catch {
      // Another process was quicker.
    }
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
