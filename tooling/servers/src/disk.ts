// A small disk of its own for a server's data, so that it can run full without anything else doing so: a file system in
// memory, which takes the right to mount one.

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "./binaries.ts";
import { isRequired, MissingServerError, sayOnce } from "./missing.ts";

const marker = "disk.mounted";
const ballast = "ballast";

/**
 * Whether a small disk can be mounted here; prints the reason once where not.
 *
 * @throws {MissingServerError} when it cannot and CI=true.
 */
export function canMountDisk(): boolean {
  const refusal = process.platform === "linux" ? undefined : "only Linux mounts a small disk";
  const problem = refusal ?? (process.getuid?.() === 0 ? tryMount() : "only root may mount a small disk");
  if (problem === undefined) return true;
  const description = `no small disk: ${problem}`;
  if (isRequired()) throw new MissingServerError(description);
  sayOnce(`${description}. NOTHING IS SHOWN OF A FULL DISK HERE`);
  return false;
}

/** Mounts a disk of this size at `data` in a server's home. @throws {MissingServerError} It is refused. */
export function mountDisk(home: string, data: string, megabytes: number): void {
  writeFileSync(join(home, marker), data);
  const problem = mount(data, megabytes);
  if (problem !== undefined) throw new MissingServerError(`no small disk: ${problem}`);
}

/** Takes the disk of a home away, where it has one. */
export function unmountDisk(home: string): void {
  if (!existsSync(join(home, marker))) return;
  // Lazily: a server that is just dying may still stand on it.
  unmount("-l", join(home, "data"));
  rmSync(join(home, marker), { force: true });
}

/** Takes all that is free on the disk. */
export function fillDisk(data: string): void {
  const file = openSync(join(data, ballast), "w");
  try {
    for (const bytes of [1 << 20, 1 << 12]) {
      const chunk = Buffer.alloc(bytes);
      while (isWritten(file, chunk));
    }
  } finally {
    closeSync(file);
  }
}

/** Gives back what {@link fillDisk} took. */
export function freeDisk(data: string): void {
  rmSync(join(data, ballast), { force: true });
}

function isWritten(file: number, chunk: Buffer): boolean {
  try {
    return writeSync(file, chunk) === chunk.length;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
    throw error;
  }
}

function tryMount(): string | undefined {
  const folder = spawnSync("mktemp", ["-d"], { encoding: "utf8" }).stdout.trim();
  const problem = mount(folder, 1);
  if (problem === undefined) unmount(folder);
  rmSync(folder, { recursive: true, force: true });
  return problem;
}

function mount(folder: string, megabytes: number): string | undefined {
  const args = ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "memory-servers", folder];
  const { status, stderr, error } = spawnSync(findOnPath("mount") ?? "", args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

function unmount(...args: readonly string[]): void {
  spawnSync(findOnPath("umount") ?? "", args, { stdio: "ignore" });
}
