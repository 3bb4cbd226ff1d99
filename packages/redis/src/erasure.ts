// Erasure in two phases. A tombstone hides a scope of any size in one small step; `sweep` then walks the scopes that the
// registries name and drops their rows in chunks. All that a resumed erasure needs stands in the server.

import type { MemoryReach, MemoryScope } from "@memory/core";
import type { ErasureForecast, ErasureSection, ErasureTally, ErasureTarget } from "@memory/core/driver";
import { derivationsOf, type Registrations } from "./derivations.ts";
import { encodePart, type Names, type Place, scopeAt } from "./keys.ts";
import { COUNT, FINISH, HEADS, MARK_OFFSET, REAP, REAP_ROWS, TOMBSTONE } from "./lua.ts";
import { decodeHead, generationOf } from "./record.ts";
import { listOf, type Scripts, textsOf } from "./script.ts";
import { covers, isWithin, Tenant, type Tenants, tombstoneName } from "./tenant.ts";

/** How many chunks of rows one call of `sweep` drops at most, and how many scopes are worked on at once. */
const CHUNKS = 64;
const SIDE_BY_SIDE = 16;

interface Walk {
  readonly steps: AsyncGenerator<undefined, void, undefined>;
  readonly era: string | undefined;
  /** The tombstones that the walk sees to. */
  readonly covered: Tenant["tombstones"];
}

