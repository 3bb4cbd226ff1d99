// Where things are, and what a child process sees. npm exports its whole configuration as npm_* variables; a nested
// pnpm would read some of them as its own, so only what reaches a registry is passed on.

import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const root = dirname(dirname(here));
export const toolchainFolder = join(here, ".toolchain");

/** The folder the person stood in: npm moves to the root and remembers it in INIT_CWD. */
export const callerFolder =
  process.env.npm_lifecycle_event !== undefined && existsSync(process.env.INIT_CWD ?? "")
    ? process.env.INIT_CWD
    : process.cwd();

const kept = new Set(
  [
    "registry",
    "cafile",
    "ca",
    "strict_ssl",
    "proxy",
    "https_proxy",
    "noproxy",
    "userconfig",
    "cache",
    "fetch_retries",
    "fetch_timeout",
  ].map((name) => `npm_config_${name}`),
);

/**
 * This process's environment without npm's own variables. Certificates come from the system's store too, as Debian's
 * own Node has it: behind a proxy that signs for itself, another Node would reach no registry.
 */
export function cleanEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => {
    const lower = name.toLowerCase();
    return !lower.startsWith("npm_") || kept.has(lower);
  });
  return { NODE_USE_SYSTEM_CA: "1", ...Object.fromEntries(entries) };
}

/**
 * Which servers and engines this machine has, as one word. Part of what the task runner keeps results by: a test that
 * was skipped for want of a server must run when the server is there.
 */
function serversAtHand(path) {
  const folders = [...path.split(delimiter), "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/lib/postgresql"];
  const names = ["redis-server", "valkey-server", "postgres", "pgbouncer", "15", "16", "17", "18"];
  const found = names.filter((name) => folders.some((folder) => existsSync(join(folder, name))));
  const engine = process.env.DOCKER_HOST ?? "/var/run/docker.sock";
  return [...found, ...(engine.includes("://") || existsSync(engine) ? ["containers"] : [])].join("+");
}

/** What the tasks run under: the chosen Node and pnpm first on the path, no telemetry, no questions. */
export function childEnvironment(toolchain) {
  const env = cleanEnvironment();
  const path = env.PATH ?? env.Path ?? "";
  return {
    ...env,
    PATH: [...toolchain.folders, join(root, "node_modules", ".bin"), path].join(delimiter),
    ...(process.stdout.isTTY ? {} : { NO_COLOR: "1" }),
    DO_NOT_TRACK: "1",
    MEMORY_NODE: toolchain.nodeVersion,
    MEMORY_SERVERS: serversAtHand(path),
    TURBO_NO_UPDATE_NOTIFIER: "1",
    TURBO_TELEMETRY_DISABLED: "1",
    pnpm_config_confirm_modules_purge: "false",
  };
}
