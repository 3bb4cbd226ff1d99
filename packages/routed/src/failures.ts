// Something done to every member, and the failures of all of them as one error of the narrowest class that can say it.

import {
  EmbeddingDimensionError,
  isMemoryError,
  type MemoryError,
  MemorySchemaError,
  MemoryUnavailableError,
} from "@memory/core";
import type { Member } from "./members.ts";

interface Failure {
  readonly member: string;
  readonly error: MemoryError;
}

/**
 * Does it to every member at once and waits for all, whoever fails.
 *
 * @throws What the one that failed threw. Of several failures: `EmbeddingDimensionError` where one is (all others in its
 * `schema`), else `MemoryUnavailableError` where all are out of reach or have no room (all in its message, `store` naming
 * each), else `MemorySchemaError` (all in its `findings`).
 */
export async function all<R>(members: readonly Member[], run: (member: Member) => Promise<R>): Promise<readonly R[]> {
  const settled = await Promise.allSettled(members.map(run));
  const failures: Failure[] = [];
  for (const [at, one] of settled.entries()) {
    if (one.status === "fulfilled") continue;
    const error: unknown = one.reason;
    // The caller's own reason, or what a driver should not have thrown: nothing that could be told in our words.
    if (!isMemoryError(error)) throw error;
    failures.push({ member: members[at]?.name ?? "", error });
  }
  const [first, ...rest] = failures;
  if (first !== undefined) throw rest.length === 0 ? first.error : join(failures);
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

function join(failures: readonly Failure[]): MemoryError {
  const errors = failures.map(({ error }) => error);
  const width = errors.find((error) => isMemoryError(error, "EMBEDDING_DIMENSION"));
  const findings = failures.flatMap(({ member, error }) =>
    (error === width ? inSchema(error) : found(error)).map((finding) => `${member}: ${finding}`),
  );
  const schema = new MemorySchemaError(
    `${findings.length} findings in the member stores: ${inOneLine(findings)}`,
    { findings },
    width ?? errors[0],
  );
  if (width !== undefined) {
    const { message, expected, received } = width;
    return new EmbeddingDimensionError(message, { expected, received, schema });
  }
  const refused = errors.filter((error) => isMemoryError(error, "POOL_EXHAUSTED"));
  const gone = errors.filter((error) => isMemoryError(error, "MEMORY_UNAVAILABLE"));
  if (refused.length + gone.length < errors.length) return schema;
  return new MemoryUnavailableError(
    inOneLine(errors.map(({ message }) => message)),
    {
      store: failures.map(({ member }) => member).join(", "),
      attempts: gone.reduce((sum, { attempts }) => sum + attempts, 0),
      outcome: gone.some(({ outcome }) => outcome === "unknown") ? "unknown" : "not-applied",
    },
    errors[0],
  );
}

// Messages of ours are free of content.
function found(error: MemoryError): readonly string[] {
  return isMemoryError(error, "MEMORY_SCHEMA") ? error.findings : [error.message, ...inSchema(error)];
}

// A finding may end with the statement that mends it, and its semicolon.
function inOneLine(texts: readonly string[]): string {
  return texts.map((text) => text.replace(/;$/, "")).join("; ");
}

/** The findings that came with a wrong width. */
function inSchema(error: MemoryError): readonly string[] {
  return isMemoryError(error, "EMBEDDING_DIMENSION") ? (error.schema?.findings ?? []) : [];
}
