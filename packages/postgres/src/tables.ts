// The four tables as data: what `schemaSql` prints, what `verify` compares with, and what the statements rely on. Each fact
// about a column or an index stands here once.

/** A column: its type as `format_type` prints it, and what it is for. */
export interface ColumnPlan {
  readonly name: string;
  readonly type: string;
  readonly isNullable?: true;
  readonly fallback?: string;
  readonly comment: string;
}

/** An index: its name, and its definition from `USING` on as `pg_get_indexdef` prints it. */
export interface IndexPlan {
  readonly name: string;
  readonly kind: "primary" | "unique" | "plain";
  /** The columns, or the whole definition where there is more to say. */
  readonly using: string;
  readonly comment: string;
}

/** A table. */
export interface TablePlan {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly ColumnPlan[];
  readonly checks: readonly { readonly name: string; readonly expression: string }[];
  readonly indexes: readonly IndexPlan[];
}

/** The version of these tables; each change of them is a migration of its own and raises it by one. */
export const SCHEMA_VERSION = 1;

/** The least server that the statements are written for. */
export const LEAST_SERVER_VERSION = 150_000;

const NO_PART = "empty where the scope has none";

const SCOPE: readonly ColumnPlan[] = [
  text("tenant_id", "The tenant; every key and index begins with it"),
  { ...text("user_id", `The user; ${NO_PART}`), fallback: "''" },
  { ...text("session_id", `The session; ${NO_PART}`), fallback: "''" },
  { ...text("agent", `The agent; ${NO_PART}`), fallback: "''" },
];

const RECORD: readonly ColumnPlan[] = [
  text("value", "The value as JSON text, as it was given: jsonb refuses U+0000 and half surrogate pairs"),
  text("source", "Where it comes from"),
  column("confidence", "numeric", "How sure the writer was, 0 to 1"),
  column("valid_from", "bigint", "True from this instant on, in milliseconds since 1970 UTC"),
  optional(column("valid_to", "bigint", "True until before this instant, where the writer named one")),
  optional(text("subject", "What the fact speaks about")),
  optional(column("predicate", "jsonb", "What the fact says of it, an array of texts")),
  optional(column("metadata", "jsonb", "Flat attributes")),
  optional(text("redacted", "JSON text: the paths at which secrets were masked")),
  column("recorded_at", "bigint", "When the store was told, by the writer's clock, in milliseconds since 1970 UTC"),
];

const PARTS = "tenant_id, user_id, session_id, agent";

/** What the metadata index is over: the metadata below the tenant's own name, so that no other tenant's are looked at. */
export const METADATA_BY_TENANT = "jsonb_set('{}'::jsonb, ARRAY[tenant_id], metadata)";

const PROFILE_VERSIONS: TablePlan = {
  name: "profile_versions",
  comment: "Facts, every version ever written; rows are only added, and removed by erasure alone",
  columns: [
    ...SCOPE,
    text("key", "What the fact is filed under"),
    column("version", "integer", "Counted from 1 within the key"),
    text("id", "The record's id, once in a scope"),
    column("lineage", "integer", "Which strand of the key it continues, counted from 1; several are a contradiction"),
    column("follows", "integer", "The version that was the newest of the lineage; 0 where it begins one"),
    { ...column("settles", "integer[]", "The lineages that end where this version begins"), fallback: "'{}'" },
    column(
      "lineages",
      "integer",
      "How many lineages the key has up to this version: told here so that one look finds a plain key",
    ),
    column("latest_from", "bigint", "The greatest valid_from of the key up to this version, for the same reason"),
    text("token", "Names the write, so that a repeated attempt is recognised"),
    ...RECORD,
  ],
  checks: [
    { name: "profile_versions_tenant", expression: "tenant_id <> ''" },
    { name: "profile_versions_follows", expression: "follows >= 0 AND follows < version" },
  ],
  indexes: [
    primary("profile_versions_pkey", `${PARTS}, key, version`, "No version number twice in a key"),
    unique("profile_versions_id", `${PARTS}, id`, "No id twice in a scope"),
    unique("profile_versions_chain", `${PARTS}, key, lineage, follows`, "No two successors of one head"),
    plain("profile_versions_time", `${PARTS}, key, lineage, valid_from, version`, "What held at an instant"),
    plain(
      "profile_versions_begin",
      `btree (${PARTS}, key, lineage) WHERE (follows = 0)`,
      "The keys of a scope, and the lineages of a key",
    ),
    plain(
      "profile_versions_settle",
      `btree (${PARTS}, key, version) WHERE (settles <> '{}'::integer[])`,
      "What ended a lineage",
    ),
  ],
};

