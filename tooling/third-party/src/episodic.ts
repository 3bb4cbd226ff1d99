// Episodic memory: a row an episode. A page reads down an index that stands in the page's order, one for each shape of scope.

import {
  type EpisodePageRequest,
  type EpisodicSection,
  matchesFilter,
  type StoredRecord,
  sameContent,
} from "@memory/core/driver";
import type { Connection } from "./connection.ts";
import {
  afterValues,
  EXACT,
  insertInto,
  order,
  RECORD_COLUMNS,
  readRecord,
  recordValues,
  scopeValues,
  type Values,
  within,
} from "./row.ts";

const FIND = `SELECT ${RECORD_COLUMNS} FROM memory_episodes WHERE ${EXACT} AND id=:id`;
const INSERT = insertInto("memory_episodes", RECORD_COLUMNS);

/** The section over this connection. */
export function episodicSection(connection: Connection): EpisodicSection {
  return {
    under: true,
    filter: true,

    log(entries, call): Promise<readonly StoredRecord[]> {
      return connection.write(call, () => {
        const fresh: StoredRecord[] = [];
        const others: StoredRecord[] = [];
        for (const { record, anyFrom } of entries) {
          const row = connection.get(FIND, { ...scopeValues(record.scope), id: record.id });
          const there = row && readRecord(row);
          if (there === undefined) fresh.push(record);
          else if (!sameContent(there, record, anyFrom)) others.push(there);
        }
        if (others.length === 0) for (const record of fresh) connection.run(INSERT, recordValues(record));
        return others;
      });
    },

    async page(request): Promise<readonly StoredRecord[]> {
      const found: StoredRecord[] = [];
      for (const row of connection.each(pageText(request), pageValues(request))) {
        const record = readRecord(row);
        if (matchesFilter(record, request.filter)) found.push(record);
        if (found.length === request.limit) break;
      }
      return found;
    },
  };
}

function pageText({ scope, reach, key, since, until, asOf, after }: EpisodePageRequest): string {
  const conditions = [within(scope, reach)];
  const open = order(scope, reach);
  if (key !== undefined) conditions.push("key=:key");
  if (since !== undefined) conditions.push("valid_from>=:since");
  if (until !== undefined) conditions.push("valid_from<=:until");
  if (asOf !== undefined) conditions.push("valid_from<=:as_of AND (valid_to IS NULL OR :as_of<valid_to)");
  if (after !== undefined) {
    // The range is in the index; of the place itself, where a wide scope may hold several ids, the scopes behind it.
    conditions.push(`(valid_from,id)${open === "" ? "<" : "<="}(:after_valid_from,:after_id)`);
    if (open !== "") {
      const places = open.replaceAll(/\w+/g, ":after_$&");
      conditions.push(`(valid_from<>:after_valid_from OR id<>:after_id OR (${open})>(${places}))`);
    }
  }
  const columns = ["valid_from DESC", "id DESC", ...(open === "" ? [] : [open])];
  return `SELECT ${RECORD_COLUMNS} FROM memory_episodes WHERE ${conditions.join(" AND ")} ORDER BY ${columns.join(",")}`;
}

function pageValues({ scope, key, since, until, asOf, after }: EpisodePageRequest): Values {
  const place = after && { ...scopeValues(after.scope), valid_from: after.validFrom, id: after.id };
  const bounds = { key: key ?? null, since: since ?? null, until: until ?? null, as_of: asOf ?? null };
  return { ...scopeValues(scope), ...bounds, ...(place && afterValues(place)) };
}
