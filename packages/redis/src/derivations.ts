// Derivations: one sorted set a tenant, in the order of (adapter, artefact, scope, kind, source), so that a page is a range
// and all registrations of one artefact stand together. Which of them are condemned follows from the tombstones.

import type { Derivation, MemoryReach, MemoryScope } from "@memory/core";
import {
  type CondemnedDerivation,
  compareText,
  containsScope,
  type DerivationPosition,
  type ErasureForecast,
  type ErasureTarget,
  sameScope,
} from "@memory/core/driver";
import { type Names, placeOf, scopeAt } from "./keys.ts";
import { DERIVATIONS, FORGET, REGISTER } from "./lua.ts";
import { decodeHead } from "./record.ts";
import { listOf, type Scripts, textsOf } from "./script.ts";
import { covers, Tenant } from "./tenant.ts";
import { CLIENT_ID } from "./working.ts";

/** How many registrations one reply holds. */
const PAGE = 1_000;

interface Registration {
  readonly member: string;
  readonly name: string;
  readonly derivation: Derivation;
  readonly era: string;
  readonly generation: number;
}

interface PageRequest {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  readonly after: DerivationPosition | undefined;
  readonly limit: number;
}

/** What the erasure section does with derivations. A page reads the tenant's registrations up to what it gives. */
export interface Registrations {
  register(derivation: Derivation): Promise<void>;
  list(request: PageRequest): Promise<readonly Derivation[]>;
  condemned(request: PageRequest): Promise<readonly CondemnedDerivation[]>;
  forget(positions: readonly DerivationPosition[]): Promise<void>;
  forecast(target: ErasureTarget, sources: ReadonlySet<string>): Promise<Omit<ErasureForecast, "counts">>;
  /** Names a working record as a source. */
  sourceOf(scope: MemoryScope, id: string): string;
}

