// A process in which connections were reset at every stage of their life ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const STAGES = ["open", "ending", "ended by the peer", "closed", "connecting"];

it.each(STAGES)("a process that reset a connection that was %s ends", async (stage) => {
  const script = fileURLToPath(new URL("reset-one.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@memory/source", script, stage], { stdio: "ignore" });
  expect(await once(child, "exit")).toEqual([0, null]);
});
