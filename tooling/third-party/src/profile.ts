// Profile memory: a row a version, never changed. What is known at an instant, and what was there before a version, are two
// bounds on the same statements; each of them is one step into an index.

import type { EpochMs, MemoryScope } from "@memory/core";
import type {
  KeyHeads,
  KeyVersions,
  LineageHead,
  ProfileSection,
  Successor,
  VersionRow,
  WritePlan,
} from "@memory/core/driver";
import type { Connection } from "./connection.ts";
import {
  afterValues,
  beyond,
  EXACT,
  insertInto,
  order,
  PARTS,
  PREFIXED,
  RECORD_COLUMNS,
  type Row,
  readJson,
  readRecord,
  readScope,
  recordValues,
  scopeValues,
  text,
  type Values,
  within,
} from "./row.ts";

const COLUMNS = `${RECORD_COLUMNS},version,lineage,lineages,settles,token`;
const KEY = `${EXACT} AND key=:key`;
const KNOWN = "recorded_at<=:known_at AND version<:before";
const VERSIONS = `SELECT ${COLUMNS} FROM memory_profile WHERE ${KEY}`;

const NEWEST = `${VERSIONS} AND version<:before ORDER BY version DESC LIMIT 1`;
const NEWEST_OF_LINEAGE = `${VERSIONS} AND lineage=:lineage AND version<:before ORDER BY version DESC LIMIT 1`;
const HELD = `${VERSIONS} AND lineage=:lineage AND valid_from<=:at AND ${KNOWN} ORDER BY valid_from DESC,version DESC LIMIT 1`;
const NEXT = `${VERSIONS} AND lineage=:lineage AND (valid_from,version)>(:valid_from,:version) AND ${KNOWN} ORDER BY valid_from,version LIMIT 1`;
const END = `${VERSIONS} AND settles<>'[]' AND EXISTS (SELECT 1 FROM json_each(settles) WHERE value=:lineage) AND ${KNOWN} ORDER BY version LIMIT 1`;
const HOLDER = `SELECT key FROM memory_profile WHERE ${EXACT} AND id=:id AND (key<>:key OR version<:before) LIMIT 1`;
const WRITTEN = `SELECT 1 FROM memory_profile WHERE ${KEY} AND token=:token`;
const INSERT = insertInto("memory_profile", COLUMNS);

/** Beyond every version and every instant. */
const ALL = Number.MAX_SAFE_INTEGER;
const UNBOUNDED: Values = { known_at: ALL, before: ALL };

