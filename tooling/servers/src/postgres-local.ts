// A PostgreSQL server from the programs of this machine, on loopback, in a data folder of its own; its standbys too.

import { execFile, execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Binary, hasExtension } from "./binaries.ts";
import { fillDisk, freeDisk, mountDisk } from "./disk.ts";
import { createHome, removeHome } from "./home.ts";
import { MissingServerError } from "./missing.ts";
import { isAlive, reservePort } from "./ports.ts";
import type { PostgresOptions, PostgresPrimary, PostgresStandby } from "./postgres.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import { waitFor } from "./wait.ts";

const host = "127.0.0.1";
const user = "postgres";
const database = "memory";
const run = promisify(execFile);

/** A server of these programs. */
export async function startLocalPostgres(binary: Binary, options: PostgresOptions): Promise<PostgresPrimary> {
  const folder = createHome();
  const plan = new Plan(binary, folder, await reservePort(), options.password, options.diskMb);
  try {
    plan.makeDisk();
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, options.password ?? "");
    if (plan.owner !== undefined) chownSync(passwordFile, plan.owner.uid, plan.owner.gid);
    plan.run("initdb", [
      ...["-D", plan.data, "-U", user, "--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"],
      ...(options.password === undefined ? ["--auth=trust"] : ["--auth=scram-sha-256", `--pwfile=${passwordFile}`]),
    ]);
    plan.configure({
      listen_addresses: host,
      unix_socket_directories: "",
      fsync: options.fsync === true ? "on" : "off",
      synchronous_commit: "on",
      full_page_writes: options.fsync === true ? "on" : "off",
      wal_level: "replica",
      max_wal_senders: "10",
      hot_standby: "on",
      shared_buffers: "32MB",
      ...options.settings,
    });
    const server = new LocalPostgres(plan, await plan.start());
    try {
      await server.createDatabase(database);
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  } catch (error) {
    removeHome(folder);
    throw error;
  }
}

/** Where one server lives and how its programs are run. */
class Plan {
  readonly binary: Binary;
  readonly folder: string;
  readonly data: string;
  readonly port: number;
  readonly password: string | undefined;
  /** PostgreSQL refuses to run as root. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly diskMb: number | undefined;

  constructor(binary: Binary, folder: string, port: number, password: string | undefined, diskMb?: number) {
    this.binary = binary;
    this.folder = folder;
    this.port = port;
    this.password = password;
    this.data = join(folder, "data");
    this.owner = process.getuid?.() === 0 ? findOwner() : undefined;
    this.diskMb = diskMb;
    mkdirSync(this.data, { mode: 0o700 });
    this.#give();
  }

  /** Puts the small disk under the data, where one is asked for. */
  makeDisk(): void {
    if (this.diskMb === undefined) return;
    mountDisk(this.folder, this.data, this.diskMb);
    this.#give();
  }

  #give(): void {
    if (this.owner !== undefined) chownSync(this.data, this.owner.uid, this.owner.gid);
  }

  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, PGPASSWORD: this.password ?? "", PGTZ: "UTC", PGCONNECT_TIMEOUT: "5" };
  }

  run(program: string, args: readonly string[]): string {
    return execFileSync(join(this.binary.path, program), args, {
      ...this.owner,
      cwd: this.folder,
      encoding: "utf8",
      env: this.environment,
      stdio: "pipe",
    });
  }

  configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries({ ...settings, port: `${this.port}` }).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    writeFileSync(join(this.data, "postgresql.auto.conf"), lines.join(""), { flag: "a" });
  }

  start(): Promise<ServerProcess> {
    return startProcess({
      command: join(this.binary.path, "postgres"),
      args: ["-D", this.data],
      cwd: this.folder,
      ready: /database system is ready to accept (?:read-only )?connections/,
      onExit: () => removeHome(this.folder),
      ...(this.owner === undefined ? {} : { user: this.owner }),
    });
  }
}

class LocalPostgres implements PostgresStandby {
  readonly url: string;
  readonly host = host;
  readonly port: number;
  readonly user = user;
  readonly database = database;
  readonly version: string;
  readonly hasVector: boolean;
  readonly source = "local";
  readonly #plan: Plan;
  #process: ServerProcess;

