// The four tables as data: what `schemaSql` prints, what `verify` compares with, and what the statements rely on. Each fact
// about a column or an index stands once, here or in core's part of the plans.

import {
  column,
  derivationsPlan,
  erasuresPlan,
  metadataIndex,
  plainIndex,
  primaryKey,
  RECORD_PLAN,
  SCOPE_LIST,
  SCOPE_PLAN,
  type TablePlan,
  tenantCheck,
  textColumn,
  uniqueKey,
} from "@memory/core/sql";

/** The version of these tables; each change of them is a migration of its own and raises it by one. */
export const SCHEMA_VERSION = 1;

const PROFILE_VERSIONS: TablePlan = {
  name: "profile_versions",
  version: SCHEMA_VERSION,
  comment: "Facts, every version ever written; rows are only added, and removed by erasure alone",
  columns: [
    ...SCOPE_PLAN,
    textColumn("key", "What the fact is filed under"),
    column("version", "integer", "Counted from 1 within the key"),
    textColumn("id", "The record's id, once in a scope"),
    column("lineage", "integer", "Which strand of the key it continues, counted from 1; several are a contradiction"),
    column("follows", "integer", "The version that was the newest of the lineage; 0 where it begins one"),
    { ...column("settles", "integer[]", "The lineages that end where this version begins"), fallback: "'{}'" },
    column(
      "lineages",
      "integer",
      "How many lineages the key has up to this version: told here so that one look finds a plain key",
    ),
    column("latest_from", "bigint", "The greatest valid_from of the key up to this version, for the same reason"),
    textColumn("token", "Names the write, so that a repeated attempt is recognised"),
    ...RECORD_PLAN,
  ],
  checks: [
    tenantCheck("profile_versions"),
    { name: "profile_versions_follows", expression: "follows >= 0 AND follows < version" },
  ],
  indexes: [
    primaryKey("profile_versions_pkey", `${SCOPE_LIST}, key, version`, "No version number twice in a key"),
    uniqueKey("profile_versions_id", `${SCOPE_LIST}, id`, "No id twice in a scope"),
    uniqueKey("profile_versions_chain", `${SCOPE_LIST}, key, lineage, follows`, "No two successors of one head"),
    plainIndex("profile_versions_time", `${SCOPE_LIST}, key, lineage, valid_from, version`, "What held at an instant"),
    plainIndex(
      "profile_versions_begin",
      `btree (${SCOPE_LIST}, key, lineage) WHERE (follows = 0)`,
      "The keys of a scope, and the lineages of a key",
    ),
    plainIndex(
      "profile_versions_key",
      "btree (tenant_id, key, user_id, session_id, agent) WHERE ((follows = 0) AND (lineage = 1))",
      "The scopes of a tenant that have a key",
    ),
    plainIndex(
      "profile_versions_settle",
      `btree (${SCOPE_LIST}, key, version) WHERE (settles <> '{}'::integer[])`,
      "What ended a lineage",
    ),
  ],
};

const EPISODES: TablePlan = {
  name: "episodes",
  version: SCHEMA_VERSION,
  comment: "Things that happened, at a time",
  columns: [
    ...SCOPE_PLAN,
    textColumn("id", "The record's id, once in a scope"),
    textColumn("key", "What it is filed under"),
    ...RECORD_PLAN,
  ],
  checks: [tenantCheck("episodes")],
  indexes: [
    primaryKey("episodes_pkey", `${SCOPE_LIST}, id`, "No id twice in a scope"),
    plainIndex("episodes_scope", `${SCOPE_LIST}, valid_from DESC, id DESC`, "The newest of a scope"),
    plainIndex(
      "episodes_user",
      "tenant_id, user_id, valid_from DESC, id DESC, session_id, agent",
      "The newest of a user, over all sessions",
    ),
    plainIndex(
      "episodes_tenant",
      "tenant_id, valid_from DESC, id DESC, user_id, session_id, agent",
      "The newest of a tenant",
    ),
    plainIndex("episodes_key", `${SCOPE_LIST}, key, valid_from DESC, id DESC`, "The newest of a key"),
    metadataIndex("episodes_metadata"),
  ],
};

/**
 * The columns that ANALYZE may sample: whose records they are and when, by which the planner tells a page in order from a few
 * rows to be sorted. No key, id or value.
 */
export const SAMPLED: readonly string[] = [
  ...SCOPE_PLAN.map(({ name }) => name),
  ...["version", "lineage", "follows", "settles", "lineages", "latest_from"],
  ...["valid_from", "valid_to", "recorded_at", "mixes", "condemned", "profile", "episodic"],
];

/** All tables, in the order of their making. */
export const TABLES: readonly TablePlan[] = [
  PROFILE_VERSIONS,
  EPISODES,
  derivationsPlan({ name: "derivations", version: SCHEMA_VERSION }),
  erasuresPlan({ name: "erasures", version: SCHEMA_VERSION }, { profile: "versions", episodic: "episodes" }),
];
