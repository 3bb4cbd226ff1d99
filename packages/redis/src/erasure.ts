// Erasure in two phases. A tombstone hides a scope of any size in one small step; `sweep` then walks the scopes that the
// registries name and drops their rows in chunks. All that a resumed erasure needs stands in the server.

import type { MemoryReach, MemoryScope } from "@memory/core";
import type { ErasureForecast, ErasureSection, ErasureTally, ErasureTarget } from "@memory/core/driver";
import { derivationsOf, type Registrations } from "./derivations.ts";
import { encodePart, type Names, type Place, scopeAt } from "./keys.ts";
import { COUNT, DROP, FINISH, HEADS, MARK_OFFSET, MEMBERS, PEEK, REAP, REAP_ROWS, TOMBSTONE } from "./lua.ts";
import { decodeHead, generationOf } from "./record.ts";
import { listOf, type ScriptReply, type Scripts, textsOf } from "./script.ts";
import { covers, isWithin, Tenant, type Tenants, tombstoneName } from "./tenant.ts";
import { CLIENT_ID } from "./working.ts";

/** How many chunks of rows one call of `sweep` drops at most, and how many scopes are worked on at once. */
const CHUNKS = 64;
const SIDE_BY_SIDE = 16;

/** How many scopes are looked into at once. */
const SCOPES = 200;

/** How many rows a dry run asks for at a time. */
const LOOK_ROWS = 250;

interface Walk {
  readonly steps: AsyncGenerator<undefined, void, undefined>;
  readonly era: string | undefined;
  /** The tombstones that the walk sees to. */
  readonly covered: Tenant["tombstones"];
  /** An attempt is under way in it, which may have been given up: another one begins anew. */
  isTaken: boolean;
}

