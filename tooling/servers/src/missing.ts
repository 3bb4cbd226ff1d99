// Which server a test got, or why there is none: said once, and a failure where servers are promised (CI=true).

/** There is no server of this kind here; the message says what was looked for, and where. */
export class MissingServerError extends Error {
  override readonly name = "MissingServerError";
}

// What this process has said already. Nothing is decided by it.
const said = new Set<string>();

/** Prints a line to the standard error, the first time only. */
export function sayOnce(line: string): void {
  if (said.has(line)) return;
  said.add(line);
  process.stderr.write(`servers: ${line}\n`);
}

/** Whether a missing server is a failure: with CI=true it is. */
export function isRequired(): boolean {
  return process.env["CI"] === "true";
}

/** Whether servers that the person names by environment variables may be used: with `npm run test:live` only. */
export function isLive(): boolean {
  return process.env["MEMORY_LIVE"] === "1";
}
