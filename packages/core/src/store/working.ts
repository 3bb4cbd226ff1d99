// The working operations: the current task's scratch space.

import type { DriverCall, WorkingSection } from "../model/driver.ts";
import { MemoryConflictError, MemoryLimitError } from "../model/errors.ts";
import { uuidV7 } from "../model/id.ts";
import type { JsonValue } from "../model/json.ts";
import type { MemoryKey, MemoryKeyPage } from "../model/protocol.ts";
import { type Parsed, parseKey } from "../model/query.ts";
import type { MemoryRecord, MemoryRecordInput } from "../model/record.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import { buildRecord, corrupt, isText, parseEntry, rowScope, writeItem } from "../rules/row.ts";
import { admitValue, type Prepared, prepareRecord, sequenceHead, splitEntry } from "../rules/write.ts";
import type { StoreContext } from "./context.ts";
import { keyPage } from "./pages.ts";

/** The longest sequence where a driver does not say. */
const DEFAULT_MAX_ELEMENTS = 1_000_000;

export async function write(
  store: StoreContext,
  to: MemoryScope,
  record: MemoryRecordInput,
  call: DriverCall,
): Promise<MemoryRecord> {
  const scope = memoryScope(to);
  const section = store.section("working");
  const prepared = prepareRecord("working", scope, record, store.rules, call.now);
  await put(section, prepared, undefined, call);
  return buildRecord("working", scope, prepared.stored, prepared.value);
}

/** Puts a prepared record. @throws {MemoryLimitError} Its value is a longer array than the store takes. */
export async function put(
  section: WorkingSection,
  prepared: Prepared,
  expiresInMs: number | undefined,
  call: DriverCall,
): Promise<void> {
  const limit = section.maxElements ?? DEFAULT_MAX_ELEMENTS;
  const { value } = prepared;
  if (Array.isArray(value) && value.length > limit) throw tooLong(value.length, limit);
  await section.put({ ...splitEntry(prepared), expiresInMs }, call);
}

export async function read(
  store: StoreContext,
  of: MemoryScope,
  named: string,
  { last }: Parsed<"read">,
  call: DriverCall,
): Promise<MemoryRecord | null> {
  const scope = memoryScope(of);
  const key = parseKey(named);
  const entry = await store.section("working").get({ scope, key, last }, call);
  return entry === null ? null : parseEntry({ kind: "working", scope, reach: "exact", key }, entry);
}

export async function append(
  store: StoreContext,
  to: MemoryScope,
  named: string,
  value: JsonValue,
  { source, after }: Parsed<"append">,
  call: DriverCall,
): Promise<number> {
  const scope = memoryScope(to);
  const key = parseKey(named);
  const section = store.section("working");
  const { text, redacted } = admitValue(value, store.rules);
  const item = writeItem(
    text,
    redacted.map((path) => path.slice("value".length)),
  );
  const head = sequenceHead(scope, key, source, store.rules, call.now);
  const token = uuidV7(call.now);
  const reply = await section.append({ scope, key, item, head, token, after }, call);
  if (reply.outcome === "appended") return reply.length;
  if (reply.outcome === "full") throw tooLong(reply.length + 1, reply.limit);
  throw new MemoryConflictError("the sequence has another length than `after` says; nothing was added", {
    key,
    expectedVersion: after ?? 0,
    actualVersion: reply.length,
  });
}

export async function expire(
  store: StoreContext,
  of: MemoryScope,
  named: string,
  { ttlMs }: Parsed<"expire">,
  call: DriverCall,
): Promise<boolean> {
  const scope = memoryScope(of);
  const key = parseKey(named);
  return await store.section("working").expire({ scope, key, ttlMs }, call);
}

export async function keys(
  store: StoreContext,
  of: MemoryScope,
  options: Parsed<"keys">,
  call: DriverCall,
): Promise<MemoryKeyPage> {
  const section = store.section("working");
  const page = keyPage(store, of, "keys", options, section.under, []);
  const rows = await section.keys(page.request, call);
  const found = rows.map(({ key, expiresInMs, scope }): MemoryKey => {
    const place = { scope: rowScope(page.request, { scope }), key };
    if (!isText(key)) throw corrupt({ scope, key, expiresInMs }, "its key is not a text");
    return expiresInMs === undefined ? place : { ...place, expiresInMs };
  });
  return { keys: found, cursor: page.cursorAfter(found) };
}

function tooLong(size: number, limit: number): MemoryLimitError {
  return new MemoryLimitError(`a sequence of ${size} elements is longer than the ${limit} that this store takes`, {
    what: "elements",
    limit,
    size,
  });
}
