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
  readonly error: unknown;
}

/**
 * Does it to every member at once and waits for all, whoever fails.
 *
 * @throws What the one that failed threw. Of several failures: `EmbeddingDimensionError` where one is (all others in its
 * `schema`), else `MemorySchemaError` where one is of any other class than unavailable (all in its `findings`), else
 * `MemoryUnavailableError` (all in its message, `store` naming each).
 */
export async function all<R>(members: readonly Member[], run: (member: Member) => Promise<R>): Promise<readonly R[]> {
  const settled = await Promise.allSettled(members.map(run));
  const failures = settled.flatMap((one, at): readonly Failure[] =>
    one.status === "rejected" ? [{ member: members[at]?.name ?? "", error: one.reason }] : [],
  );
  if (failures.length > 0) throw join(failures);
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

function join(failures: readonly Failure[]): unknown {
  const [first, ...rest] = failures;
  if (first === undefined || rest.length === 0) return first?.error;
  // The caller's own reason, or what a driver should not have thrown: nothing that could be told in our words.
  const foreign = failures.find(({ error }) => !isMemoryError(error));
  if (foreign !== undefined) return foreign.error;
  const dimension = failures.find(({ error }) => isMemoryError(error, "EMBEDDING_DIMENSION"));
  if (dimension !== undefined && isMemoryError(dimension.error, "EMBEDDING_DIMENSION")) {
    const { error } = dimension;
    const others = failures.flatMap((one) => (one === dimension ? schemaFindings(one) : findings(one)));
    const { expected, received, message } = error;
    return new EmbeddingDimensionError(message, { expected, received, schema: schemaError(others, error) });
  }
  if (failures.every(({ error }) => isMemoryError(error, "MEMORY_UNAVAILABLE"))) return unavailable(failures);
  return schemaError(failures.flatMap(findings), first.error);
}

function schemaError(found: readonly string[], cause: unknown): MemorySchemaError {
  const message = `${found.length} findings in the member stores: ${found.join("; ")}`;
  return new MemorySchemaError(message, { findings: found }, cause);
}

function unavailable(failures: readonly Failure[]): MemoryUnavailableError {
  const errors = failures.flatMap(({ error }) => (isMemoryError(error, "MEMORY_UNAVAILABLE") ? [error] : []));
  return new MemoryUnavailableError(
    errors.map(({ message }) => message).join("; "),
    {
      store: failures.map(({ member }) => member).join(", "),
      attempts: errors.reduce((sum, { attempts }) => sum + attempts, 0),
      outcome: errors.some(({ outcome }) => outcome === "unknown") ? "unknown" : "not-applied",
    },
    errors[0],
  );
}

function findings(failure: Failure): readonly string[] {
  const { member, error } = failure;
  if (isMemoryError(error, "MEMORY_SCHEMA")) return error.findings.map((finding) => `${member}: ${finding}`);
  return [...messageOf(member, error), ...schemaFindings(failure)];
}

/** The findings that came with a wrong width. */
function schemaFindings({ member, error }: Failure): readonly string[] {
  if (!isMemoryError(error, "EMBEDDING_DIMENSION") || error.schema === null) return [];
  return error.schema.findings.map((finding) => `${member}: ${finding}`);
}

// Messages of ours are free of content.
function messageOf(member: string, error: unknown): readonly string[] {
  const isOurs = isMemoryError(error);
  const ours: MemoryError | undefined = isOurs ? error : undefined;
  return ours === undefined ? [] : [`${member}: ${ours.message}`];
}