export function derivationsOf(scripts: Scripts, names: Names): Registrations {
  return { register, list, condemned, forget, forecast, sourceOf };

  async function register(derivation: Derivation): Promise<void> {
    const { derived, meta, registries } = names.of(derivation.scope);
    await scripts.run(
      REGISTER,
      [derived, meta, registries[0] ?? ""],
      [nameOf(derivation), derivation.mixes ? "1" : "", CLIENT_ID],
    );
  }

  async function list({ scope, reach, after, limit }: PageRequest): Promise<readonly Derivation[]> {
    const found: Derivation[] = [];
    for await (const { tenant, group } of groups(scope, after && `(${nameOf(after)}\u0001`)) {
      const falls = condemnation(tenant);
      for (const one of group) if (isMeant(one, scope, reach) && !falls(one)) found.push(one.derivation);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  async function condemned({ scope, reach, after, limit }: PageRequest): Promise<readonly CondemnedDerivation[]> {
    const found: CondemnedDerivation[] = [];
    const last = after === undefined ? undefined : nameOf(after);
    // From the first registration of the artefact on: whether it is shared is a question to all of them.
    for await (const { tenant, group } of groups(scope, after && `[${artefactOf(after)}`)) {
      const falls = condemnation(tenant);
      for (const one of group) {
        if (!isMeant(one, scope, reach) || !falls(one)) continue;
        if (last !== undefined && compareText(one.name, last) <= 0) continue;
        found.push({ derivation: one.derivation, shared: isShared(group, one, falls) });
      }
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  async function forget(positions: readonly DerivationPosition[]): Promise<void> {
    const byTenant = new Map<string, DerivationPosition[]>();
    for (const position of positions) {
      const own = byTenant.get(position.scope.tenantId) ?? [];
      own.push(position);
      byTenant.set(position.scope.tenantId, own);
    }
    for (const own of byTenant.values()) await forgetOf(own);
  }

  async function forgetOf(positions: readonly DerivationPosition[]): Promise<void> {
    const sorted = [...positions].sort((a, b) => compareText(nameOf(a), nameOf(b)));
    const [first] = sorted;
    const last = sorted.at(-1);
    if (first === undefined || last === undefined) return;
    const wanted = new Set(sorted.map(nameOf));
    const members: string[] = [];
    const end = nameOf(last);
    for await (const { tenant, group } of groups(first.scope, `[${artefactOf(first)}`)) {
      const falls = condemnation(tenant);
      for (const one of group) if (wanted.has(one.name) && falls(one)) members.push(one.member);
      if (compareText(group[0]?.name ?? "", end) > 0) break;
    }
    if (members.length > 0) await scripts.run(FORGET, [names.of(first.scope).derived], members);
  }

  async function forecast(
    target: ErasureTarget,
    sources: ReadonlySet<string>,
  ): Promise<Omit<ErasureForecast, "counts">> {
    const { scope, reach, kinds, keys } = target;
    let artefacts = 0;
    let sharedArtefacts = 0;
    for await (const { tenant, group } of groups(scope, undefined)) {
      const isCondemned = condemnation(tenant);
      const falls = (one: Registration): boolean => {
        const { sourceKind, sourceId, scope: owner } = one.derivation;
        if (isCondemned(one)) return true;
        if (!isMeant(one, scope, reach)) return false;
        if (kinds !== undefined && !kinds.includes(sourceKind)) return false;
        return keys === undefined || (sourceKind === "working" && sources.has(sourceOf(owner, sourceId)));
      };
      const doomed = group.filter((one) => isMeant(one, scope, reach) && falls(one));
      if (doomed.length === 0) continue;
      if (doomed.every((one) => isShared(group, one, falls))) sharedArtefacts += 1;
      else artefacts += 1;
    }
    return { artefacts, sharedArtefacts };
  }

  function sourceOf(scope: MemoryScope, id: string): string {
    return `${placeOf(scope)}\u0000${id}`;
  }

  // All registrations of one artefact at a time, from a bound on, with the bookkeeping as it was then.
  async function* groups(scope: MemoryScope, from: string | undefined) {
    const { derived, meta } = names.of(scope);
    let bound = from ?? "-";
    let group: Registration[] = [];
    for (;;) {
      const [fields, members] = listOf(await scripts.run(DERIVATIONS, [derived, meta], [bound, String(PAGE)]));
      const tenant = new Tenant(scope.tenantId, fields);
      const page = textsOf(members);
      for (const member of page) {
        const one = readRegistration(scope.tenantId, member);
        const [before] = group;
        if (before !== undefined && artefactOf(before.derivation) !== artefactOf(one.derivation)) {
          yield { tenant, group };
          group = [];
        }
        group.push(one);
      }
      if (page.length < PAGE) {
        if (group.length > 0) yield { tenant, group };
        return;
      }
      bound = `(${page.at(-1)}`;
    }
  }

  // Whether a registration's source is erased. One of another era lost its bookkeeping: nothing vouches for its source.
  function condemnation(tenant: Tenant): (one: Registration) => boolean {
    const erased = new Map<string, number>();
    for (const { place, head, hidden } of tenant.notes) {
      const scope = scopeAt("", place);
      const name = sourceOf(scope, decodeHead(head, scope, "").id);
      erased.set(name, Math.max(erased.get(name) ?? -1, hidden));
    }
    return ({ derivation: { scope, sourceKind, sourceId }, era, generation }) => {
      if (era !== tenant.era) return true;
      if (sourceKind === "working" && (erased.get(sourceOf(scope, sourceId)) ?? -1) >= generation) return true;
      return tenant.tombstones.some((tombstone) => {
        if (tombstone.key !== undefined || !covers(tombstone, scope)) return false;
        return (sourceKind === "working" ? tombstone.hidden : tombstone.hiddenDerivations) >= generation;
      });
    };
  }
}

function isMeant({ derivation }: Registration, scope: MemoryScope, reach: MemoryReach): boolean {
  return reach === "exact" ? sameScope(scope, derivation.scope) : containsScope(scope, derivation.scope);
}

// Whether another scope keeps the artefact, and no registration of it says that it mixes.
function isShared(
  group: readonly Registration[],
  { derivation }: Registration,
  falls: (one: Registration) => boolean,
): boolean {
  if (group.some((one) => one.derivation.mixes)) return false;
  return group.some((one) => !falls(one) && !sameScope(one.derivation.scope, derivation.scope));
}

// NUL is refused in all of these, so that this is injective and sorts as the parts do.
function nameOf({ adapter, artefactId, scope, sourceKind, sourceId }: DerivationPosition): string {
  const { userId, sessionId, agent } = scope;
  return [adapter, artefactId, userId ?? "", sessionId ?? "", agent ?? "", sourceKind, sourceId].join("\u0000");
}

function artefactOf({ adapter, artefactId }: Pick<DerivationPosition, "adapter" | "artefactId">): string {
  return `${adapter}\u0000${artefactId}\u0000`;
}

function readRegistration(tenantId: string, member: string): Registration {
  const [adapter = "", artefactId = "", userId, sessionId, agent, kind = "", sourceId = "", era = "", gen, mixes] =
    member.split("\u0000");
  const scope: MemoryScope = {
    tenantId,
    ...(userId ? { userId } : {}),
    ...(sessionId ? { sessionId } : {}),
    ...(agent ? { agent } : {}),
  };
  const derivation = { scope, artefactId, sourceKind: kindOf(kind), sourceId, adapter, mixes: mixes === "1" };
  return { member, name: nameOf(derivation), derivation, era, generation: Number(gen) };
}

function kindOf(text: string): Derivation["sourceKind"] {
  return text === "profile" || text === "episodic" || text === "semantic" ? text : "working";
}
