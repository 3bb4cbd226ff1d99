// The one way down for records: scope, kind, JSON, redaction, size, width, in that order, once. What comes out is what a
// driver stores; nothing after this looks at the caller's object again.

import type { Metric, StoredRecord, WorkingEntry } from "../model/driver.ts";
import { EmbeddingDimensionError, MemoryLimitError, MemoryRecordError, MemoryScopeError } from "../model/errors.ts";
import { uuidV7 } from "../model/id.ts";
import { type JsonValue, utf8Bytes } from "../model/json.ts";
import {
  checkWindow,
  type EpochMs,
  MAX_ATTRIBUTE_BYTES,
  type MemoryKind,
  type MemoryRecord,
  type MemoryRecordInput,
  parseParts,
  type RecordParts,
} from "../model/record.ts";
import { type MemoryScope, parseScope, sameScope } from "../model/scope.ts";
import { type Admitted, admit, admitMetadata, admitText, type MemoryRedactor } from "./redaction.ts";
import { buildRecord, writeItem } from "./row.ts";

/** What a store is set to, as far as a write is concerned. */
export interface WriteRules {
  readonly redactor: MemoryRedactor | null;
  readonly maxValueBytes: number;
}

/** The vectors that a store takes. */
export interface VectorRules {
  readonly dimensions: number;
  readonly metric: Metric;
}

/** A record ready to be stored, and what it is to the caller. */
export interface Prepared {
  readonly stored: StoredRecord;
  readonly value: JsonValue;
  /** The caller named its id; another one has just been made, and nothing holds it. */
  readonly isNamed: boolean;
}

/**
 * Checks, masks and measures a record for an operation.
 *
 * @throws {MemoryScopeError} The record names another scope or kind, or an invalid scope.
 * @throws {MemoryRecordError} It is malformed, or holds something that is not JSON.
 * @throws {MemoryLimitError} Its value or its attributes are too large.
 * @throws {EmbeddingDimensionError} Its embedding is missing or of another width.
 */
export function prepareRecord(
  kind: MemoryKind,
  scope: MemoryScope,
  input: MemoryRecordInput,
  rules: WriteRules,
  now: EpochMs,
  vectors?: VectorRules,
): Prepared {
  checkScope(scope, input);
  const parts = parseParts(input);
  if (parts.kind !== undefined && parts.kind !== kind) {
    throw new MemoryScopeError(`a record of another kind was given to an operation of the ${kind} kind`, {
      path: "record.kind",
    });
  }
  const admitted = admitValue(parts.value, rules);
  const attributes = admitAttributes(parts, rules, admitted.redacted);
  const embedding = admitEmbedding(parts.embedding, vectors);
  const stored: StoredRecord = {
    id: parts.id ?? uuidV7(now),
    scope,
    key: parts.key,
    value: admitted.text,
    source: attributes.source,
    confidence: parts.confidence ?? 1,
    validFrom: parts.validFrom,
    validTo: parts.validTo,
    subject: attributes.subject,
    predicate: attributes.predicate,
    metadata: attributes.metadata,
    redacted: attributes.redacted.length === 0 ? undefined : attributes.redacted,
    recordedAt: now,
    version: undefined,
    embedding,
  };
  return { stored, value: admitted.value, isNamed: parts.id !== undefined };
}

/**
 * Checks, masks and measures one value: of a record, or an element of a sequence. `path` is where it stands.
 *
 * @throws {MemoryRecordError} It is not JSON.
 * @throws {MemoryLimitError} It is larger than `maxValueBytes`.
 */
export function admitValue(value: unknown, rules: WriteRules, path = "value"): Admitted {
  const admitted = admit(value, rules.redactor, path, rules.maxValueBytes);
  const { text } = admitted;
  if (text.length > rules.maxValueBytes / 3) {
    const size = utf8Bytes(text);
    if (size > rules.maxValueBytes) {
      throw new MemoryLimitError(`a value takes ${size} bytes as JSON; this store takes ${rules.maxValueBytes}`, {
        what: "value",
        limit: rules.maxValueBytes,
        size,
      });
    }
  }
  return admitted;
}

