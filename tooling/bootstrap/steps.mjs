// Saying what happens, and running it. Each line carries the seconds since the start; a quiet command that takes long
// says every ten seconds that it is still at work, and shows its output only when it failed.

import { spawn } from "node:child_process";

const startedAt = Date.now();
const heartbeatMs = 10_000;

/** A failure that a person can act on: what happened, and what to do. */
export class Failure extends Error {
  constructor(message, advice) {
    super(message);
    this.advice = advice;
  }
}

export function say(text) {
  console.error(`[${seconds()}] ${text}`);
}

export function sayFailure(failure) {
  console.error(`\n[${seconds()}] ${failure.message}`);
  if (failure.advice !== undefined) console.error(`What to do: ${failure.advice}`);
}

/** Runs a command in front of the person; resolves with its exit code. */
export function runStep(command, args, options) {
  return start(command, args, { ...options, stdio: "inherit" }).code;
}

/** Runs a command behind a line of text; throws a Failure with its output when it fails. */
export async function runQuietly(text, command, args, options, advice) {
  say(text);
  const began = Date.now();
  const heartbeat = setInterval(
    () => say(`  still at it, ${Math.round((Date.now() - began) / 1000)} s so far`),
    heartbeatMs,
  );
  try {
    const { child, code } = start(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    const exit = await code;
    if (exit !== 0) {
      console.error(output.trimEnd());
      throw new Failure(`${text}: ended with code ${exit}.`, advice);
    }
    return output;
  } finally {
    clearInterval(heartbeat);
  }
}

function start(command, args, options) {
  // Windows starts pnpm through a .cmd file, which needs a shell.
  const child = spawn(command, args, { ...options, shell: process.platform === "win32" });
  const forward = (signal) => child.kill(signal);
  process.once("SIGINT", forward).once("SIGTERM", forward);
  const code = new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.once("close", (exit, signal) => resolve(exit ?? (signal === null ? 1 : 130)));
  }).finally(() => {
    process.off("SIGINT", forward).off("SIGTERM", forward);
  });
  return { child, code };
}

function seconds() {
  return `${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
}
