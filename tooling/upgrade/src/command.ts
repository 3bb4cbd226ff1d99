// Running a program and knowing what it said. Nothing that npm told this process reaches it: a stranger's project has a
// configuration of its own.

import { spawn } from "node:child_process";

/** How a program is run. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program said, and how it ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  /** Both streams, in the order in which they came. */
  readonly output: string;
}

/** A program ended otherwise than it had to; the message holds the end of what it said. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

const KEPT_LINES = 40;

/** Runs a program to its end, however it ends. */
export function run(command: string, args: readonly string[], { cwd, env = {} }: CommandOptions): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|INIT_CWD$)/i.test(name));
  const child = spawn(command, args, {
    cwd,
    env: { ...Object.fromEntries(own), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32", // where npm and pnpm are .cmd files
  });
  let stdout = "";
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, stdout, output }));
  });
}

/** Runs a program that has to succeed. @throws {CommandError} It did not. */
export async function must(command: string, args: readonly string[], options: CommandOptions): Promise<Ended> {
  const ended = await run(command, args, options);
  if (ended.code === 0) return ended;
  throw new CommandError(
    `${sayCommand(command, args)} ended with ${ended.code} in ${options.cwd}:\n${tail(ended.output)}`,
  );
}

// The end of what a program said.
function tail(output: string): string {
  return output.trim().split("\n").slice(-KEPT_LINES).join("\n");
}

function sayCommand(command: string, args: readonly string[]): string {
  return [command, ...args].map((part) => part.split(/[\\/]/).slice(-1)[0] ?? part).join(" ");
}