/** The head of a sequence that an append begins. */
export function sequenceHead(
  scope: MemoryScope,
  key: string,
  source: string | undefined,
  rules: WriteRules,
  now: EpochMs,
): StoredRecord {
  const redacted: string[] = [];
  const masked = source === undefined ? "append" : admitText(source, rules.redactor, "source", redacted);
  checkAttributes(masked, undefined, undefined, undefined);
  return {
    id: uuidV7(now),
    scope,
    key,
    value: "",
    source: masked,
    confidence: 1,
    validFrom: undefined,
    validTo: undefined,
    subject: undefined,
    predicate: undefined,
    metadata: undefined,
    redacted: redacted.length === 0 ? undefined : redacted,
    recordedAt: now,
    version: undefined,
    embedding: undefined,
  };
}

/**
 * A working record as a driver keeps it: its head, and its value as one text or as the elements of a sequence, each with
 * its own marks; what is left are the marks of the head.
 */
export function splitEntry({ stored, value }: Prepared): WorkingEntry {
  const marks = new Map<string, string[]>();
  const own: string[] = [];
  const isSequence = Array.isArray(value);
  for (const path of stored.redacted ?? []) {
    const at = (isSequence ? /^value\.(\d+)(.*)$/s : /^value()((?:\..*)?)$/s).exec(path);
    if (at === null) own.push(path);
    else marks.set(at[1] ?? "", [...(marks.get(at[1] ?? "") ?? []), at[2] ?? ""]);
  }
  const head = { ...stored, value: "", redacted: own.length === 0 ? undefined : own };
  const itemOf = (text: string, index: string) => writeItem(text, marks.get(index) ?? []);
  return isSequence
    ? { head, content: { items: value.map((one, index) => itemOf(JSON.stringify(one), String(index))) } }
    : { head, content: { value: itemOf(stored.value, "") } };
}

/**
 * The vector of a record or a query, rounded to float32 as it is stored and compared.
 *
 * @throws {EmbeddingDimensionError} It is missing or of another width.
 * @throws {MemoryRecordError} A component is no number or not finite as float32; or, for `cosine`, the vector has no
 * length as float32 (pgvector stores the one as 0 and drops the other from its index).
 */
export function admitVector(embedding: readonly number[] | undefined, rules: VectorRules): readonly number[] {
  const received = embedding?.length ?? 0;
  if (embedding === undefined || received !== rules.dimensions) {
    const found =
      embedding === undefined
        ? "an embedding is missing"
        : `an embedding has ${received} ${received === 1 ? "dimension" : "dimensions"}`;
    throw new EmbeddingDimensionError(
      `${found}; this store holds vectors of width ${rules.dimensions}: give one of the model that it was opened for`,
      {
        expected: rules.dimensions,
        received,
      },
    );
  }
  const rounded: number[] = [];
  let square = 0;
  // Not over its entries, which takes five times as long.
  for (let index = 0; index < received; index += 1) {
    const component = embedding[index];
    const value = typeof component === "number" ? Math.fround(component) : Number.NaN;
    if (!Number.isFinite(value)) throw notFloat(index);
    square = Math.fround(square + Math.fround(value * value));
    rounded.push(value + 0);
  }
  if (rules.metric === "cosine" && !(square > 0 && Number.isFinite(square))) {
    throw new MemoryRecordError("an embedding has no length as float32, so that no cosine can be taken", {
      path: "embedding",
    });
  }
  return rounded;
}

/**
 * Validates a whole record, fills the defaults (`id` a UUIDv7, `confidence` 1) and freezes it. Scope and kind must be
 * given; nothing is masked or measured: that happens where it is written.
 *
 * @throws {MemoryScopeError} The scope is missing or invalid.
 * @throws {MemoryRecordError} Anything else is missing, malformed, unknown, or not JSON (`path` says where).
 */
