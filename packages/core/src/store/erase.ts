// Forgetting, and what has to be forgotten with a record.

import type { DerivationPosition, DriverCall, ErasureTarget } from "../model/driver.ts";
import type { Derivation, DerivationPage, ErasureReceipt } from "../model/erasure.ts";
import { MemoryCursorError, PartialErasureError } from "../model/errors.ts";
import type { DerivedInput } from "../model/protocol.ts";
import { type Parsed, parseDerived } from "../model/query.ts";
import { MEMORY_KINDS } from "../model/record.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import { type CursorBinding, type CursorPart, readCursor, writeCursor } from "../rules/cursor.ts";
import { withDeadline } from "../rules/deadline.ts";
import { eraseTarget, forecastReceipt } from "../rules/erasure.ts";
import type { OperationCall } from "../rules/guard.ts";
import { rowScope } from "../rules/row.ts";
import type { StoreContext } from "./context.ts";
import { DEFAULT_PAGE } from "./pages.ts";

export async function erase(
  store: StoreContext,
  of: MemoryScope,
  options: Parsed<"erase">,
  call: OperationCall,
): Promise<ErasureReceipt> {
  const scope = memoryScope(of);
  const section = store.section("erasure");
  const { kinds, keys, reach, dryRun = false } = options;
  const narrowed = kinds !== undefined || keys !== undefined || reach !== undefined || dryRun;
  if (narrowed && !store.capabilities.erasureNarrowing) throw store.refusal(["erasureNarrowing"]);
  const absent = (kinds ?? []).filter((kind) => !store.capabilities[kind]);
  if (absent.length > 0) throw store.refusal(absent);
  const target: ErasureTarget = { scope, reach: reach ?? "under", kinds: unique(kinds), keys: unique(keys) };
  const forecast = dryRun ? await section.count?.(target, call) : undefined;
  if (forecast !== undefined) return forecastReceipt(forecast);
  const members = store.driver.members ?? [{ name: store.driver.name, erasure: section }];
  const { receipt, cause, isHidden } = await eraseTarget(members, target, {
    call,
    indices: store.indices,
    now: () => store.now(),
    purge: (index, place, artefactIds) =>
      withDeadline((signal) => index.purge(place, artefactIds, { signal }), {
        clock: store.clock,
        ms: store.settings.attemptTimeoutMs,
        signal: call.callerSignal,
      }),
  });
  const { counts, records, artefacts, sharedArtefacts, adapters, outstanding, complete } = receipt;
  store.emit({
    name: "adk.memory.erased",
    store: store.driver.name,
    counts,
    records,
    artefacts,
    sharedArtefacts,
    adapters,
    outstanding,
    complete,
  });
  const [adapter] = outstanding;
  if (adapter === undefined) return receipt;
  const rest = isHidden ? "everything is unreadable" : "what the stores hold that were reached is unreadable";
  throw new PartialErasureError(
    `${rest}, but ${adapter} could not be reached or is not configured: erase again`,
    { adapter, receipt },
    cause,
  );
}

export async function derived(
  store: StoreContext,
  of: MemoryScope,
  artefact: DerivedInput,
  call: DriverCall,
): Promise<void> {
  const scope = memoryScope(of);
  const { artefactId, sourceKind, sourceId, adapter, mixes = false } = parseDerived(artefact);
  await store.section("erasure").register({ scope, artefactId, sourceKind, sourceId, adapter, mixes }, call);
}

export async function derivations(
  store: StoreContext,
  of: MemoryScope,
  options: Parsed<"derivations">,
  call: DriverCall,
): Promise<DerivationPage> {
  const scope = memoryScope(of);
  const section = store.section("erasure");
  const { reach = "exact", limit = DEFAULT_PAGE, cursor } = options;
  const binding: CursorBinding = { store: store.driver.name, operation: "derivations", scope, query: [reach] };
  const place =
    cursor == null ? undefined : readCursor(binding, reach, cursor, ["string", "string", "string", "string"]);
  const after = place === undefined ? undefined : position(place.scope, place.parts);
  const rows = await section.derivations({ scope, reach, after, limit }, call);
  const found = rows.map((row): Derivation => ({ ...row, scope: rowScope({ scope, reach }, row) }));
  const last = found.length < limit ? undefined : found.at(-1);
  const parts = last && [last.adapter, last.artefactId, last.sourceKind, last.sourceId];
  return { derivations: found, cursor: last && parts ? writeCursor(binding, last.scope, parts) : null };
}

function position(scope: MemoryScope, parts: readonly CursorPart[]): DerivationPosition {
  const [adapter = "", artefactId = "", kind, sourceId = ""] = parts.map(String);
  const sourceKind = MEMORY_KINDS.find((one) => one === kind);
  if (sourceKind === undefined) throw new MemoryCursorError("the cursor is damaged");
  return { scope, adapter, artefactId, sourceKind, sourceId };
}

function unique<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined ? undefined : [...new Set(list)];
}
