// A store's settings, the only place that a connection string comes from. They are checked once, here: names, types and
// bounds by valibot, the connection string by hand, because no message may hold any part of it.

import * as v from "valibot";
import { MemorySettingsError } from "./model/errors.ts";
import { SecretString } from "./secret.ts";

/**
 * How a store connects, how much it does at once, and how long it tries. Frozen; made by {@link memoryStoreSettings}.
 *
 * @sealed a minor may add settings: they are made by `memoryStoreSettings`.
 */
export interface MemoryStoreSettings {
  /** The connection string; prints as `**********`. */
  readonly dsn: SecretString;
  /** How many connections a SQL store's pool has, 1 to 1,000. Default 10. */
  readonly poolSize: number;
  /** Redis: how many commands may be in flight on the connection, 1 to 1,000,000. Default 10,000. */
  readonly maxInFlight: number;
  /** How many operations may wait for a connection, 0 (none) to 1,000,000. Default 1,000. */
  readonly maxQueued: number;
  /** How long one may wait for a connection, 1 to 600,000 ms. Default 1,000. */
  readonly queueTimeoutMs: number;
  /** How long connecting may take, 1 to 600,000 ms. Default 5,000. */
  readonly connectTimeoutMs: number;
  /** How long an attempt may take, 1 to 600,000 ms; also the longest backoff. Default 5,000. */
  readonly attemptTimeoutMs: number;
  /** How often an operation is tried in all, 1 to 20. Default 3. */
  readonly maxAttempts: number;
  /** The ceiling of the first backoff, doubled after each attempt, 0 to 60,000 ms. Default 50. */
  readonly backoffMs: number;
  /** Whether SQL statements are prepared by name; `false` for a pooler in transaction mode. Default `true`. */
  readonly prepare: boolean;
}

/** Everything but the connection string: what a store over a borrowed client goes by. */
export type RuntimeSettings = Omit<MemoryStoreSettings, "dsn">;

/** What {@link runtimeSettings} takes: any of the settings, the others get their defaults. */
export type RuntimeSettingsInput = {
  readonly [Name in Exclude<keyof MemoryStoreSettings, "dsn">]?: MemoryStoreSettings[Name] | undefined;
};

/** What {@link memoryStoreSettings} takes: a connection string, and any of the other settings. */
export interface MemoryStoreSettingsInput extends RuntimeSettingsInput {
  readonly dsn: SecretString | string;
}

/**
 * Passwords that images, manuals, samples and templates ship with. Compared in lower case and at every depth of
 * percent-encoding. `undefined`, `null` and `none` are what a template writes when its variable was not set.
 */
const SHIPPED_PASSWORDS: ReadonlySet<string> = new Set(
  `postgres postgresql postgrespw pgpassword pgvector mysecretpassword supabase your-super-secret-and-long-postgres-password
  redis valkey foobared redispassword redis123 requirepass
  password passw0rd p@ssw0rd p@ssword password1 password123 passwd pass pass123 pwd mypassword
  yourpassword your-password your_password [your-password] <password> {password} \${password} $password
  changeme changeme123 changeit changethis change-me change_me replaceme replace-me
  admin admin123 administrator root toor master sa sysadmin superuser super user username guest default
  secret secret123 supersecret mysecret topsecret secretpassword
  test test123 testing demo dev develop development local localhost docker example sample foo bar foobar
  123 1234 12345 123456 1234567 12345678 123456789 1234567890 111111 000000 123123 qwerty qwerty123 abc123 letmein welcome
  welcome1 undefined null none nil empty xxx xxxx xxxxxx`.split(/\s+/),
);

const DSN_FORM = "scheme://[user[:password]@]host[:port][,host[:port]...][/name][?parameters]";

const runtimeEntries = {
  poolSize: bounded(1, 1_000, 10),
  maxInFlight: bounded(1, 1_000_000, 10_000),
  maxQueued: bounded(0, 1_000_000, 1_000),
  queueTimeoutMs: bounded(1, 600_000, 1_000),
  connectTimeoutMs: bounded(1, 600_000, 5_000),
  attemptTimeoutMs: bounded(1, 600_000, 5_000),
  maxAttempts: bounded(1, 20, 3),
  backoffMs: bounded(0, 60_000, 50),
  prepare: v.optional(v.boolean("must be true or false"), true),
};

const RuntimeSchema = v.strictObject(runtimeEntries, "is not an object of settings");

/**
 * Checks the settings, fills in the defaults and freezes. A connection string without a password is taken (a socket,
 * `trust`, a cloud's own identity), and so are several hosts (`redis://h1:1,h2:2`) and a password among the parameters;
 * one whose password is a shipped default or the user's name is not.
 *
 * @throws {MemorySettingsError} `setting` names the first that is unknown, of the wrong type, out of bounds or refused.
 *
 * @example `memoryStoreSettings({ dsn: process.env["MEMORY_DSN"] ?? "", poolSize: 20 })`
 */
