// Profile memory: per key all its versions, and per lineage the same in the order of time, so that what holds at an instant
// is one binary search. Versions are only added. "As known at" and "as it was before" are one idea: a claim about versions.

import type {
  KeyHeads,
  KeyPosition,
  KeyVersions,
  LineageHead,
  ProfileSection,
  StoredRecord,
  Successor,
  VersionRow,
} from "../model/driver.ts";
import type { EpochMs } from "../model/record.ts";
import { placeOf } from "../rules/key.ts";
import type { Kept } from "./erasure.ts";
import { Keyed } from "./keyed.ts";
import { countBelow, take } from "./ordered.ts";

interface Version {
  readonly record: StoredRecord;
  /** Counted from 1 in its key. */
  readonly number: number;
  readonly validFrom: EpochMs;
  readonly lineage: Lineage;
  readonly settles: readonly number[];
  /** Names the write. */
  readonly token: string;
}

interface Lineage {
  /** Counted from 1 in its key. */
  readonly number: number;
  readonly byNumber: Version[];
  /** By (`validFrom`, `number`). */
  readonly byTime: Version[];
  /** The versions that ended this lineage, by number. */
  readonly enders: Version[];
}

interface Fact extends KeyPosition {
  readonly versions: Version[];
  readonly lineages: Lineage[];
  readonly tokens: Set<string>;
}

type Claim = (version: Version) => boolean;

const always: Claim = () => true;

/** The profile section. A read costs O(log n) per lineage, and with `knownAt` a step for each version written since. */
export function profileMemory(): Kept<ProfileSection> {
  const facts = new Keyed<Fact>();
  // Which version first had an id in a scope.
  const ids = new Map<string, { readonly key: string; readonly number: number }>();

  return {
    kind: "profile",
    meant: (target) => facts.meant(target).flatMap((fact) => fact.versions.map((version) => version.record)),
    erase: (target) => {
      for (const fact of facts.meant(target)) {
        facts.delete(fact);
        for (const { record } of fact.versions) ids.delete(placeOf(fact.scope, record.id));
      }
    },
    section: {
      asOf: true,
      knownAt: true,
      supersession: true,
      under: true,

      async versions({ scope, key, asOf, knownAt }, call): Promise<KeyVersions | null> {
        const fact = facts.get(scope, key);
        return fact === undefined ? null : look(fact, asOf, call.now, knownBy(knownAt));
      },

      async heads({ scope, key, id, at, before }, call): Promise<KeyHeads> {
        const wasThere: Claim = before === undefined ? always : (version) => version.number < before;
        const holder = id === undefined ? undefined : ids.get(placeOf(scope, id));
        const isLater = holder?.key === key && before !== undefined && holder.number >= before;
        const idKey = isLater ? undefined : holder?.key;
        const fact = facts.get(scope, key);
        const newest = fact?.versions.findLast(wasThere);
        if (fact === undefined || newest === undefined) {
          return { version: 0, recordedAt: undefined, token: undefined, lineages: 0, open: [], idKey };
        }
        const { recordedAt } = newest.record;
        const instant = at ?? Math.max(call.now, recordedAt);
        const lineages = fact.lineages.filter(({ byNumber }) => hasBegun(byNumber, wasThere));
        const open = lineages.flatMap((lineage) => headOf(lineage, instant, wasThere));
        return { version: newest.number, recordedAt, token: newest.token, lineages: lineages.length, open, idKey };
      },

      async beliefs(request, call): Promise<readonly KeyVersions[]> {
        const isKnown = knownBy(request.knownAt);
        return take(known(facts.page(request), isKnown), request.limit).map((fact) =>
          look(fact, request.asOf, call.now, isKnown),
        );
      },

      async history({ scope, reach, key, after, limit }): Promise<readonly VersionRow[]> {
        const started = after === undefined ? undefined : facts.get(after.scope, after.key);
        const rest = started?.versions.slice(after?.version, (after?.version ?? 0) + limit) ?? [];
        const request = { scope, reach, keyPrefix: undefined, after };
        const others = key === undefined ? facts.page(request) : facts.named(request, key);
        return take(trail(rest, others), limit).map((version) => rowOf(version, always));
      },

      async commit(plan): Promise<boolean> {
        const { scope, key, record, settles, token } = plan;
        const there = facts.get(scope, key);
        if (there?.tokens.has(token) === true) return true;
        const holder = ids.get(placeOf(scope, record.id));
        const newest = there?.versions.at(-1);
        if ((newest?.number ?? 0) !== plan.base || newest?.token !== plan.baseToken) return false;
        if (holder !== undefined && holder.key !== key) return false;
        const fact = there ?? { scope, key, versions: [], lineages: [], tokens: new Set<string>() };
        if (there === undefined) facts.add(fact);
        const lineage = fact.lineages[plan.lineage - 1] ?? {
          number: fact.lineages.length + 1,
          byNumber: [],
          byTime: [],
          enders: [],
        };
        const number = plan.base + 1;
        const validFrom = record.validFrom ?? record.recordedAt;
        const version: Version = { record, number, validFrom, lineage, settles, token };
        if (lineage.byNumber.length === 0) fact.lineages.push(lineage);
        fact.versions.push(version);
        lineage.byNumber.push(version);
        lineage.byTime.splice(countUpTo(lineage, version.validFrom), 0, version);
        for (const settled of settles) fact.lineages[settled - 1]?.enders.push(version);
        fact.tokens.add(token);
        if (holder === undefined) ids.set(placeOf(scope, record.id), { key, number });
        return true;
      },
    },
  };
}

