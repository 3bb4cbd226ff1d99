// Erasure. Phase one deletes what is meant in the same transaction that notes how much it was and condemns what was derived
// from it; phase two takes the notes, and lets SQLite drop the log that still holds the old pages.

import type { Derivation, MemoryKind } from "@memory/core";
import type {
  CondemnedDerivation,
  DerivationPosition,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
  ErasureTarget,
} from "@memory/core/driver";
import { sameScope } from "@memory/core/driver";
import type { Connection } from "./connection.ts";
import {
  afterValues,
  beyond,
  insertInto,
  PARTS,
  type Row,
  readScope,
  scopeValues,
  text,
  type Values,
  within,
} from "./row.ts";
import { LIVE } from "./working.ts";

const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];

const TABLES: Readonly<Record<MemoryKind, string>> = {
  working: "memory_working",
  profile: "memory_profile",
  episodic: "memory_episodes",
  semantic: "memory_semantic",
};

const PLACE = "adapter,artefact_id,user_id,session_id,agent,source_kind,source_id";
const COLUMNS = `tenant_id,${PLACE},mixes,condemned`;
const AT_PLACE = `tenant_id,${PLACE}`
  .split(",")
  .map((column) => `${column}=:${column}`)
  .join(" AND ");
const REGISTER = `${insertInto("memory_derivations", COLUMNS)} ON CONFLICT DO UPDATE SET mixes=excluded.mixes,condemned=0`;
const FORGET = `DELETE FROM memory_derivations WHERE ${AT_PLACE} AND condemned`;
const SPEAKERS = `SELECT ${COLUMNS} FROM memory_derivations WHERE tenant_id=:tenant_id AND adapter=:adapter AND artefact_id=:artefact_id`;
const NOTE = `${insertInto("memory_erasures", `${PARTS.join(",")},kind,records`)} ON CONFLICT DO UPDATE SET records=records+excluded.records`;

