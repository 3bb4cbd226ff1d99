// A folder of its own for each server, removed with it. What a killed test process left behind is removed by the next.

import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unmountDisk } from "./disk.ts";
import { isAlive } from "./ports.ts";

const prefix = "memory-servers-";

/** Makes a folder that every user may enter (PostgreSQL does not run as root); removed at exit if not before. */
export function createHome(): string {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** Removes a home. A server that is just dying may still write to it, so the removal is tried again. */
export function removeHome(folder: string): void {
  unmountDisk(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      removeHome(join(tmpdir(), name));
    } catch {
      // Another user's, or another process was quicker.
    }
  }
}