export function memoryRecord(input: MemoryRecordInput): MemoryRecord {
  const parts = parseParts(input);
  const scope = parseScope(input.scope);
  if (parts.kind === undefined) throw new MemoryRecordError("a record is refused: kind is missing", { path: "kind" });
  const { value } = admit(parts.value, null, "value");
  if (parts.embedding !== undefined) checkEmbedding(parts.kind, parts.embedding);
  const record = {
    id: parts.id ?? uuidV7(Date.now()),
    key: parts.key,
    source: parts.source,
    confidence: parts.confidence ?? 1,
    validFrom: parts.validFrom,
    validTo: parts.validTo,
    embedding: parts.embedding === undefined ? undefined : [...parts.embedding],
    subject: parts.subject,
    predicate: parts.predicate,
    metadata: parts.metadata === undefined ? undefined : admitMetadata(parts.metadata, null, []),
    redacted: parts.redacted,
    recordedAt: parts.recordedAt,
    version: parts.version,
  };
  return buildRecord(parts.kind, scope, record, value, { validTo: parts.validTo, supersededBy: parts.supersededBy });
}

// A record alone knows no width: that is the store's to check.
function checkEmbedding(kind: MemoryKind, embedding: readonly number[]): void {
  if (kind !== "semantic") throw notSemantic();
  for (const [index, component] of embedding.entries()) {
    if (typeof component !== "number" || !Number.isFinite(Math.fround(component))) throw notFloat(index);
  }
}

function notSemantic(): MemoryRecordError {
  return new MemoryRecordError("only a semantic record has an embedding", { path: "embedding" });
}

function notFloat(index: number): MemoryRecordError {
  return new MemoryRecordError("an embedding has a component that is not a finite float32", {
    path: `embedding.${index}`,
  });
}

// Before anything else: a record that names another scope is the one mistake that must never be anything but that.
function checkScope(scope: MemoryScope, input: unknown): void {
  if (typeof input !== "object" || input === null) return;
  const named: unknown = Reflect.get(input, "scope");
  if (named === undefined || named === scope) return;
  if (!sameScope(scope, parseScope(named))) {
    throw new MemoryScopeError("a record names another scope than the operation's", { path: "record.scope" });
  }
}

interface Attributes {
  readonly source: string;
  readonly subject: string | undefined;
  readonly predicate: readonly string[] | undefined;
  readonly metadata: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly redacted: readonly string[];
}

function admitAttributes(parts: RecordParts, rules: WriteRules, marks: readonly string[]): Attributes {
  const { redactor } = rules;
  const redacted: string[] = [];
  const source = admitText(parts.source, redactor, "source", redacted);
  const subject = parts.subject === undefined ? undefined : admitText(parts.subject, redactor, "subject", redacted);
  const predicate = parts.predicate?.map((one, index) => admitText(one, redactor, `predicate.${index}`, redacted));
  const metadata = parts.metadata === undefined ? undefined : admitMetadata(parts.metadata, redactor, redacted);
  checkAttributes(source, subject, predicate, metadata);
  return {
    source,
    subject,
    predicate: predicate === undefined ? undefined : Object.freeze(predicate),
    metadata: metadata === undefined ? undefined : Object.freeze(metadata),
    redacted: redacted.length === 0 ? marks : Object.freeze([...marks, ...redacted]),
  };
}

function checkAttributes(
  source: string,
  subject: string | undefined,
  predicate: readonly string[] | undefined,
  metadata: object | undefined,
): void {
  if (predicate === undefined && metadata === undefined && source.length + (subject?.length ?? 0) < 2_000) return;
  const size = utf8Bytes(JSON.stringify({ source, subject, predicate, metadata }));
  if (size > MAX_ATTRIBUTE_BYTES) {
    throw new MemoryLimitError(
      `source, subject, predicate and metadata take ${size} bytes as JSON together; ${MAX_ATTRIBUTE_BYTES} are taken`,
      { what: "attributes", limit: MAX_ATTRIBUTE_BYTES, size },
    );
  }
}

function admitEmbedding(
  embedding: readonly number[] | undefined,
  vectors: VectorRules | undefined,
): readonly number[] | undefined {
  if (vectors !== undefined) return Object.freeze(admitVector(embedding, vectors));
  if (embedding === undefined) return undefined;
  throw notSemantic();
}

/** The window of a record whose `validFrom` was filled in by the store. */
export function checkFilledWindow(record: StoredRecord): StoredRecord {
  checkWindow(record.validFrom, record.validTo);
  return record;
}
