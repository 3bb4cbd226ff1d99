// The schema as text, for whatever runs a deployment's migrations. Every key leads with the tenant, then the rest of the
// scope; tables are STRICT, so that a value is of its column's type or refused.

import type { Metric } from "@memory/core";

/** What the schema depends on. */
export interface SqliteSchemaOptions {
  /** The width of a vector; left out where the store holds no semantic memory. */
  readonly dimensions?: number | undefined;
  /** How resemblance is measured. Default `cosine`. */
  readonly metric?: Metric | undefined;
}

/** The version of the layout, as `memory_settings` keeps it. */
export const SCHEMA_VERSION = "1";

const SCOPE = "tenant_id, user_id, session_id, agent";

const SCOPE_COLUMNS = `tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, agent TEXT NOT NULL`;

const RECORD_COLUMNS = `${SCOPE_COLUMNS},
  id TEXT NOT NULL, key TEXT NOT NULL, value TEXT, source TEXT NOT NULL, confidence REAL NOT NULL,
  valid_from INTEGER, valid_to INTEGER, subject TEXT, predicate TEXT, metadata TEXT, redacted TEXT,
  recorded_at INTEGER NOT NULL`;

const TABLES = `
CREATE TABLE IF NOT EXISTS memory_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS memory_working (
  entry INTEGER PRIMARY KEY,
  ${RECORD_COLUMNS},
  length INTEGER NOT NULL, expires_at INTEGER, is_explicit INTEGER NOT NULL,
  UNIQUE (${SCOPE}, key)
) STRICT;
CREATE INDEX IF NOT EXISTS memory_working_expiry ON memory_working (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS memory_working_items (
  entry INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (entry, position)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS memory_working_removed AFTER DELETE ON memory_working BEGIN
  DELETE FROM memory_working_items WHERE entry = old.entry;
END;

CREATE TABLE IF NOT EXISTS memory_working_tokens (
  ${SCOPE_COLUMNS},
  key TEXT NOT NULL, token TEXT NOT NULL, reply TEXT NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY (${SCOPE}, key, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memory_working_tokens_until ON memory_working_tokens (until);

CREATE TABLE IF NOT EXISTS memory_profile (
  ${RECORD_COLUMNS},
  version INTEGER NOT NULL, lineage INTEGER NOT NULL, lineages INTEGER NOT NULL, settles TEXT NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (${SCOPE}, key, version)
) STRICT;
CREATE INDEX IF NOT EXISTS memory_profile_keys ON memory_profile (${SCOPE}, key) WHERE version = 1;
CREATE INDEX IF NOT EXISTS memory_profile_lineages ON memory_profile (${SCOPE}, key, lineage, version);
CREATE INDEX IF NOT EXISTS memory_profile_times ON memory_profile (${SCOPE}, key, lineage, valid_from, version);
CREATE INDEX IF NOT EXISTS memory_profile_settled ON memory_profile (${SCOPE}, key, version) WHERE settles <> '[]';
CREATE INDEX IF NOT EXISTS memory_profile_ids ON memory_profile (${SCOPE}, id);
CREATE UNIQUE INDEX IF NOT EXISTS memory_profile_tokens ON memory_profile (${SCOPE}, key, token);

CREATE TABLE IF NOT EXISTS memory_episodes (
  ${RECORD_COLUMNS},
  PRIMARY KEY (${SCOPE}, id)
) STRICT;
CREATE INDEX IF NOT EXISTS memory_episodes_scope ON memory_episodes (${SCOPE}, valid_from, id);
CREATE INDEX IF NOT EXISTS memory_episodes_session
  ON memory_episodes (tenant_id, user_id, session_id, valid_from DESC, id DESC, agent);
CREATE INDEX IF NOT EXISTS memory_episodes_user
  ON memory_episodes (tenant_id, user_id, valid_from DESC, id DESC, session_id, agent);
CREATE INDEX IF NOT EXISTS memory_episodes_tenant
  ON memory_episodes (tenant_id, valid_from DESC, id DESC, user_id, session_id, agent);

CREATE TABLE IF NOT EXISTS memory_semantic (
  entry INTEGER PRIMARY KEY,
  ${RECORD_COLUMNS},
  embedding BLOB NOT NULL,
  UNIQUE (${SCOPE}, key)
) STRICT;

CREATE TABLE IF NOT EXISTS memory_derivations (
  ${SCOPE_COLUMNS},
  adapter TEXT NOT NULL, artefact_id TEXT NOT NULL, source_kind TEXT NOT NULL, source_id TEXT NOT NULL,
  mixes INTEGER NOT NULL, condemned INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memory_derivations_scope ON memory_derivations (${SCOPE});

CREATE TABLE IF NOT EXISTS memory_erasures (
  ${SCOPE_COLUMNS},
  kind TEXT NOT NULL, records INTEGER NOT NULL,
  PRIMARY KEY (${SCOPE}, kind)
) STRICT, WITHOUT ROWID;
`;

/** The statements that make an empty file ready, or one that is ready already stay so. To be run once, by `exec`. */
export function schemaSql({ dimensions, metric = "cosine" }: SqliteSchemaOptions = {}): string {
  const settings = [["schema", SCHEMA_VERSION]];
  if (dimensions !== undefined) settings.push(["dimensions", String(dimensions)], ["metric", metric]);
  const rows = settings.map(([name, value]) => `('${name}', '${value}')`).join(", ");
  return `BEGIN;\n${TABLES}\nINSERT INTO memory_settings (name, value) VALUES ${rows} ON CONFLICT DO NOTHING;\nCOMMIT;\n`;
}