function knownBy(knownAt: EpochMs | undefined): Claim {
  return knownAt === undefined ? always : (version) => version.record.recordedAt <= knownAt;
}

// The facts that have a known version: `recordedAt` never decreases, so the first version tells.
function* known(facts: Iterable<Fact>, isKnown: Claim): Generator<Fact, void, undefined> {
  for (const fact of facts) if (hasBegun(fact.versions, isKnown)) yield fact;
}

function hasBegun([first]: readonly Version[], isKnown: Claim): boolean {
  return first !== undefined && isKnown(first);
}

// The versions left of the key where a page begins, then those of the facts that follow.
function* trail(rest: readonly Version[], facts: Iterable<Fact>): Generator<Version, void, undefined> {
  yield* rest;
  for (const fact of facts) yield* fact.versions;
}

function look(fact: Fact, asOf: EpochMs | undefined, now: EpochMs, isKnown: Claim): KeyVersions {
  const recordedAt = fact.versions[fact.versions.length - 1]?.record.recordedAt ?? now;
  const at = asOf ?? Math.max(now, recordedAt);
  const held = fact.lineages.flatMap((lineage) => heldAt(lineage, at, isKnown) ?? []);
  return { scope: fact.scope, key: fact.key, recordedAt, versions: held.map((version) => rowOf(version, isKnown)) };
}

// The head of a lineage, in a list that is empty when the lineage is settled.
function headOf(lineage: Lineage, at: EpochMs, isKnown: Claim): LineageHead[] {
  const newest = lineage.byNumber.findLast(isKnown);
  if (newest === undefined || lineage.enders.some(isKnown)) return [];
  const held = heldAt(lineage, at, isKnown);
  return [
    {
      lineage: lineage.number,
      newest: rowOf(newest, isKnown),
      held: held === undefined ? null : rowOf(held, isKnown),
    },
  ];
}

function heldAt(lineage: Lineage, at: EpochMs, isKnown: Claim): Version | undefined {
  for (let index = countUpTo(lineage, at) - 1; index >= 0; index -= 1) {
    const version = lineage.byTime[index];
    if (version !== undefined && isKnown(version)) return version;
  }
  return undefined;
}

// How many versions of the lineage begin at the instant or before.
function countUpTo(lineage: Lineage, at: EpochMs): number {
  return countBelow(lineage.byTime, (version) => version.validFrom <= at);
}

function rowOf(version: Version, isKnown: Claim): VersionRow {
  const { record, lineage, settles } = version;
  return {
    record,
    lineage: lineage.number,
    settles,
    next: successor(nextOf(version, isKnown)),
    end: successor(lineage.enders.find(isKnown)),
  };
}

function nextOf({ lineage, validFrom, number }: Version, isKnown: Claim): Version | undefined {
  const { byTime } = lineage;
  const isNotAfter: Claim = (other) =>
    other.validFrom < validFrom || (other.validFrom === validFrom && other.number <= number);
  for (let index = countBelow(byTime, isNotAfter); index < byTime.length; index += 1) {
    const version = byTime[index];
    if (version !== undefined && isKnown(version)) return version;
  }
  return undefined;
}

function successor(version: Version | undefined): Successor | undefined {
  return version === undefined ? undefined : { id: version.record.id, validFrom: version.validFrom };
}
