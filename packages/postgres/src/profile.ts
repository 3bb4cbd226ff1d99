// The profile section: a belief is read in one statement, and written in one.

import type { MemoryScope } from "@memory/core";
import type { KeyHeads, KeyVersions, LineageHead, ProfileSection, VersionRow, WritePlan } from "@memory/core/driver";
import { isLostRace, type Row, readScope, type ScopedExecutor } from "@memory/core/sql";
import { readNewest, readVersion } from "./row.ts";
import type { Statements } from "./statements.ts";

/** Where a version begins in the rows of `live`, `beliefs` and `heads`, and which of its columns is never null. */
const LIVE_AT = 1;
const BELIEF_AT = 5;
const HEAD_AT = 7;
const ID = 3;

/** The section over these statements. */
export function profileSection({ profile, commit }: Statements, { run }: ScopedExecutor): ProfileSection {
  return {
    asOf: true,
    knownAt: true,
    supersession: true,
    under: true,

    async versions({ scope, key, asOf, knownAt }, call): Promise<KeyVersions | null> {
      // What is asked of now is told by the newest version of a plain key; an instant that is over hardly ever is.
      if (knownAt === undefined && (asOf === undefined || asOf >= call.now)) {
        const [row] = await run(scope, profile.newest(scope, key), call);
        if (row === undefined) return null;
        const held = plainIn(scope, row, 0, asOf ?? call.now, asOf === undefined);
        if (held !== undefined) return { scope, key, recordedAt: held.record.recordedAt, versions: [held] };
      }
      const rows = await run(scope, profile.live({ scope, key, asOf, knownAt, now: call.now }), call);
      const [first] = rows;
      if (first === undefined) return null;
      const versions = rows.flatMap((row) => versionIn(scope.tenantId, row, LIVE_AT));
      return { scope, key, recordedAt: Number(first[0]), versions };
    },

    async heads({ scope, key, id, at, before }, call): Promise<KeyHeads> {
      if (before === undefined) {
        const [row = []] = await run(scope, profile.newestHead(scope, key, id), call);
        const idKey = row[0] ?? undefined;
        const token = row[1] ?? undefined;
        if (token === undefined) return { version: 0, recordedAt: undefined, token, lineages: 0, open: [], idKey };
        const held = plainIn(scope, row, 2, at ?? call.now, at === undefined);
        if (held !== undefined) {
          const { recordedAt, version = 0 } = held.record;
          return { version, recordedAt, token, lineages: 1, open: [{ lineage: 1, newest: held, held }], idKey };
        }
      }
      const rows = await run(scope, profile.heads({ scope, key, id, at, before, now: call.now }), call);
      const [version = null, recordedAt = null, lineages = null, idKey = null, token = null] = rows[0] ?? [];
      return {
        version: Number(version ?? 0),
        recordedAt: recordedAt === null ? undefined : Number(recordedAt),
        token: token ?? undefined,
        lineages: Number(lineages ?? 0),
        open: readHeads(scope.tenantId, rows),
        idKey: idKey ?? undefined,
      };
    },

    async beliefs(request, call): Promise<readonly KeyVersions[]> {
      const { tenantId } = request.scope;
      const rows = await run(request.scope, profile.beliefs({ ...request, now: call.now }), call);
      const keys: (KeyVersions & { readonly versions: VersionRow[] })[] = [];
      let before: Row = [];
      for (const row of rows) {
        const isSame = row[0] === before[0] && row[1] === before[1] && row[2] === before[2] && row[3] === before[3];
        if (!isSame || keys.length === 0) {
          keys.push({ scope: readScope(tenantId, row), key: row[3] ?? "", recordedAt: Number(row[4]), versions: [] });
        }
        keys.at(-1)?.versions.push(...versionIn(tenantId, row, BELIEF_AT));
        before = row;
      }
      return keys;
    },

    async history(request, call): Promise<readonly VersionRow[]> {
      const rows = await run(request.scope, profile.history(request), call);
      return rows.map((row) => readVersion(request.scope.tenantId, row));
    },

    async commit(plan: WritePlan, call): Promise<boolean> {
      const written = await run(plan.scope, commit.commit(plan), call).catch((error: unknown) => {
        if (isLostRace(error)) return [];
        throw error;
      });
      // An attempt that was given up may have landed, also after this one's snapshot was taken.
      if (written.length > 0 || call.attempt === 1) return written.length > 0;
      return (await run(plan.scope, commit.isThere(plan), call)).length > 0;
    },
  };
}

// The newest version of a plain key, if it is what the key holds at the instant. Without an instant of the caller's, the
// newest `recordedAt` is reached too.
function plainIn(scope: MemoryScope, row: Row, at: number, instant: number, isOpen: boolean): VersionRow | undefined {
  const version = readNewest(scope, row, at);
  if (version === undefined) return undefined;
  const { validFrom = 0, recordedAt } = version.record;
  return validFrom <= (isOpen ? Math.max(instant, recordedAt) : instant) ? version : undefined;
}

function versionIn(tenantId: string, row: Row, at: number): readonly VersionRow[] {
  return (row[at + ID] ?? null) === null ? [] : [readVersion(tenantId, row, at)];
}

// One or two rows a lineage: its newest version, and the one that held at the instant, which may be the same.
function readHeads(tenantId: string, rows: readonly Row[]): readonly LineageHead[] {
  const heads = new Map<number, { newest?: VersionRow; held: VersionRow | null }>();
  for (const row of rows) {
    for (const version of versionIn(tenantId, row, HEAD_AT)) {
      const head = heads.get(version.lineage) ?? { held: null };
      if (row[5] === "t") head.newest = version;
      if (row[6] === "t") head.held = version;
      heads.set(version.lineage, head);
    }
  }
  return [...heads].flatMap(([lineage, { newest, held }]) => (newest === undefined ? [] : [{ lineage, newest, held }]));
}
