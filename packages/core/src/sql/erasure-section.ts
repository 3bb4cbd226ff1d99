// The erasure section: what is meant goes at once, in one transaction with the notes of how much it was.

import type {
  CondemnedDerivation,
  DerivationPosition,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
} from "../model/driver.ts";
import type { Derivation } from "../model/erasure.ts";
import type { MemoryKind } from "../model/record.ts";
import type { ErasureStatements } from "./erasure-statements.ts";
import type { Row } from "./executor.ts";
import { isLostRace } from "./lost-race.ts";
import { readScope } from "./row.ts";
import type { ScopedExecutor } from "./tenant.ts";

const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];

/** How often one call sweeps again that lost to another erasure. */
const LOOKS = 10;

/** The section over these statements. Each call is one round trip, `tombstone` one transaction of two statements. */
export function erasureSection(statements: ErasureStatements, executor: ScopedExecutor): ErasureSection {
  const { kinds } = statements;
  return {
    narrowing: true,

    async count(target, call): Promise<ErasureForecast> {
      const [row = []] = await executor.run(target.scope, statements.count(target), call);
      const [artefacts, sharedArtefacts] = row.slice(kinds.length).map(Number);
      return { counts: readTally(kinds, row), artefacts: artefacts ?? 0, sharedArtefacts: sharedArtefacts ?? 0 };
    },

    async tombstone(target, call): Promise<ErasureTally> {
      const batch = [statements.lock(target.scope), statements.tombstone(target)];
      const results = await executor.batch(target.scope, batch, call);
      return readTally(kinds, results.at(-1)?.[0] ?? []);
    },

    async condemned(request, call): Promise<readonly CondemnedDerivation[]> {
      const { tenantId } = request.scope;
      const rows = await executor.run(request.scope, statements.derivations({ ...request, isCondemned: true }), call);
      return rows.map((row) => ({ derivation: readDerivation(tenantId, row), shared: row[8] === "t" }));
    },

    async forget(positions, call): Promise<void> {
      for (const [tenantId, ofTenant] of byTenant(positions)) {
        await executor.run({ tenantId }, statements.forget(tenantId, ofTenant), call);
      }
    },

    async sweep({ scope, reach }, call): Promise<ErasureTally | null> {
      // Looked at again here: a second attempt of core's that finds nothing would mean that the first one's answer was lost.
      for (let look = 1; ; look += 1) {
        try {
          const [row = []] = await executor.run(scope, statements.sweep(scope, reach), call);
          return readTally(kinds, row);
        } catch (error) {
          if (!isLostRace(error) || look === LOOKS) throw error;
        }
      }
    },

    async register({ mixes, ...position }, call): Promise<void> {
      await executor.run(position.scope, statements.register(position, mixes), call);
    },

    async derivations(request, call): Promise<readonly Derivation[]> {
      const rows = await executor.run(request.scope, statements.derivations({ ...request, isCondemned: false }), call);
      return rows.map((row) => readDerivation(request.scope.tenantId, row));
    },
  };
}

function readTally(kinds: readonly MemoryKind[], row: Row): ErasureTally {
  const counts = kinds.map((kind, index) => [kind, Number(row[index] ?? 0)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
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