  constructor(plan: Plan, started: ServerProcess) {
    this.#plan = plan;
    this.#process = started;
    this.port = plan.port;
    this.version = plan.binary.version;
    this.url = this.#urlOf(database);
    this.hasVector = hasExtension(plan.binary, "vector");
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  async kill(): Promise<void> {
    const pids = this.#pids();
    this.#process.signal("SIGKILL");
    signalAll(pids, "SIGKILL");
    await this.#process.waitForEnd();
    // Shared memory is free for the next start when the last backend is gone.
    await waitFor("the last backend's end", () => pids.every(hasEnded));
  }

  async pause(): Promise<void> {
    // The server first, so that no backend is added; all of them, as a backend answers without it.
    this.#process.signal("SIGSTOP");
    signalAll(this.#pids(), "SIGSTOP");
  }

  async resume(): Promise<void> {
    signalAll(this.#pids(), "SIGCONT");
    this.#process.signal("SIGCONT");
  }

  async restart(): Promise<void> {
    if (this.isRunning) await this.kill();
    this.#process = await this.#plan.start();
  }

  async stop(): Promise<void> {
    if (this.isRunning) await this.kill();
    removeHome(this.#plan.folder);
  }

  async psql(sql: string, name: string = database): Promise<string> {
    const args = ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", `${this.port}`, "-U", user];
    const program = join(this.#plan.binary.path, "psql");
    const { stdout } = await run(program, [...args, "-d", name, "-c", sql], { env: this.#plan.environment });
    return stdout.trimEnd();
  }

  async createDatabase(name: string): Promise<string> {
    await this.psql(`CREATE DATABASE "${name.replaceAll('"', '""')}"`, "postgres");
    return this.#urlOf(name);
  }

  async createStandby({ synchronous = false } = {}): Promise<PostgresStandby> {
    const folder = createHome();
    const plan = new Plan(this.#plan.binary, folder, await reservePort(), this.#plan.password);
    const name = `standby_${plan.port}`;
    try {
      const connection = `host=${host} port=${this.port} user=${user} application_name=${name}`;
      plan.run("pg_basebackup", [
        "-D",
        plan.data,
        "-R",
        "-X",
        "stream",
        "--checkpoint=fast",
        "--no-sync",
        "-d",
        connection,
      ]);
      plan.configure({});
      const standby = new LocalPostgres(plan, await plan.start());
      if (synchronous) {
        await this.psql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
        await this.psql("SELECT pg_reload_conf()");
      }
      const state = synchronous ? "sync_state = 'sync'" : "state = 'streaming'";
      await waitFor(
        "the standby to follow",
        async () =>
          (await this.psql(`SELECT 1 FROM pg_stat_replication WHERE application_name = '${name}' AND ${state}`)) ===
          "1",
      );
      return standby;
    } catch (error) {
      removeHome(folder);
      throw error;
    }
  }

  async promote(): Promise<void> {
    this.#plan.run("pg_ctl", ["promote", "-w", "-D", this.#plan.data]);
    // Copied from the primary; a new primary that waited for a standby it has not would answer no commit.
    await this.psql("ALTER SYSTEM RESET synchronous_standby_names");
    await this.psql("SELECT pg_reload_conf()");
  }

  fillDisk(): void {
    if (this.#plan.diskMb === undefined) throw new Error("this server has no disk of its own");
    fillDisk(this.#plan.data);
  }

  freeDisk(): void {
    freeDisk(this.#plan.data);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #urlOf(name: string): string {
    const { password } = this.#plan;
    const credentials = password === undefined ? user : `${user}:${encodeURIComponent(password)}`;
    return `postgres://${credentials}@${host}:${this.port}/${encodeURIComponent(name)}`;
  }

  /** The server's child processes: each backend leads a session of its own, so no signal to a group reaches them. */
  #pids(): readonly number[] {
    if (!this.isRunning) return [];
    return childrenOf(this.#process.pid);
  }
}

function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended meanwhile.
    }
  }
}

function hasEnded(pid: number): boolean {
  // A process that nobody waited for yet holds no memory any more: its state is Z.
  if (process.platform === "linux") return (readStat(`${pid}`)?.state ?? "Z") === "Z";
  return !isAlive(pid);
}

function childrenOf(parent: number): readonly number[] {
  if (process.platform !== "linux") {
    try {
      return execFileSync("pgrep", ["-P", `${parent}`], { encoding: "utf8" })
        .trim()
        .split("\n")
        .map(Number);
    } catch {
      return [];
    }
  }
  return readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) && readStat(name)?.parent === parent ? [Number(name)] : [],
  );
}

/** What Linux says of a process: after the name in parentheses its state, then its parent's id. */
function readStat(pid: string): { readonly state: string; readonly parent: number } | undefined {
  try {
    const [, state = "", parent = ""] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function findOwner(): { readonly uid: number; readonly gid: number } {
  const idOf = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  try {
    return { uid: idOf("-u"), gid: idOf("-g") };
  } catch (cause) {
    throw new MissingServerError(`PostgreSQL does not run as root, and there is no user ${user} to run it as`, {
      cause,
    });
  }
}