/** The section over one client. */
export function erasureSection(scripts: Scripts, names: Names, tenants: Tenants): ErasureSection {
  const registrations: Registrations = derivationsOf(scripts, names);
  // Where the walks of this process stand. A lost one is begun anew: what is gone stays gone.
  const walks = new Map<string, Walk>();
  // What a sweep's notes were before it took them, for the case that its answer is lost.
  const taken = new WeakMap<object, number>();

  return {
    narrowing: true,

    async count(target): Promise<ErasureForecast> {
      const tenant = await tenants.survey(target.scope);
      let records = 0;
      const sources = new Set<string>();
      if (target.kinds === undefined || target.kinds.includes("working")) {
        for await (const places of scopesUnder(target.scope, target.reach)) {
          const counted = await inTurns(places, async (place) =>
            countPlace(tenant, scopeAt(target.scope.tenantId, place), target, sources),
          );
          for (const count of counted) records += count;
        }
      }
      const forecast = await registrations.forecast(target, sources);
      return { counts: records === 0 ? {} : { working: records }, ...forecast };
    },

    async tombstone(target): Promise<ErasureTally> {
      const { scope, reach, kinds, keys } = target;
      if (kinds !== undefined && !kinds.includes("working")) return {};
      const fields =
        keys === undefined ? [tombstoneName(scope, reach)] : keys.map((key) => tombstoneName(scope, reach, key));
      if (fields.length === 0) return {};
      const args = [kinds === undefined && keys === undefined ? "1" : "", ...fields];
      const reply = await scripts.run(TOMBSTONE, [names.of(scope).meta], args);
      return tallyOf(sumOf(new Tenant(scope.tenantId, reply), scope, reach));
    },

    async condemned(request) {
      // What was erased by key has to be known by id before its rows go.
      if (request.after === undefined) await collectKeyed(request.scope, request.reach);
      return registrations.condemned(request);
    },

    forget: (positions) => registrations.forget(positions),
    register: (derivation) => registrations.register(derivation),
    derivations: (request) => registrations.list(request),

    async sweep(request, call): Promise<ErasureTally | null> {
      const { scope, reach } = request;
      const name = `${reach}\u0000${names.of(scope).index}`;
      const walk = walks.get(name) ?? (await begin(scope, reach));
      walks.set(name, walk);
      try {
        for (let step = 0; step < CHUNKS; step += 1) {
          if ((await walk.steps.next()).done === true) {
            walks.delete(name);
            return await finish(request, walk, call.attempt);
          }
        }
        return null;
      } catch (error) {
        walks.delete(name);
        throw error;
      }
    },
  };

  async function begin(scope: MemoryScope, reach: MemoryReach): Promise<Walk> {
    const tenant = await tenants.survey(scope);
    return {
      steps: sweepScopes(tenant, scope, reach),
      era: tenant.era,
      covered: tenant.tombstones.filter((one) => isWithin(one, scope, reach)),
    };
  }

  // Yields after each chunk of rows and each page of scopes.
  async function* sweepScopes(tenant: Tenant, scope: MemoryScope, reach: MemoryReach) {
    const { era, tombstones } = tenant;
    if (era === undefined || tombstones.length === 0) return;
    const tally = tombstoneName(scope, reach);
    for await (const places of scopesUnder(scope, reach)) {
      for (let at = 0; at < places.length; at += SIDE_BY_SIDE) {
        const some = places.slice(at, at + SIDE_BY_SIDE).map((place) => scopeAt(scope.tenantId, place));
        const rest = await inTurns(some, async (one) => {
          await sweepKeys(tenant, one, tally);
          const hidden = tenant.hiddenUpTo(one);
          return hidden < 0 ? undefined : { scope: one, hidden, next: await reap(era, one, hidden, tally, []) };
        });
        yield undefined;
        for (const one of rest) if (one !== undefined) yield* sweepScope(era, one.scope, one.hidden, tally, one.next);
      }
    }
  }

  async function* sweepScope(era: string, scope: MemoryScope, hidden: number, tally: string, first: Chunk) {
    let chunk = first;
    while (chunk.state === "all") {
      chunk = await reap(era, scope, hidden, tally, chunk.keys);
      yield undefined;
    }
    if (chunk.state === "none") return;
    for await (const entries of tenants.entries(names.of(scope).index, REAP_ROWS)) {
      const keys = entries.map(([key]) => key).filter((key) => !key.startsWith("\u0000"));
      for (let at = 0; at < keys.length; at += REAP_ROWS) {
        await reap(era, scope, hidden, tally, keys.slice(at, at + REAP_ROWS));
        yield undefined;
      }
    }
  }

  // What a scope holds under the keys that are erased by name.
  async function sweepKeys(tenant: Tenant, scope: MemoryScope, tally: string): Promise<void> {
    if (tenant.era === undefined) return;
    const keyed = new Map<number, string[]>();
    for (const tombstone of tenant.tombstones) {
      if (tombstone.key === undefined || !covers(tombstone, scope)) continue;
      const keys = keyed.get(tombstone.hidden) ?? [];
      keys.push(tombstone.key);
      keyed.set(tombstone.hidden, keys);
    }
    for (const [hidden, keys] of keyed) {
      for (let at = 0; at < keys.length; at += REAP_ROWS) {
        await reap(tenant.era, scope, hidden, tally, keys.slice(at, at + REAP_ROWS), true);
      }
    }
  }

  async function collectKeyed(scope: MemoryScope, reach: MemoryReach): Promise<void> {
    const tenant = await tenants.survey(scope);
    if (!tenant.tombstones.some((one) => one.key !== undefined && isWithin(one, scope, reach))) return;
    const tally = tombstoneName(scope, reach);
    for await (const places of scopesUnder(scope, reach)) {
      await inTurns(places, (place) => sweepKeys(tenant, scopeAt(scope.tenantId, place), tally));
    }
  }

  async function reap(
    era: string,
    scope: MemoryScope,
    hidden: number,
    tally: string,
    keys: readonly string[],
    isNoted = false,
  ): Promise<Chunk> {
    const { place, meta, index, registries, records } = names.of(scope);
    const rows = keys.map((key) => records + encodePart(key));
    const reply = listOf(
      await scripts.run(
        REAP,
        [meta, index, ...registries, ...rows],
        [era, place, String(hidden), tally, String(registries.length), String(REAP_ROWS), isNoted ? "1" : "", ...keys],
      ),
    );
    return { state: String(reply[0]), keys: textsOf(reply[1]) };
  }

  async function finish(
    request: { readonly scope: MemoryScope; readonly reach: MemoryReach },
    { era, covered }: Walk,
    attempt: number,
  ): Promise<ErasureTally> {
    const { scope, reach } = request;
    const { meta, derived } = names.of(scope);
    const tenant = await tenants.survey(scope);
    const noted = sumOf(tenant, scope, reach);
    if (era === undefined || tenant.era !== era) return tallyOf(attempt > 1 ? (taken.get(request) ?? 0) : 0);
    if (noted > 0) taken.set(request, noted);
    const tallies = talliesOf(tenant, scope, reach);
    // While an artefact of what was erased is still to be purged, its tombstone says so.
    const page = { scope, reach, after: undefined, limit: 1 };
    const isPurged = covered.length === 0 || (await registrations.condemned(page)).length === 0;
    const done = isPurged ? covered.flatMap(({ name, value }) => [name, value]) : [];
    const registry = names.of({ tenantId: scope.tenantId }).registries[0] ?? "";
    const args = [era, String(tallies.length), ...tallies.map((name) => `c${name}`), ...done];
    const sum = Number(await scripts.run(FINISH, [meta, registry, derived], args));
    return tallyOf(sum === 0 && attempt > 1 ? (taken.get(request) ?? 0) : sum);
  }

  async function* scopesUnder(
    scope: MemoryScope,
    reach: MemoryReach,
  ): AsyncGenerator<readonly Place[], void, undefined> {
    if (reach === "exact") {
      yield [names.of(scope).place];
      return;
    }
    const target = { scope, reach };
    for await (const places of tenants.places(scope)) {
      yield places.filter((place) => covers(target, scopeAt(scope.tenantId, place)));
    }
  }

  async function countPlace(
    tenant: Tenant,
    scope: MemoryScope,
    target: ErasureTarget,
    sources: Set<string>,
  ): Promise<number> {
    const { index, meta, records } = names.of(scope);
    const hidden = tenant.hiddenUpTo(scope);
    if (target.keys === undefined) {
      const [count, mark] = listOf(await scripts.run(COUNT, [index, meta], []));
      if (mark === "" || Math.floor(Number(mark)) + MARK_OFFSET <= hidden) return 0;
      if (!tenant.tombstones.some((one) => covers(one, scope))) return Number(count);
    }
    const keys = target.keys === undefined ? await allKeys(index) : target.keys;
    let counted = 0;
    for (let at = 0; at < keys.length; at += REAP_ROWS) {
      const page = keys.slice(at, at + REAP_ROWS);
      const heads = textsOf(
        await scripts.run(HEADS, [index, meta, ...page.map((key) => records + encodePart(key))], page),
      );
      for (const [i, head] of heads.entries()) {
        const key = page[i] ?? "";
        if (head === "" || generationOf(head) <= tenant.hiddenUpTo(scope, key)) continue;
        counted += 1;
        if (target.keys !== undefined) sources.add(registrations.sourceOf(scope, decodeHead(head, scope, key).id));
      }
    }
    return counted;
  }

  async function allKeys(index: string): Promise<readonly string[]> {
    const keys = new Set<string>();
    for await (const entries of tenants.entries(index, 1_000)) {
      for (const [key, score] of entries) if (score >= 0) keys.add(key);
    }
    return [...keys];
  }
}

interface Chunk {
  readonly state: string;
  readonly keys: readonly string[];
}

function talliesOf(tenant: Tenant, scope: MemoryScope, reach: MemoryReach): readonly string[] {
  const within = (name: string): boolean => {
    const [tombstone] = new Tenant(scope.tenantId, [name, "0:0"]).tombstones;
    return tombstone !== undefined && isWithin(tombstone, scope, reach);
  };
  return [...tenant.tallies.keys()].filter(within);
}

function sumOf(tenant: Tenant, scope: MemoryScope, reach: MemoryReach): number {
  return talliesOf(tenant, scope, reach).reduce((sum, name) => sum + (tenant.tallies.get(name) ?? 0), 0);
}

function tallyOf(records: number): ErasureTally {
  return records === 0 ? {} : { working: records };
}

/** The results, in order; never more than `SIDE_BY_SIDE` at once. */
async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += SIDE_BY_SIDE) {
    results.push(...(await Promise.all(items.slice(at, at + SIDE_BY_SIDE).map(run))));
  }
  return results;
}