export function memoryStoreSettings(input: MemoryStoreSettingsInput): MemoryStoreSettings {
  if (typeof input !== "object" || input === null) throw refusal("settings", "is not an object of settings");
  const { dsn, ...rest } = input;
  return Object.freeze({ dsn: checkDsn(dsn), ...parseRuntime(rest) });
}

/**
 * The settings of a store over a borrowed client: those given, checked as {@link memoryStoreSettings} does, and the
 * defaults. A `dsn` is passed over: the client is connected already.
 *
 * @throws {MemorySettingsError} As {@link memoryStoreSettings}.
 */
export function runtimeSettings(partial: Partial<MemoryStoreSettings> | RuntimeSettingsInput = {}): RuntimeSettings {
  if (typeof partial !== "object" || partial === null) throw refusal("settings", "is not an object of settings");
  const { dsn: _, ...rest } = { dsn: undefined, ...partial };
  return Object.freeze(parseRuntime(rest));
}

function parseRuntime(input: unknown): RuntimeSettings {
  const result = v.safeParse(RuntimeSchema, input, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const name = String(issue.path?.[0]?.key ?? "settings");
  // Valibot's own message quotes what it received, so only ours are passed on.
  const isUnknown = issue.type === "strict_object" && issue.path !== undefined;
  throw refusal(name, isUnknown ? "is not a setting" : issue.message);
}

function bounded(least: number, most: number, otherwise: number): v.OptionalSchema<v.GenericSchema<number>, number> {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.optional(
    v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message)),
    otherwise,
  );
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}

/* ------------------------------------------------------------------------------------------------ connection string */

interface Credentials {
  readonly users: readonly string[];
  readonly passwords: readonly string[];
}

function checkDsn(input: unknown): SecretString {
  const text = SecretString.isSecretString(input) ? input.reveal() : (input ?? "");
  if (typeof text !== "string") throw refusal("dsn", "must be a SecretString or a string");
  if (text.trim() === "") throw refusal("dsn", "is empty; is the variable that should hold it set?");
  // A secret mounted as a file likes to end in a line feed, which would become part of the last parameter.
  if (/[\s\p{Cc}]/u.test(text)) throw refusal("dsn", "contains white space or a control character");
  const { users, passwords } = parseDsn(text);
  const names = new Set(users.flatMap(spellings));
  for (const spelling of passwords.flatMap(spellings)) {
    if (spelling === "") continue;
    if (SHIPPED_PASSWORDS.has(spelling))
      throw refusal("dsn", "has a password that ships as a default; set another one");
    if (names.has(spelling)) throw refusal("dsn", "has the user's name as its password; set another one");
  }
  return new SecretString(text);
}

/** By hand: `URL` knows no list of hosts, and its errors quote the input. */
function parseDsn(text: string): Credentials {
  const parts = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/i.exec(text);
  if (parts === null) throw unreadable();
  const [, authority = "", path = "", query = ""] = parts;
  const at = authority.lastIndexOf("@");
  // A "/" in a password that was not percent-encoded ends the authority early, and the rest of it lands in the path.
  if (at === -1 && path.includes("@")) throw unreadable();
  if (!isHostList(authority.slice(at + 1))) throw unreadable();
  const [user = "", ...secret] = authority.slice(0, Math.max(at, 0)).split(":");
  const users = [user];
  const passwords = [secret.join(":")];
  for (const pair of query.split("&")) {
    const [name = "", ...value] = pair.split("=");
    const known = decode(name.replaceAll("+", " ")).toLowerCase();
    if (/^(?:user|username|uid)$/.test(known)) users.push(...queryValues(value.join("=")));
    if (/^(?:password|passwd|pass|pwd|auth)$/.test(known)) passwords.push(...queryValues(value.join("=")));
  }
  for (const secretText of [...users, ...passwords]) decode(secretText);
  return { users, passwords };
}

// Some clients read "+" in a parameter as a blank, some as itself.
function queryValues(text: string): readonly string[] {
  return text.includes("+") ? [text, text.replaceAll("+", " ")] : [text];
}

function isHostList(hosts: string): boolean {
  return hosts === "" || hosts.split(",").every(isHost);
}

function isHost(host: string): boolean {
  const parts = /^(?:\[[0-9a-f:.]+(?:%[\w.-]+)?\]|[^:@[\]"<>\\^`{|}]*)(?::(\d{0,5}))?$/i.exec(host);
  return parts !== null && Number(parts[1] ?? 0) <= 65_535 && host !== "";
}

/** A text and everything that it becomes when it is percent-decoded again and again, in lower case and trimmed. */
function spellings(text: string): readonly string[] {
  const found = [text];
  for (let last = text, depth = 0; depth < 8; depth++) {
    const next = tryDecode(last);
    if (next === undefined || next === last) break;
    found.push(next);
    last = next;
  }
  return found.map((spelling) => spelling.trim().toLowerCase());
}

function decode(text: string): string {
  const decoded = tryDecode(text);
  if (decoded === undefined) throw unreadable();
  return decoded;
}

function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function unreadable(): MemorySettingsError {
  return refusal("dsn", `is not of the form ${DSN_FORM}; percent-encode /, ?, #, @ and % in its user and password`);
}
