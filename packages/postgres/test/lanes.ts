// The servers on which is tested what may differ from release to release: that of this machine, and a newer one.

import { findPostgres, findPostgresContainer, type PostgresLane, type PostgresServer } from "@tooling/servers";
import { describe } from "vitest";

const lanes: readonly (readonly [name: string, lane: PostgresLane<PostgresServer>])[] = [
  ["PostgreSQL of this machine", findPostgres()],
  ["a newer PostgreSQL, in a container", await findPostgresContainer({ isOptional: true })],
];

/** A `describe` for each; one that is missing is skipped, and has said why. */
export function describeOnEach(what: string, body: (lane: PostgresLane<PostgresServer>) => void): void {
  for (const [name, lane] of lanes) {
    describe.skipIf(lane.isMissing)(`${what} on ${name}`, () => body(lane));
  }
}
