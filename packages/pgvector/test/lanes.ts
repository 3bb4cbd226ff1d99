// The servers on which the package is tested: the PostgreSQL of this machine, where it has pgvector, and a newer one.

import { findPostgres, findPostgresContainer, type PostgresLane, type PostgresServer } from "@tooling/servers";
import { describe } from "vitest";

/** The PostgreSQL of this machine. Without pgvector it is missing, which is a failure where servers are promised. */
export const local: PostgresLane = findPostgres({ extensions: ["vector"] });

const lanes: readonly (readonly [name: string, lane: PostgresLane<PostgresServer>])[] = [
  ["PostgreSQL of this machine", local],
  ["a newer PostgreSQL, in a container", await findPostgresContainer({ isOptional: true })],
];

/** A `describe` for each; one that is missing is skipped, and has said why. */
export function describeOnEach(what: string, body: (lane: PostgresLane<PostgresServer>) => void): void {
  for (const [name, lane] of lanes) {
    describe.skipIf(lane.isMissing)(`${what} on ${name}`, () => body(lane));
  }
}
