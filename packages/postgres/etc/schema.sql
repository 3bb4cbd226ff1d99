-- The tables of @memory/postgres, version 1.

CREATE SCHEMA IF NOT EXISTS "memory";

CREATE TABLE "memory".profile_versions (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  key text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  lineage integer NOT NULL,
  follows integer NOT NULL,
  settles integer[] NOT NULL DEFAULT '{}',
  lineages integer NOT NULL,
  latest_from bigint NOT NULL,
  token text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  confidence numeric NOT NULL,
  valid_from bigint NOT NULL,
  valid_to bigint,
  subject text COLLATE "C",
  predicate jsonb,
  metadata jsonb,
  redacted text COLLATE "C",
  recorded_at bigint NOT NULL,
  CONSTRAINT profile_versions_tenant CHECK (tenant_id <> ''),
  CONSTRAINT profile_versions_follows CHECK (follows >= 0 AND follows < version),
  CONSTRAINT profile_versions_pkey PRIMARY KEY (tenant_id, user_id, session_id, agent, key, version),
  CONSTRAINT profile_versions_id UNIQUE (tenant_id, user_id, session_id, agent, id),
  CONSTRAINT profile_versions_chain UNIQUE (tenant_id, user_id, session_id, agent, key, lineage, follows)
);

CREATE INDEX profile_versions_time ON "memory".profile_versions USING btree (tenant_id, user_id, session_id, agent, key, lineage, valid_from, version);

CREATE INDEX profile_versions_begin ON "memory".profile_versions USING btree (tenant_id, user_id, session_id, agent, key, lineage) WHERE (follows = 0);

CREATE INDEX profile_versions_key ON "memory".profile_versions USING btree (tenant_id, key, user_id, session_id, agent) WHERE ((follows = 0) AND (lineage = 1));

CREATE INDEX profile_versions_settle ON "memory".profile_versions USING btree (tenant_id, user_id, session_id, agent, key, version) WHERE (settles <> '{}'::integer[]);

COMMENT ON TABLE "memory".profile_versions IS 'Facts, every version ever written; rows are only added, and removed by erasure alone (schema version 1)';
COMMENT ON COLUMN "memory".profile_versions.tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory".profile_versions.user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory".profile_versions.session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory".profile_versions.agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory".profile_versions.key IS 'What the fact is filed under';
COMMENT ON COLUMN "memory".profile_versions.version IS 'Counted from 1 within the key';
COMMENT ON COLUMN "memory".profile_versions.id IS 'The record''s id, once in a scope';
COMMENT ON COLUMN "memory".profile_versions.lineage IS 'Which strand of the key it continues, counted from 1; several are a contradiction';
COMMENT ON COLUMN "memory".profile_versions.follows IS 'The version that was the newest of the lineage; 0 where it begins one';
COMMENT ON COLUMN "memory".profile_versions.settles IS 'The lineages that end where this version begins';
COMMENT ON COLUMN "memory".profile_versions.lineages IS 'How many lineages the key has up to this version: told here so that one look finds a plain key';
COMMENT ON COLUMN "memory".profile_versions.latest_from IS 'The greatest valid_from of the key up to this version, for the same reason';
COMMENT ON COLUMN "memory".profile_versions.token IS 'Names the write, so that a repeated attempt is recognised';
COMMENT ON COLUMN "memory".profile_versions.value IS 'The value as JSON text, as it was given: jsonb refuses U+0000 and half surrogate pairs';
COMMENT ON COLUMN "memory".profile_versions.source IS 'Where it comes from';
COMMENT ON COLUMN "memory".profile_versions.confidence IS 'How sure the writer was, 0 to 1';
COMMENT ON COLUMN "memory".profile_versions.valid_from IS 'True from this instant on, in milliseconds since 1970 UTC';
COMMENT ON COLUMN "memory".profile_versions.valid_to IS 'True until before this instant, where the writer named one';
COMMENT ON COLUMN "memory".profile_versions.subject IS 'What the fact speaks about';
COMMENT ON COLUMN "memory".profile_versions.predicate IS 'What the fact says of it, an array of texts';
COMMENT ON COLUMN "memory".profile_versions.metadata IS 'Flat attributes';
COMMENT ON COLUMN "memory".profile_versions.redacted IS 'JSON text: the paths at which secrets were masked';
COMMENT ON COLUMN "memory".profile_versions.recorded_at IS 'When the store was told, by the writer''s clock, in milliseconds since 1970 UTC';
COMMENT ON INDEX "memory".profile_versions_pkey IS 'No version number twice in a key';
COMMENT ON INDEX "memory".profile_versions_id IS 'No id twice in a scope';
COMMENT ON INDEX "memory".profile_versions_chain IS 'No two successors of one head';
COMMENT ON INDEX "memory".profile_versions_time IS 'What held at an instant';
COMMENT ON INDEX "memory".profile_versions_begin IS 'The keys of a scope, and the lineages of a key';
COMMENT ON INDEX "memory".profile_versions_key IS 'The scopes of a tenant that have a key';
COMMENT ON INDEX "memory".profile_versions_settle IS 'What ended a lineage';

