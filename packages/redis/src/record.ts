// The one mapping between a record and what is stored of it: a head (everything but the value; no scope and no key, which the
// name says) and opaque texts. The usual head, of a record that nothing more was said about, is 24 characters and its source.

import { createHash } from "node:crypto";
import type { MemoryScope } from "@memory/core";
import { MemoryCorruptionError, type StoredRecord, type WorkingEntry } from "@memory/core/driver";
import type { ScriptReply } from "./script.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** How many characters of an element are its token. */
const TOKEN_LENGTH = 11;

/** What stands for the token of an element that was not appended. */
export const NO_TOKEN: string = "-".repeat(TOKEN_LENGTH);

/**
 * The head as stored, without its generation and without line feeds: `a`, the id's 16 bytes in base64url and the source,
 * where the id is a UUIDv7 of `recordedAt` and the rest are defaults; otherwise `j` and a JSON array.
 */
export function encodeHead(head: StoredRecord): string {
  const { id, source, confidence, recordedAt, validFrom, validTo, subject, predicate, metadata } = head;
  const redacted = head.redacted?.length === 0 ? undefined : head.redacted;
  const isPlain =
    confidence === 1 &&
    validFrom === undefined &&
    validTo === undefined &&
    subject === undefined &&
    predicate === undefined &&
    metadata === undefined &&
    redacted === undefined &&
    !source.includes("\n");
  if (isPlain && UUID.test(id) && timeOf(id) === recordedAt) return `a${packId(id)}${source}`;
  const extras = [validFrom, validTo, subject, predicate, metadata, redacted].map((one) => one ?? null);
  const parts: unknown[] = [id, recordedAt, source, confidence, ...extras];
  while (parts.at(-1) === null) parts.pop();
  return `j${JSON.stringify(parts)}`;
}

/**
 * The head read back.
 *
 * @throws {MemoryCorruptionError} It is not one of ours.
 */
export function decodeHead(text: string, scope: MemoryScope, key: string): StoredRecord {
  const from = /^\d+/.exec(text)?.[0].length ?? 0;
  const plain = text[from] === "a" ? decodePlain(text.slice(from + 1)) : undefined;
  const parts = plain ?? decodeParts(text, from);
  const [id, recordedAt, source, confidence, validFrom, validTo, subject, predicate, metadata, redacted] = parts;
  // Core checks every field of what a driver gives, so that the types are a claim here and a promise after it.
  const row: unknown = {
    id,
    scope,
    key,
    value: "",
    source,
    confidence,
    validFrom: validFrom ?? undefined,
    validTo: validTo ?? undefined,
    subject: subject ?? undefined,
    predicate: predicate ?? undefined,
    metadata: metadata ?? undefined,
    redacted: redacted ?? undefined,
    recordedAt,
    version: undefined,
    embedding: undefined,
  };
  return row as StoredRecord;
}

/** The generation that a head was written in; -1 where there is none. */
export function generationOf(head: string): number {
  return Number(/^\d+/.exec(head)?.[0] ?? -1);
}

/** A record as `read` replies it; `null` when there is none. */
export function decodeEntry(reply: ScriptReply, scope: MemoryScope, key: string): WorkingEntry | null {
  if (reply === null || reply === undefined) return null;
  if (typeof reply === "string") {
    const at = reply.indexOf("\n");
    if (at === -1) throw damaged(reply);
    return { head: decodeHead(reply.slice(0, at), scope, key), content: { value: reply.slice(at + 1) } };
  }
  if (typeof reply === "number" || !reply.every((one) => typeof one === "string")) throw damaged(reply);
  const [head = "", ...elements] = reply;
  return {
    head: decodeHead(head, scope, key),
    content: { items: elements.map((element) => element.slice(TOKEN_LENGTH)) },
  };
}

/** Eleven characters that name an append: 62 bits and more of its token, which is unique in its key many times over. */
export function shortToken(token: string): string {
  if (UUID.test(token)) return packHex(token.slice(19).replaceAll("-", ""));
  return createHash("sha256").update(token).digest("base64url").slice(0, TOKEN_LENGTH);
}

function decodePlain(text: string): readonly unknown[] | undefined {
  const hex = Buffer.from(text.slice(0, 22), "base64url").toString("hex");
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return UUID.test(id) ? [id, timeOf(id), text.slice(22), 1] : undefined;
}

function decodeParts(text: string, from: number): readonly unknown[] {
  try {
    const parts: unknown = text[from] === "j" && from > 0 ? JSON.parse(text.slice(from + 1)) : undefined;
    if (Array.isArray(parts)) return parts;
  } catch (error) {
    throw damaged(text, error);
  }
  throw damaged(text);
}

function damaged(payload: unknown, cause?: unknown): MemoryCorruptionError {
  return new MemoryCorruptionError(
    "what stands at a record's name in Redis is not a record",
    { id: null, payload },
    cause,
  );
}

/** The instant in a UUIDv7, or -1. */
function timeOf(id: string): number {
  return id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : -1;
}

function packId(id: string): string {
  return packHex(id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24));
}

function packHex(digits: string): string {
  return Buffer.from(digits, "hex").toString("base64url");
}
