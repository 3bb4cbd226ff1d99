// Names in statements: checked, and quoted so that they mean exactly themselves.

import { MemorySettingsError } from "../model/errors.ts";
import { isWellFormedText, utf8Bytes } from "../model/json.ts";

/** PostgreSQL cuts longer names silently (`NAMEDATALEN` - 1), so that two of them could meet. */
const MAX_IDENTIFIER_BYTES = 63;

/**
 * Checks that a name can stand as an SQL identifier as it is: 1 to 63 UTF-8 bytes, no NUL, no lone surrogate. Gives it back.
 *
 * @throws {MemorySettingsError} Naming `setting`, the option that the name came from.
 * @see PostgreSQL manual, 4.1.1 Identifiers and Key Words
 */
export function checkIdentifier(name: string, setting: string): string {
  const problem = identifierProblem(name);
  if (problem !== undefined) throw new MemorySettingsError(`${setting} ${problem}`, { setting });
  return name;
}

/**
 * A name as a quoted identifier, to be put into a statement. It means exactly this name: case and every character count.
 *
 * @param setting The option that the name came from, for the error. Default `identifier`.
 * @throws {MemorySettingsError} As {@link checkIdentifier}.
 *
 * @example quoteIdentifier('agent "memory"') // "agent ""memory"""
 */
export function quoteIdentifier(name: string, setting = "identifier"): string {
  return `"${checkIdentifier(name, setting).replaceAll('"', '""')}"`;
}

function identifierProblem(name: string): string | undefined {
  if (typeof name !== "string") return "must be a string";
  if (name === "") return "is empty";
  if (name.includes("\0")) return "contains a NUL";
  if (!isWellFormedText(name)) return "contains half a surrogate pair";
  const bytes = utf8Bytes(name);
  return bytes > MAX_IDENTIFIER_BYTES ? `has ${bytes} bytes; at most ${MAX_IDENTIFIER_BYTES} are taken` : undefined;
}
