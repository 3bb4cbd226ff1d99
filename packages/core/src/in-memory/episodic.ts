// Episodic memory: a map by (scope, id) that makes `log` idempotent, and the episodes of every scope in the order of time.

import type { EpisodePageRequest, EpisodicSection, LogEntry, StoredRecord } from "../model/driver.ts";
import { compareText } from "../model/json.ts";
import { compareScopes } from "../model/scope.ts";
import { placeOf } from "../rules/key.ts";
import { isValidAt, matchesFilter } from "../rules/matching.ts";
import type { Kept } from "./erasure.ts";
import { take } from "./ordered.ts";
import { Scoped } from "./scoped.ts";

interface Episode {
  readonly record: StoredRecord;
  readonly scope: StoredRecord["scope"];
  readonly id: string;
  readonly validFrom: number;
}

type Place = Omit<Episode, "record">;

/** The episodic section. A page costs what it looks at: conditions on key, metadata and validity pass over episodes. */
export function episodicMemory(): Kept<EpisodicSection> {
  const byId = new Map<string, Episode>();
  const inTime = new Scoped<Episode>(compareEpisodes);

  return {
    kind: "episodic",
    meant: (target) => meant(target).map((episode) => episode.record),
    erase: (target) => {
      for (const episode of meant(target)) {
        byId.delete(placeOf(episode.scope, episode.id));
        inTime.delete(episode);
      }
    },
    section: {
      under: true,
      filter: true,

      async log(entries): Promise<readonly StoredRecord[]> {
        const fresh: [string, Episode][] = [];
        const others: StoredRecord[] = [];
        for (const entry of entries) {
          const { record } = entry;
          const place = placeOf(record.scope, record.id);
          const there = byId.get(place);
          if (there === undefined) fresh.push([place, episodeOf(record)]);
          else if (!isSame(entry, there.record)) others.push(there.record);
        }
        if (others.length > 0) return others;
        for (const [place, episode] of fresh) {
          byId.set(place, episode);
          inTime.add(episode);
        }
        return others;
      },

      async page(request): Promise<readonly StoredRecord[]> {
        const { scope, reach, after, until } = request;
        const isOlder = (episode: Place): boolean =>
          (until === undefined || episode.validFrom <= until) &&
          (after === undefined || compareEpisodes(episode, after) < 0);
        return take(matching(inTime.descending(scope, reach, isOlder), request), request.limit);
      },
    },
  };

  function meant({ scope, reach, keys }: Parameters<Kept<EpisodicSection>["meant"]>[0]): Episode[] {
    const all = [...inTime.ascending(scope, reach)];
    if (keys === undefined) return all;
    const names = new Set(keys);
    return all.filter(({ record }) => names.has(record.key));
  }
}

// Oldest first, and last scope first: a page reads it backwards.
function compareEpisodes(a: Place, b: Place): number {
  return a.validFrom - b.validFrom || compareText(a.id, b.id) || compareScopes(b.scope, a.scope);
}

function episodeOf(record: StoredRecord): Episode {
  return { record, scope: record.scope, id: record.id, validFrom: record.validFrom ?? record.recordedAt };
}

function* matching(
  episodes: Iterable<Episode>,
  { key, since, asOf, filter }: EpisodePageRequest,
): Generator<StoredRecord, void, undefined> {
  for (const { record, validFrom } of episodes) {
    if (since !== undefined && validFrom < since) return;
    if (key !== undefined && record.key !== key) continue;
    if (asOf !== undefined && !isValidAt(record, asOf)) continue;
    if (matchesFilter(record, filter)) yield record;
  }
}

function isSame({ record, anyFrom }: LogEntry, there: StoredRecord): boolean {
  return record.value === there.value && attributesOf(record, anyFrom) === attributesOf(there, anyFrom);
}

// As text: what differs in the order of members only, core finds equal.
function attributesOf(record: StoredRecord, anyFrom: boolean): string {
  const { key, source, confidence, validFrom, validTo, subject, predicate, metadata, redacted } = record;
  const from = anyFrom ? null : validFrom;
  return JSON.stringify([key, source, confidence, from, validTo, subject, predicate, metadata, redacted]);
}
