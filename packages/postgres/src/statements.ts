// The statements of one database schema: of each kind its own, and erasure over both.

import { ErasureStatements, quoteIdentifier, tenantLock } from "@memory/core/sql";
import { CommitStatements } from "./commit-statements.ts";
import { EpisodeStatements } from "./episode-statements.ts";
import { ProfileStatements } from "./profile-statements.ts";

/** All statements, by what they are about. */
export interface Statements {
  readonly profile: ProfileStatements;
  readonly commit: CommitStatements;
  readonly episodes: EpisodeStatements;
  readonly erasure: ErasureStatements;
}

/**
 * The statements over the tables of a schema.
 *
 * @throws {MemorySettingsError} The name cannot be an identifier.
 */
export function statementsOf(schema: string): Statements {
  const owner = quoteIdentifier(schema, "schema");
  const versions = `${owner}.profile_versions`;
  const episodes = `${owner}.episodes`;
  const lock = tenantLock(schema);
  return {
    profile: new ProfileStatements(versions),
    commit: new CommitStatements(versions, lock),
    episodes: new EpisodeStatements(episodes, lock),
    erasure: new ErasureStatements({
      records: { profile: versions, episodic: episodes },
      derivations: `${owner}.derivations`,
      erasures: `${owner}.erasures`,
      lock,
    }),
  };
}