const EPISODES: TablePlan = {
  name: "episodes",
  comment: "Things that happened, at a time",
  columns: [...SCOPE, text("id", "The record's id, once in a scope"), text("key", "What it is filed under"), ...RECORD],
  checks: [{ name: "episodes_tenant", expression: "tenant_id <> ''" }],
  indexes: [
    primary("episodes_pkey", `${PARTS}, id`, "No id twice in a scope"),
    plain("episodes_scope", `${PARTS}, valid_from DESC, id DESC`, "The newest of a scope"),
    plain(
      "episodes_user",
      "tenant_id, user_id, valid_from DESC, id DESC, session_id, agent",
      "The newest of a user, over all sessions",
    ),
    plain(
      "episodes_tenant",
      "tenant_id, valid_from DESC, id DESC, user_id, session_id, agent",
      "The newest of a tenant",
    ),
    plain("episodes_key", `${PARTS}, key, valid_from DESC, id DESC`, "The newest of a key"),
    plain(
      "episodes_metadata",
      `gin (${METADATA_BY_TENANT} jsonb_path_ops) WHERE (metadata IS NOT NULL)`,
      "Conditions on metadata, tenant by tenant",
    ),
  ],
};

const DERIVATIONS: TablePlan = {
  name: "derivations",
  comment: "What was built from records and is kept elsewhere, so that erasure can follow it",
  columns: [
    ...SCOPE,
    text("source_kind", "The kind of the record that it was built from"),
    text("source_id", "The id of that record"),
    text("adapter", "The derived index that holds it"),
    text("artefact_id", "Its id there"),
    column("mixes", "boolean", "Whether it mixes the content of several scopes"),
    {
      ...column("condemned", "boolean", "Whether its source was erased and it is still to be purged"),
      fallback: "false",
    },
  ],
  checks: [{ name: "derivations_tenant", expression: "tenant_id <> ''" }],
  indexes: [
    primary(
      "derivations_pkey",
      "tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id",
      "Each registration once",
    ),
    plain(
      "derivations_scope",
      `${PARTS}, adapter, artefact_id, source_kind, source_id`,
      "The registrations of a scope",
    ),
    plain(
      "derivations_condemned",
      "btree (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id) WHERE condemned",
      "What is still to be purged",
    ),
  ],
};

const ERASURES: TablePlan = {
  name: "erasures",
  comment: "Erasures under way, and how much they removed; empty when none is",
  columns: [
    ...SCOPE,
    column("profile", "bigint", "How many versions were removed and not yet answered for"),
    column("episodic", "bigint", "How many episodes were removed and not yet answered for"),
  ],
  checks: [{ name: "erasures_tenant", expression: "tenant_id <> ''" }],
  indexes: [primary("erasures_pkey", PARTS, "One note a scope")],
};

/** All tables, in the order of their making. */
export const TABLES: readonly TablePlan[] = [PROFILE_VERSIONS, EPISODES, DERIVATIONS, ERASURES];

function column(name: string, type: string, comment: string): ColumnPlan {
  return { name, type, comment };
}

function text(name: string, comment: string): ColumnPlan {
  return column(name, "text", comment);
}

function optional(plan: ColumnPlan): ColumnPlan {
  return { ...plan, isNullable: true };
}

function primary(name: string, columns: string, comment: string): IndexPlan {
  return { name, kind: "primary", using: `btree (${columns})`, comment };
}

function unique(name: string, columns: string, comment: string): IndexPlan {
  return { name, kind: "unique", using: `btree (${columns})`, comment };
}

function plain(name: string, definition: string, comment: string): IndexPlan {
  const using = /^(?:btree|gin) /.test(definition) ? definition : `btree (${definition})`;
  return { name, kind: "plain", using, comment };
}