CREATE TABLE "memory".episodes (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  confidence numeric NOT NULL,
  valid_from bigint NOT NULL,
  valid_to bigint,
  subject text COLLATE "C",
  predicate jsonb,
  metadata jsonb,
  redacted text COLLATE "C",
  recorded_at bigint NOT NULL,
  CONSTRAINT episodes_tenant CHECK (tenant_id <> ''),
  CONSTRAINT episodes_pkey PRIMARY KEY (tenant_id, user_id, session_id, agent, id)
);

CREATE INDEX episodes_scope ON "memory".episodes USING btree (tenant_id, user_id, session_id, agent, valid_from DESC, id DESC);

CREATE INDEX episodes_user ON "memory".episodes USING btree (tenant_id, user_id, valid_from DESC, id DESC, session_id, agent);

CREATE INDEX episodes_tenant ON "memory".episodes USING btree (tenant_id, valid_from DESC, id DESC, user_id, session_id, agent);

CREATE INDEX episodes_key ON "memory".episodes USING btree (tenant_id, user_id, session_id, agent, key, valid_from DESC, id DESC);

CREATE INDEX episodes_metadata ON "memory".episodes USING gin (jsonb_set('{}'::jsonb, ARRAY[tenant_id], metadata) jsonb_path_ops) WHERE (metadata IS NOT NULL);

COMMENT ON TABLE "memory".episodes IS 'Things that happened, at a time (schema version 1)';
COMMENT ON COLUMN "memory".episodes.tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory".episodes.user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory".episodes.session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory".episodes.agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory".episodes.id IS 'The record''s id, once in a scope';
COMMENT ON COLUMN "memory".episodes.key IS 'What it is filed under';
COMMENT ON COLUMN "memory".episodes.value IS 'The value as JSON text, as it was given: jsonb refuses U+0000 and half surrogate pairs';
COMMENT ON COLUMN "memory".episodes.source IS 'Where it comes from';
COMMENT ON COLUMN "memory".episodes.confidence IS 'How sure the writer was, 0 to 1';
COMMENT ON COLUMN "memory".episodes.valid_from IS 'True from this instant on, in milliseconds since 1970 UTC';
COMMENT ON COLUMN "memory".episodes.valid_to IS 'True until before this instant, where the writer named one';
COMMENT ON COLUMN "memory".episodes.subject IS 'What the fact speaks about';
COMMENT ON COLUMN "memory".episodes.predicate IS 'What the fact says of it, an array of texts';
COMMENT ON COLUMN "memory".episodes.metadata IS 'Flat attributes';
COMMENT ON COLUMN "memory".episodes.redacted IS 'JSON text: the paths at which secrets were masked';
COMMENT ON COLUMN "memory".episodes.recorded_at IS 'When the store was told, by the writer''s clock, in milliseconds since 1970 UTC';
COMMENT ON INDEX "memory".episodes_pkey IS 'No id twice in a scope';
COMMENT ON INDEX "memory".episodes_scope IS 'The newest of a scope';
COMMENT ON INDEX "memory".episodes_user IS 'The newest of a user, over all sessions';
COMMENT ON INDEX "memory".episodes_tenant IS 'The newest of a tenant';
COMMENT ON INDEX "memory".episodes_key IS 'The newest of a key';
COMMENT ON INDEX "memory".episodes_metadata IS 'Conditions on metadata, tenant by tenant';

CREATE TABLE "memory".derivations (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  source_kind text COLLATE "C" NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  adapter text COLLATE "C" NOT NULL,
  artefact_id text COLLATE "C" NOT NULL,
  mixes boolean NOT NULL,
  condemned boolean NOT NULL DEFAULT false,
  CONSTRAINT derivations_tenant CHECK (tenant_id <> ''),
  CONSTRAINT derivations_pkey PRIMARY KEY (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id)
);