/** The section over this connection. */
export function profileSection(connection: Connection): ProfileSection {
  return {
    asOf: true,
    knownAt: true,
    supersession: true,
    under: true,

    async versions({ scope, key, asOf, knownAt }, { now }): Promise<KeyVersions | null> {
      return connection.read(() => look(scope, key, asOf, knownAt, now));
    },

    async heads({ scope, key, id = null, at, before = ALL }, { now }): Promise<KeyHeads> {
      const values = { ...scopeValues(scope), key, id, known_at: ALL, before };
      return connection.read(() => {
        const holder = connection.get(HOLDER, values);
        const idKey = holder && text(holder, "key");
        const newest = connection.get(NEWEST, values);
        if (newest === undefined) {
          return { version: 0, recordedAt: undefined, token: undefined, lineages: 0, open: [], idKey };
        }
        const { version, recordedAt } = numbersOf(newest);
        const lineages = Number(newest["lineages"]);
        const instant = at ?? Math.max(now, recordedAt);
        const open = upTo(lineages).flatMap((lineage) => headOf({ ...values, lineage, at: instant }));
        return { version, recordedAt, token: text(newest, "token"), lineages, open, idKey };
      });
    },

    async beliefs(request, { now }): Promise<readonly KeyVersions[]> {
      const { scope, reach, keyPrefix, after, limit, asOf, knownAt } = request;
      const columns = order(scope, reach, "key");
      // Every key has a first version, which is the one that was known first.
      const conditions = [within(scope, reach), "version=1 AND recorded_at<=:known_at"];
      if (keyPrefix !== undefined) conditions.push(PREFIXED);
      if (after !== undefined) conditions.push(beyond(columns));
      const place = after === undefined ? {} : afterValues({ ...scopeValues(after.scope), key: after.key });
      return connection.read(() => {
        const keys = connection.all(
          `SELECT ${PARTS.join(",")},key FROM memory_profile WHERE ${conditions.join(" AND ")} ORDER BY ${columns} LIMIT :limit`,
          { ...scopeValues(scope), ...place, prefix: keyPrefix ?? null, known_at: knownAt ?? ALL, limit },
        );
        return keys.flatMap((row) => look(readScope(row), text(row, "key"), asOf, knownAt, now) ?? []);
      });
    },

    async history({ scope, reach, key, after, limit }): Promise<readonly VersionRow[]> {
      const columns = order(scope, reach, "key", "version");
      const conditions = [within(scope, reach)];
      if (key !== undefined) conditions.push("key=:key");
      if (after !== undefined) conditions.push(beyond(columns));
      const place =
        after === undefined ? {} : afterValues({ ...scopeValues(after.scope), key: after.key, version: after.version });
      return connection.read(() =>
        connection
          .all(
            `SELECT ${COLUMNS} FROM memory_profile WHERE ${conditions.join(" AND ")} ORDER BY ${columns} LIMIT :limit`,
            { ...scopeValues(scope), ...place, key: key ?? null, limit },
          )
          .map((row) => versionOf(row, UNBOUNDED)),
      );
    },

    commit(plan, call): Promise<boolean> {
      return connection.write(call, () => commit(plan));
    },
  };

  function look(
    scope: MemoryScope,
    key: string,
    asOf: EpochMs | undefined,
    knownAt: EpochMs | undefined,
    now: EpochMs,
  ): KeyVersions | null {
    const values = { ...scopeValues(scope), key, known_at: knownAt ?? ALL, before: ALL };
    const newest = connection.get(NEWEST, values);
    if (newest === undefined) return null;
    const { recordedAt } = numbersOf(newest);
    const at = asOf ?? Math.max(now, recordedAt);
    const versions = upTo(Number(newest["lineages"])).flatMap((lineage) => {
      const held = connection.get(HELD, { ...values, lineage, at });
      return held === undefined ? [] : [versionOf(held, values)];
    });
    return { scope, key, recordedAt, versions };
  }

  // The head of a lineage, in a list that is empty when the lineage is settled.
  function headOf(values: Values): LineageHead[] {
    const newest = connection.get(NEWEST_OF_LINEAGE, values);
    if (newest === undefined || connection.get(END, values) !== undefined) return [];
    const held = connection.get(HELD, values);
    const { lineage } = numbersOf(newest);
    return [{ lineage, newest: versionOf(newest, values), held: held ? versionOf(held, values) : null }];
  }

  // A version among those that the bounds let be seen.
  function versionOf(row: Row, { known_at = ALL, before = ALL }: Values): VersionRow {
    const record = readRecord(row);
    const { lineage, version } = numbersOf(row);
    const { key, validFrom = 0 } = record;
    const values = { ...scopeValues(record.scope), key, lineage, version, valid_from: validFrom, known_at, before };
    const next = successor(connection.get(NEXT, values));
    const end = successor(connection.get(END, values));
    return { record, lineage, settles: readJson(row, "settles") ?? [], next, end };
  }

  function commit({ scope, key, base, baseToken, record, lineage, settles, token }: WritePlan): boolean {
    const values = { ...scopeValues(scope), key, token, id: record.id, before: ALL };
    if (connection.get(WRITTEN, values) !== undefined) return true;
    const newest = connection.get(NEWEST, values);
    if (Number(newest?.["version"] ?? 0) !== base || (newest && text(newest, "token")) !== baseToken) return false;
    const holder = connection.get(HOLDER, values);
    if (holder !== undefined && text(holder, "key") !== key) return false;
    connection.run(INSERT, {
      ...recordValues(record),
      version: base + 1,
      lineage,
      lineages: Math.max(Number(newest?.["lineages"] ?? 0), lineage),
      settles: JSON.stringify(settles),
      token,
    });
    return true;
  }
}

function numbersOf(row: Row): { readonly version: number; readonly lineage: number; readonly recordedAt: EpochMs } {
  return {
    version: Number(row["version"]),
    lineage: Number(row["lineage"]),
    recordedAt: Number(row["recorded_at"]),
  };
}

function successor(row: Row | undefined): Successor | undefined {
  return row && { id: text(row, "id"), validFrom: Number(row["valid_from"]) };
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