/** The section over one client. */
export function erasureSection(scripts: Scripts, names: Names, tenants: Tenants): ErasureSection {
  const registrations: Registrations = derivationsOf(scripts, names);
  // Where the walk of each erasure stands, by its request. A lost one is begun anew: what is gone stays gone.
  const walks = new WeakMap<object, Walk>();
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
      const { meta, registries } = names.of(scope);
      const args = [kinds === undefined && keys === undefined ? "1" : "", CLIENT_ID, ...fields];
      const reply = await scripts.run(TOMBSTONE, [meta, registries[0] ?? ""], args);
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
      // Of a generator that failed under one attempt, the next step of another would look like its end.
      const known = walks.get(request);
      const walk = known === undefined || known.isTaken ? await begin(scope, reach) : known;
      walk.isTaken = true;
      walks.set(request, walk);
      for (let step = 0; step < CHUNKS; step += 1) {
        if ((await walk.steps.next()).done === true) return await finish(request, walk, call.attempt);
      }
      walk.isTaken = false;
      return null;
    },
  };

  async function begin(scope: MemoryScope, reach: MemoryReach): Promise<Walk> {
    const tenant = await tenants.survey(scope);
    return {
      steps: sweepScopes(tenant, scope, reach),
      era: tenant.era,
      covered: tenant.tombstones.filter((one) => isWithin(one, scope, reach)),
      isTaken: false,
    };
  }

  // Yields after each chunk of rows. Small scopes go many at a time; large ones, and those written to meanwhile, alone.
  async function* sweepScopes(tenant: Tenant, scope: MemoryScope, reach: MemoryReach) {
    const { era, tombstones } = tenant;
    if (era === undefined || tombstones.length === 0) return;
    const tally = tombstoneName(scope, reach);
    const isKeyed = tombstones.some((one) => one.key !== undefined);
    for await (const places of scopesUnder(scope, reach)) {
      const scopes = [...new Set(places)].map((place) => scopeAt(scope.tenantId, place));
      if (isKeyed) await inTurns(scopes, (one) => sweepKeys(tenant, one, tally));
      const hidden = scopes.flatMap((one) => {
        const upTo = tenant.hiddenUpTo(one);
        return upTo < 0 ? [] : [{ scope: one, upTo }];
      });
      for (let at = 0; at < hidden.length; at += SCOPES) {
        yield* sweepTogether(era, hidden.slice(at, at + SCOPES), tally);
      }
    }
  }

  async function* sweepTogether(era: string, scopes: readonly Hidden[], tally: string) {
    const groups: Filled[][] = [];
    const alone: Filled[] = [];
    let rows = 0;
    for (const one of await peek(era, scopes)) {
      if (one.count < 0 || one.count > REAP_ROWS) alone.push(one);
      if (one.count < 0 || one.count > REAP_ROWS) continue;
      if (groups.length === 0 || rows + one.count > REAP_ROWS) {
        groups.push([]);
        rows = 0;
      }
      groups.at(-1)?.push(one);
      rows += one.count + 1;
    }
    // While the server drops one chunk, the next is looked up and sent.
    let next = groups[0] && begun(fill(groups[0], 0));
    let dropping: Promise<readonly Filled[]> | undefined;
    for (const [at] of groups.entries()) {
      const group = (await next) ?? [];
      const following = groups[at + 1];
      next = following && begun(fill(following, 0));
      const before = dropping;
      dropping = begun(drop(era, group, tally, "all"));
      alone.push(...((await before) ?? []));
      yield undefined;
    }
    alone.push(...((await dropping) ?? []));
    for (const one of alone) yield* one.count < 0 ? walk(era, one, tally) : sweepAlone(era, one, tally);
  }

  async function* sweepAlone(era: string, one: Filled, tally: string) {
    let next = begun(fill([one], 0));
    let dropping: Promise<readonly Filled[]> | undefined;
    for (let at = REAP_ROWS; ; at += REAP_ROWS) {
      const chunk = await next;
      const isLast = (chunk[0]?.keys.length ?? 0) === 0;
      const before = dropping;
      if (!isLast) {
        next = begun(fill([one], at));
        dropping = begun(drop(era, chunk, tally, "some"));
      }
      let left = (await before) ?? [];
      // The index goes after all its rows: without it they would not be counted.
      if (isLast && left.length === 0) left = await drop(era, chunk, tally, "rest");
      yield undefined;
      if (left.length > 0) {
        await next;
        await dropping;
        yield* walk(era, one, tally);
        return;
      }
      if (isLast) return;
    }
  }

  async function* walk(era: string, { scope, upTo }: Hidden, tally: string) {
    for await (const entries of tenants.entries(names.of(scope).index, REAP_ROWS)) {
      const keys = entries.map(([key]) => key).filter((key) => !key.startsWith("\u0000"));
      for (let from = 0; from < keys.length; from += REAP_ROWS) {
        await reap(era, scope, upTo, tally, keys.slice(from, from + REAP_ROWS), false);
        yield undefined;
      }
    }
  }

  async function peek(era: string, scopes: readonly Hidden[]): Promise<readonly Filled[]> {
    const [first] = scopes;
    if (first === undefined) return [];
    const { meta } = names.of(first.scope);
    const indices = scopes.map(({ scope }) => names.of(scope).index);
    const found = listOf(await scripts.run(PEEK, [meta, ...indices], [era, ...scopes.map(({ upTo }) => String(upTo))]));
    return scopes.map((one, i) => ({ ...one, count: Number(found[2 * i]), keys: split(found[2 * i + 1]) }));
  }

  // Ranks stand still in an index that is hidden whole: a write to it would have made it mixed.
  async function fill(group: readonly Filled[], from: number): Promise<readonly Filled[]> {
    const wanted = group.filter(({ count, keys }) => count > keys.length);
    if (wanted.length === 0) return group;
    const indices = wanted.map(({ scope }) => names.of(scope).index);
    const found = listOf(await scripts.run(MEMBERS, indices, [String(1 + from), String(from + REAP_ROWS)]));
    const keys = new Map(wanted.map((one, i) => [one, split(found[i])]));
    return group.map((one) => ({ ...one, keys: keys.get(one) ?? one.keys }));
  }

  // Gives back those that were written to meanwhile, as mixed.
  async function drop(
    era: string,
    group: readonly Filled[],
    tally: string,
    mode: "all" | "some" | "rest",
  ): Promise<readonly Filled[]> {
    const [first] = group;
    if (first === undefined) return [];
    const registries = new Map<string, number>();
    const keys: string[] = [];
    const args: string[] = [];
    for (const { scope, upTo, keys: rows } of group) {
      const at = names.of(scope);
      const digits = at.registries.map((name) => {
        const digit = registries.get(name) ?? registries.size;
        registries.set(name, digit);
        return digit;
      });
      keys.push(at.index);
      for (const key of rows) keys.push(at.records + encodePart(key));
      args.push(String(rows.length), String(upTo), at.place, digits.join(" "));
    }
    const { meta } = names.of(first.scope);
    const left = listOf(
      await scripts.run(
        DROP,
        [meta, ...registries.keys(), ...keys],
        [era, tally, mode, String(registries.size), ...args],
      ),
    );
    return left.flatMap((position) => {
      const one = group[Number(position) - 1];
      return one === undefined ? [] : [{ ...one, count: -1 }];
    });
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
    isNoted: boolean,
  ): Promise<void> {
    const { place, meta, index, registries, records } = names.of(scope);
    const rows = keys.map((key) => records + encodePart(key));
    const args = [era, place, String(hidden), tally, String(registries.length), isNoted ? "1" : "", ...keys];
    await scripts.run(REAP, [meta, index, ...registries, ...rows], args);
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
    const pages = Array.from({ length: Math.ceil(keys.length / LOOK_ROWS) }, (_, i) =>
      keys.slice(i * LOOK_ROWS, (i + 1) * LOOK_ROWS),
    );
    const counts = await inTurns(pages, async (page) => {
      const rows = page.map((key) => records + encodePart(key));
      const heads = textsOf(await scripts.run(HEADS, [index, meta, ...rows], page));
      const visible = heads.flatMap((head, i) => {
        const key = page[i] ?? "";
        return head === "" || generationOf(head) <= tenant.hiddenUpTo(scope, key) ? [] : [{ head, key }];
      });
      if (target.keys !== undefined) {
        for (const { head, key } of visible)
          sources.add(registrations.sourceOf(scope, decodeHead(head, scope, key).id));
      }
      return visible.length;
    });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async function allKeys(index: string): Promise<readonly string[]> {
    const keys = new Set<string>();
    for await (const entries of tenants.entries(index, 1_000)) {
      for (const [key, score] of entries) if (score >= 0) keys.add(key);
    }
    return [...keys];
  }
}

interface Hidden {
  readonly scope: MemoryScope;
  /** The greatest generation hidden. */
  readonly upTo: number;
}

/** What a scope holds: `count` rows, all hidden, and some of their keys; or (-1) rows of which only some are hidden. */
interface Filled extends Hidden {
  readonly count: number;
  readonly keys: readonly string[];
}

/** Keys as a script joins them. */
function split(keys: ScriptReply): readonly string[] {
  return typeof keys !== "string" || keys === "" ? [] : keys.split("\u0000");
}

/** The same promise: should what waits for it give up before, its failure is nobody's. */
function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
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
