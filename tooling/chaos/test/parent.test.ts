// Clients of a run must not outlive a conductor that was killed.

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";

const CLIENTS = ["client.ts", "soak-client.ts"];
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It is gone, as it should.
    }
  }
});

it.each(CLIENTS)("%s ends when its parent is killed", async (name) => {
  const script = fileURLToPath(new URL(`../src/${name}`, import.meta.url));
  const parent = fork(fileURLToPath(new URL("start-client.ts", import.meta.url)), [script], {
    execArgv: ["--conditions=@memory/source"],
  });
  const [pid] = (await once(parent, "message")) as [number];
  started.push(pid);
  expect(isAlive(pid)).toBe(true);
  parent.kill("SIGKILL");
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
