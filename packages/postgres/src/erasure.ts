// The erasure section: what is meant goes at once, in one transaction with the notes of how much it was.

import type { Derivation, MemoryKind } from "@memory/core";
import type {
  CondemnedDerivation,
  DerivationPosition,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
} from "@memory/core/driver";
import type { Run, RunBatch } from "./driver.ts";
import { isLostRace } from "./errors.ts";
import { type Row, readScope } from "./row.ts";
import type { Statements } from "./statements.ts";

const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];

/** How often one call sweeps again that lost to another erasure. */
const LOOKS = 10;

/** The section over these statements. */
export function erasureSection(statements: Statements, run: Run, runBatch: RunBatch): ErasureSection {
  return {
    narrowing: true,

    async count(target, call): Promise<ErasureForecast> {
      const [row = []] = await run(target.scope, statements.count(target), call);
      return { counts: readTally(row), artefacts: Number(row[2]), sharedArtefacts: Number(row[3]) };
    },

    async tombstone(target, call): Promise<ErasureTally> {
      const batch = [statements.lock(target.scope), statements.tombstone(target)];
      const results = await runBatch(target.scope, batch, call);
      return readTally(results.at(-1)?.[0] ?? []);
    },

    async condemned(request, call): Promise<readonly CondemnedDerivation[]> {
      const { tenantId } = request.scope;
      const rows = await run(request.scope, statements.derivations({ ...request, isCondemned: true }), call);
      return rows.map((row) => ({ derivation: readDerivation(tenantId, row), shared: row[8] === "t" }));
    },

    async forget(positions, call): Promise<void> {
      for (const [tenantId, ofTenant] of byTenant(positions)) {
        await run({ tenantId }, statements.forget(tenantId, ofTenant), call);
      }
    },

    async sweep({ scope, reach }, call): Promise<ErasureTally | null> {
      // Looked at again here: a second attempt of core's that finds nothing would mean that the first one's answer was lost.
      for (let look = 1; ; look += 1) {
        try {
          const [row = []] = await run(scope, statements.sweep(scope, reach), call);
          return readTally(row);
        } catch (error) {
          if (!isLostRace(error) || look === LOOKS) throw error;
        }
      }
    },

    async register({ mixes, ...position }, call): Promise<void> {
      await run(position.scope, statements.register(position, mixes), call);
    },

    async derivations(request, call): Promise<readonly Derivation[]> {
      const rows = await run(request.scope, statements.derivations({ ...request, isCondemned: false }), call);
      return rows.map((row) => readDerivation(request.scope.tenantId, row));
    },
  };
}

function readTally(row: Row): ErasureTally {
  const profile = Number(row[0] ?? 0);
  const episodic = Number(row[1] ?? 0);
  return { ...(profile > 0 ? { profile } : {}), ...(episodic > 0 ? { episodic } : {}) };
}

function readDerivation(tenantId: string, row: Row): Derivation {
  const kind = KINDS.find((one) => one === row[5]) ?? "working";
  return {
    scope: readScope(tenantId, row),
    adapter: row[3] ?? "",
    artefactId: row[4] ?? "",
    sourceKind: kind,
    sourceId: row[6] ?? "",
    mixes: row[7] === "t",
  };
}

function byTenant(positions: readonly DerivationPosition[]): ReadonlyMap<string, readonly DerivationPosition[]> {
  return Map.groupBy(positions, ({ scope }) => scope.tenantId);
}