/** The section over this connection. */
export function erasureSection(connection: Connection, hasVectors: boolean): ErasureSection {
  const kinds = KINDS.filter((kind) => kind !== "semantic" || hasVectors);

  return {
    narrowing: true,

    async count(target, { now }): Promise<ErasureForecast> {
      return connection.read(() => {
        const values = targetValues(target, now);
        const counts = tallyOf(selected(target).map((kind) => [kind, countOf(target, kind, values)]));
        const doomed = connection.all(
          `SELECT ${COLUMNS} FROM memory_derivations WHERE ${within(target.scope, target.reach)} AND (condemned OR ${implicated(target)})`,
          values,
        );
        return { counts, ...forecast(doomed) };
      });
    },

    tombstone(target, call): Promise<ErasureTally> {
      const { scope, reach } = target;
      const values = targetValues(target, call.now);
      return connection.write(call, () => {
        connection.run(
          `UPDATE memory_derivations SET condemned=1 WHERE NOT condemned AND ${within(scope, reach)} AND ${implicated(target)}`,
          values,
        );
        for (const kind of selected(target)) {
          const records = countOf(target, kind, values);
          if (records > 0) connection.run(NOTE, { ...values, kind, records });
          connection.run(`DELETE FROM ${TABLES[kind]} WHERE ${meant(target)}`, values);
          if (kind === "working") connection.run(`DELETE FROM memory_working_tokens WHERE ${meant(target)}`, values);
        }
        const notes = `SELECT kind,records FROM memory_erasures WHERE ${within(scope, reach)}`;
        return sumOf(connection.all(notes, scopeValues(scope)));
      });
    },

    async condemned(request): Promise<readonly CondemnedDerivation[]> {
      return connection.read(() =>
        page(request, "condemned").map((row) => ({
          derivation: readDerivation(row),
          shared: isKept(row, (other) => !isCondemned(other)),
        })),
      );
    },

    forget(positions, call): Promise<void> {
      return connection.write(call, () => {
        for (const position of positions) connection.run(FORGET, placeValues(position));
      });
    },

    async sweep({ scope, reach }, call): Promise<ErasureTally | null> {
      const taken = await connection.write(call, () =>
        connection.all(
          `DELETE FROM memory_erasures WHERE ${within(scope, reach)} RETURNING kind,records`,
          scopeValues(scope),
        ),
      );
      // Old pages stay in the log until it is written back. Another connection that reads may hinder it: then theirs does it.
      connection.all("PRAGMA wal_checkpoint(TRUNCATE)");
      return sumOf(taken);
    },

    register({ mixes, ...position }, call): Promise<void> {
      const values = { ...placeValues(position), mixes: mixes ? 1 : 0, condemned: 0 };
      return connection.write(call, () => connection.run(REGISTER, values));
    },

    async derivations(request): Promise<readonly Derivation[]> {
      return page(request, "NOT condemned").map(readDerivation);
    },
  };

  function selected({ kinds: named }: ErasureTarget): readonly MemoryKind[] {
    return kinds.filter((kind) => named?.includes(kind) !== false);
  }

  function countOf(target: ErasureTarget, kind: MemoryKind, values: Values): number {
    const live = kind === "working" ? ` AND ${LIVE}` : "";
    const row = connection.get(`SELECT count(*) AS records FROM ${TABLES[kind]} WHERE ${meant(target)}${live}`, values);
    return Number(row?.["records"] ?? 0);
  }

  // The condition on registrations that fall with the target. With keys, those whose source is among the records meant.
  function implicated(target: ErasureTarget): string {
    if (target.kinds === undefined && target.keys === undefined) return "true";
    const falls = selected(target).map((kind) => {
      if (target.keys === undefined) return `source_kind='${kind}'`;
      const live = kind === "working" ? ` AND ${LIVE}` : "";
      const source = `SELECT ${PARTS.join(",")},id FROM ${TABLES[kind]} WHERE ${meant(target)}${live}`;
      return `(source_kind='${kind}' AND (${PARTS.join(",")},source_id) IN (${source}))`;
    });
    return `(${falls.join(" OR ")})`;
  }

  function page(
    request: Parameters<ErasureSection["derivations"]>[0],
    condition: "condemned" | "NOT condemned",
  ): Row[] {
    const { scope, reach, after, limit } = request;
    const conditions = [within(scope, reach), condition];
    if (after !== undefined) conditions.push(beyond(PLACE));
    return connection.all(
      `SELECT ${COLUMNS} FROM memory_derivations WHERE ${conditions.join(" AND ")} ORDER BY ${PLACE} LIMIT :limit`,
      { ...scopeValues(scope), ...(after && afterValues(placeValues(after))), limit },
    );
  }

  // Whether another scope of the tenant keeps the artefact, and no registration of it says that it mixes.
  function isKept(row: Row, survives: (other: Row) => boolean): boolean {
    const { tenant_id = null, adapter = null, artefact_id = null } = row;
    const speakers = connection.all(SPEAKERS, { tenant_id, adapter, artefact_id });
    return (
      !speakers.some(mixes) && speakers.some((other) => survives(other) && !sameScope(readScope(other), readScope(row)))
    );
  }

  function forecast(doomed: readonly Row[]): Pick<ErasureForecast, "artefacts" | "sharedArtefacts"> {
    const names = new Set(doomed.map(nameOf));
    const artefacts = [...Map.groupBy(doomed, (row) => JSON.stringify([row["adapter"], row["artefact_id"]])).values()];
    const survives = (other: Row) => !isCondemned(other) && !names.has(nameOf(other));
    const shared = artefacts.filter((rows) => rows.every((row) => isKept(row, survives))).length;
    return { artefacts: artefacts.length - shared, sharedArtefacts: shared };
  }
}

function meant({ scope, reach, keys }: ErasureTarget): string {
  const named = keys === undefined ? "" : " AND key IN (SELECT value FROM json_each(:keys))";
  return `${within(scope, reach)}${named}`;
}

function targetValues({ scope, keys }: ErasureTarget, now: number): Values {
  return { ...scopeValues(scope), keys: keys === undefined ? null : JSON.stringify(keys), now };
}

function placeValues({ scope, adapter, artefactId, sourceKind, sourceId }: DerivationPosition): Values {
  return {
    ...scopeValues(scope),
    adapter,
    artefact_id: artefactId,
    source_kind: sourceKind,
    source_id: sourceId,
  };
}

function readDerivation(row: Row): Derivation {
  return {
    scope: readScope(row),
    adapter: text(row, "adapter"),
    artefactId: text(row, "artefact_id"),
    sourceKind: KINDS.find((kind) => kind === row["source_kind"]) ?? "working",
    sourceId: text(row, "source_id"),
    mixes: mixes(row),
  };
}

function nameOf(row: Row): string {
  return JSON.stringify(PLACE.split(",").map((column) => row[column]));
}

function mixes(row: Row): boolean {
  return row["mixes"] === 1;
}

function isCondemned(row: Row): boolean {
  return row["condemned"] === 1;
}

function sumOf(notes: readonly Row[]): ErasureTally {
  return tallyOf(
    KINDS.map((kind) => {
      const counts = notes.filter((note) => note["kind"] === kind).map((note) => Number(note["records"]));
      return [kind, counts.reduce((sum, count) => sum + count, 0)];
    }),
  );
}

function tallyOf(counts: readonly (readonly [MemoryKind, number])[]): ErasureTally {
  return Object.fromEntries(counts.filter(([, records]) => records > 0));
}