CREATE INDEX derivations_scope ON "memory".derivations USING btree (tenant_id, user_id, session_id, agent, adapter, artefact_id, source_kind, source_id);

CREATE INDEX derivations_condemned ON "memory".derivations USING btree (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id) WHERE condemned;

COMMENT ON TABLE "memory".derivations IS 'What was built from records and is kept elsewhere, so that erasure can follow it (schema version 1)';
COMMENT ON COLUMN "memory".derivations.tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory".derivations.user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory".derivations.session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory".derivations.agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory".derivations.source_kind IS 'The kind of the record that it was built from';
COMMENT ON COLUMN "memory".derivations.source_id IS 'The id of that record';
COMMENT ON COLUMN "memory".derivations.adapter IS 'The derived index that holds it';
COMMENT ON COLUMN "memory".derivations.artefact_id IS 'Its id there';
COMMENT ON COLUMN "memory".derivations.mixes IS 'Whether it mixes the content of several scopes';
COMMENT ON COLUMN "memory".derivations.condemned IS 'Whether its source was erased and it is still to be purged';
COMMENT ON INDEX "memory".derivations_pkey IS 'Each registration once';
COMMENT ON INDEX "memory".derivations_scope IS 'The registrations of a scope';
COMMENT ON INDEX "memory".derivations_condemned IS 'What is still to be purged';

CREATE TABLE "memory".erasures (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  profile bigint NOT NULL,
  episodic bigint NOT NULL,
  CONSTRAINT erasures_tenant CHECK (tenant_id <> ''),
  CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, user_id, session_id, agent)
);

COMMENT ON TABLE "memory".erasures IS 'Erasures under way, and how much they removed; empty when none is (schema version 1)';
COMMENT ON COLUMN "memory".erasures.tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory".erasures.user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory".erasures.session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory".erasures.agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory".erasures.profile IS 'How many versions were removed and not yet answered for';
COMMENT ON COLUMN "memory".erasures.episodic IS 'How many episodes were removed and not yet answered for';
COMMENT ON INDEX "memory".erasures_pkey IS 'One note a scope';

ALTER TABLE "memory".profile_versions
  ALTER COLUMN key SET STATISTICS 0,
  ALTER COLUMN id SET STATISTICS 0,
  ALTER COLUMN token SET STATISTICS 0,
  ALTER COLUMN value SET STATISTICS 0,
  ALTER COLUMN source SET STATISTICS 0,
  ALTER COLUMN confidence SET STATISTICS 0,
  ALTER COLUMN subject SET STATISTICS 0,
  ALTER COLUMN predicate SET STATISTICS 0,
  ALTER COLUMN metadata SET STATISTICS 0,
  ALTER COLUMN redacted SET STATISTICS 0;

ALTER TABLE "memory".episodes
  ALTER COLUMN id SET STATISTICS 0,
  ALTER COLUMN key SET STATISTICS 0,
  ALTER COLUMN value SET STATISTICS 0,
  ALTER COLUMN source SET STATISTICS 0,
  ALTER COLUMN confidence SET STATISTICS 0,
  ALTER COLUMN subject SET STATISTICS 0,
  ALTER COLUMN predicate SET STATISTICS 0,
  ALTER COLUMN metadata SET STATISTICS 0,
  ALTER COLUMN redacted SET STATISTICS 0;

ALTER TABLE "memory".derivations
  ALTER COLUMN source_kind SET STATISTICS 0,
  ALTER COLUMN source_id SET STATISTICS 0,
  ALTER COLUMN adapter SET STATISTICS 0,
  ALTER COLUMN artefact_id SET STATISTICS 0;

DO $$
DECLARE part record;
BEGIN
  FOR part IN
    SELECT a.attrelid::regclass AS index, a.attnum FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid
     WHERE i.indexprs IS NOT NULL AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts AND i.indrelid IN (
       SELECT coalesce(p.relid, t.oid) FROM unnest(ARRAY['"memory".profile_versions'::regclass, '"memory".episodes'::regclass, '"memory".derivations'::regclass, '"memory".erasures'::regclass]) AS t(oid) LEFT JOIN LATERAL pg_catalog.pg_partition_tree(t.oid) p ON true)
  LOOP
    EXECUTE pg_catalog.format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', part.index, part.attnum);
  END LOOP;
END $$;
