// A test process that dies takes its servers with it, and the next one removes their folders.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { findRedis } from "../src/index.ts";

const lane = await findRedis({ source: "local" });
const door = new URL("../src/index.ts", import.meta.url).href;
const script = `
  const { startRedis } = await import(${JSON.stringify(door)});
  const server = await startRedis({ source: "local" });
  console.log(server.port);
  setInterval(() => undefined, 1000);
`;
const foldersOf = (pid: number) => readdirSync(tmpdir()).filter((name) => name.startsWith(`memory-servers-${pid}-`));
const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

describe.skipIf(lane.isMissing)("a process that dies with a server running", () => {
  const signals: readonly NodeJS.Signals[] =
    process.platform === "linux" && existsSync("/usr/bin/setpriv")
      ? ["SIGTERM", "SIGINT", "SIGKILL"]
      : ["SIGTERM", "SIGINT"];

  test.each(signals)("by %s leaves no server and, in the end, no folder", async (signal) => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(child.stdout, "data");
    const port = Number(`${line}`);
    expect(foldersOf(child.pid ?? 0)).toHaveLength(1);
    expect(await isFree(port)).toBe(false);
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    await expect.poll(() => isFree(port)).toBe(true);
    await using _ = await lane.start();
    expect(foldersOf(child.pid ?? 0)).toEqual([]);
  });
});
