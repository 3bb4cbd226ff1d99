-- The tables of @memory/pgvector, version 1.

CREATE EXTENSION IF NOT EXISTS vector;

DO $$ BEGIN
  PERFORM pg_catalog.set_config('search_path', pg_catalog.quote_ident(n.nspname) || ', pg_temp', true)
     FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
END $$;

CREATE SCHEMA IF NOT EXISTS "memory";

CREATE TABLE "memory"."semantic" (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  confidence numeric NOT NULL,
  valid_from bigint,
  valid_to bigint,
  subject text COLLATE "C",
  predicate jsonb,
  metadata jsonb,
  redacted text COLLATE "C",
  recorded_at bigint NOT NULL,
  embedder text COLLATE "C",
  embedding vector(1024) NOT NULL,
  handle bigint NOT NULL GENERATED ALWAYS AS (((recorded_at << 20) | (hashtextextended(key, (0)::bigint) & (1048575)::bigint))) STORED,
  near halfvec(1024) GENERATED ALWAYS AS (CASE WHEN ((((octet_length(tenant_id) + octet_length(user_id)) + octet_length(session_id)) + octet_length(agent)) <= 556) THEN (l2_normalize(embedding))::halfvec(1024) ELSE NULL::halfvec(1024) END) STORED,
  CONSTRAINT "semantic_tenant" CHECK (tenant_id <> ''),
  CONSTRAINT "semantic_pkey" PRIMARY KEY (tenant_id, user_id, session_id, agent, key)
);

ALTER TABLE "memory"."semantic" ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE "memory"."semantic" ALTER COLUMN near SET STORAGE EXTERNAL;

CREATE INDEX "semantic_near" ON "memory"."semantic" USING btree (tenant_id COLLATE "POSIX", user_id COLLATE "POSIX", session_id COLLATE "POSIX", agent COLLATE "POSIX", handle) INCLUDE (near, valid_from, valid_to);

CREATE INDEX "semantic_metadata" ON "memory"."semantic" USING gin (jsonb_set('{}'::jsonb, ARRAY[tenant_id], metadata) jsonb_path_ops) WITH (fastupdate=off) WHERE (metadata IS NOT NULL);

CREATE INDEX "semantic_stamp" ON "memory"."semantic" USING btree (embedder);

COMMENT ON TABLE "memory"."semantic" IS 'Things known, found by resemblance; a key holds one record, which a later one replaces (schema version 1)';
COMMENT ON COLUMN "memory"."semantic".tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory"."semantic".user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic".session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic".agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic".key IS 'What the record is filed under, once in a scope';
COMMENT ON COLUMN "memory"."semantic".id IS 'The record''s id';
COMMENT ON COLUMN "memory"."semantic".value IS 'The value as JSON text, as it was given: jsonb refuses U+0000 and half surrogate pairs';
COMMENT ON COLUMN "memory"."semantic".source IS 'Where it comes from';
COMMENT ON COLUMN "memory"."semantic".confidence IS 'How sure the writer was, 0 to 1';
COMMENT ON COLUMN "memory"."semantic".valid_from IS 'True from this instant on, in milliseconds since 1970 UTC';
COMMENT ON COLUMN "memory"."semantic".valid_to IS 'True until before this instant, where the writer named one';
COMMENT ON COLUMN "memory"."semantic".subject IS 'What the fact speaks about';
COMMENT ON COLUMN "memory"."semantic".predicate IS 'What the fact says of it, an array of texts';
COMMENT ON COLUMN "memory"."semantic".metadata IS 'Flat attributes';
COMMENT ON COLUMN "memory"."semantic".redacted IS 'JSON text: the paths at which secrets were masked';
COMMENT ON COLUMN "memory"."semantic".recorded_at IS 'When the store was told, by the writer''s clock, in milliseconds since 1970 UTC';
COMMENT ON COLUMN "memory"."semantic".embedder IS 'The model that made the vector, as name@version, where the store was told';
COMMENT ON COLUMN "memory"."semantic".embedding IS 'The vector';
COMMENT ON COLUMN "memory"."semantic".handle IS 'Names a record in few bytes: what the first pass of a search hands on';
COMMENT ON COLUMN "memory"."semantic".near IS 'The vector''s direction in half precision';
COMMENT ON INDEX "memory"."semantic_pkey" IS 'Each key once in a scope';
COMMENT ON INDEX "memory"."semantic_near" IS 'What resembles a vector: the first pass of a search reads its scope''s part of this and nothing else';
COMMENT ON INDEX "memory"."semantic_metadata" IS 'Conditions on metadata, tenant by tenant';
COMMENT ON INDEX "memory"."semantic_stamp" IS 'Which models made the vectors, for verify()';

CREATE TABLE "memory"."semantic_derivations" (
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
  CONSTRAINT "semantic_derivations_tenant" CHECK (tenant_id <> ''),
  CONSTRAINT "semantic_derivations_pkey" PRIMARY KEY (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id)
);

CREATE INDEX "semantic_derivations_scope" ON "memory"."semantic_derivations" USING btree (tenant_id, user_id, session_id, agent, adapter, artefact_id, source_kind, source_id);

CREATE INDEX "semantic_derivations_condemned" ON "memory"."semantic_derivations" USING btree (tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id) WHERE condemned;

COMMENT ON TABLE "memory"."semantic_derivations" IS 'What was built from records and is kept elsewhere, so that erasure can follow it (schema version 1)';
COMMENT ON COLUMN "memory"."semantic_derivations".tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory"."semantic_derivations".user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_derivations".session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_derivations".agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_derivations".source_kind IS 'The kind of the record that it was built from';
COMMENT ON COLUMN "memory"."semantic_derivations".source_id IS 'The id of that record';
COMMENT ON COLUMN "memory"."semantic_derivations".adapter IS 'The derived index that holds it';
COMMENT ON COLUMN "memory"."semantic_derivations".artefact_id IS 'Its id there';
COMMENT ON COLUMN "memory"."semantic_derivations".mixes IS 'Whether it mixes the content of several scopes';
COMMENT ON COLUMN "memory"."semantic_derivations".condemned IS 'Whether its source was erased and it is still to be purged';
COMMENT ON INDEX "memory"."semantic_derivations_pkey" IS 'Each registration once';
COMMENT ON INDEX "memory"."semantic_derivations_scope" IS 'The registrations of a scope';
COMMENT ON INDEX "memory"."semantic_derivations_condemned" IS 'What is still to be purged';

CREATE TABLE "memory"."semantic_erasures" (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL DEFAULT '',
  agent text COLLATE "C" NOT NULL DEFAULT '',
  semantic bigint NOT NULL,
  CONSTRAINT "semantic_erasures_tenant" CHECK (tenant_id <> ''),
  CONSTRAINT "semantic_erasures_pkey" PRIMARY KEY (tenant_id, user_id, session_id, agent)
);

COMMENT ON TABLE "memory"."semantic_erasures" IS 'Erasures under way, and how much they removed; empty when none is (schema version 1)';
COMMENT ON COLUMN "memory"."semantic_erasures".tenant_id IS 'The tenant; every key and index begins with it';
COMMENT ON COLUMN "memory"."semantic_erasures".user_id IS 'The user; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_erasures".session_id IS 'The session; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_erasures".agent IS 'The agent; empty where the scope has none';
COMMENT ON COLUMN "memory"."semantic_erasures".semantic IS 'How many records were removed and not yet answered for';
COMMENT ON INDEX "memory"."semantic_erasures_pkey" IS 'One note a scope';

ALTER TABLE "memory"."semantic"
  ALTER COLUMN tenant_id SET STATISTICS 0,
  ALTER COLUMN user_id SET STATISTICS 0,
  ALTER COLUMN session_id SET STATISTICS 0,
  ALTER COLUMN agent SET STATISTICS 0,
  ALTER COLUMN key SET STATISTICS 0,
  ALTER COLUMN id SET STATISTICS 0,
  ALTER COLUMN value SET STATISTICS 0,
  ALTER COLUMN source SET STATISTICS 0,
  ALTER COLUMN confidence SET STATISTICS 0,
  ALTER COLUMN valid_from SET STATISTICS 0,
  ALTER COLUMN valid_to SET STATISTICS 0,
  ALTER COLUMN subject SET STATISTICS 0,
  ALTER COLUMN predicate SET STATISTICS 0,
  ALTER COLUMN metadata SET STATISTICS 0,
  ALTER COLUMN redacted SET STATISTICS 0,
  ALTER COLUMN recorded_at SET STATISTICS 0,
  ALTER COLUMN embedder SET STATISTICS 0,
  ALTER COLUMN embedding SET STATISTICS 0,
  ALTER COLUMN handle SET STATISTICS 0,
  ALTER COLUMN near SET STATISTICS 0;

ALTER TABLE "memory"."semantic_derivations"
  ALTER COLUMN tenant_id SET STATISTICS 0,
  ALTER COLUMN user_id SET STATISTICS 0,
  ALTER COLUMN session_id SET STATISTICS 0,
  ALTER COLUMN agent SET STATISTICS 0,
  ALTER COLUMN source_kind SET STATISTICS 0,
  ALTER COLUMN source_id SET STATISTICS 0,
  ALTER COLUMN adapter SET STATISTICS 0,
  ALTER COLUMN artefact_id SET STATISTICS 0,
  ALTER COLUMN mixes SET STATISTICS 0,
  ALTER COLUMN condemned SET STATISTICS 0;

ALTER TABLE "memory"."semantic_erasures"
  ALTER COLUMN tenant_id SET STATISTICS 0,
  ALTER COLUMN user_id SET STATISTICS 0,
  ALTER COLUMN session_id SET STATISTICS 0,
  ALTER COLUMN agent SET STATISTICS 0,
  ALTER COLUMN semantic SET STATISTICS 0;

DO $$
DECLARE part record;
BEGIN
  FOR part IN
    SELECT a.attrelid::regclass AS index, a.attnum FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid
     WHERE i.indexprs IS NOT NULL AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts AND i.indrelid IN (
       SELECT coalesce(p.relid, t.oid) FROM unnest(ARRAY['"memory"."semantic"'::regclass, '"memory"."semantic_derivations"'::regclass, '"memory"."semantic_erasures"'::regclass]) AS t(oid) LEFT JOIN LATERAL pg_catalog.pg_partition_tree(t.oid) p ON true)
  LOOP
    EXECUTE pg_catalog.format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', part.index, part.attnum);
  END LOOP;
END $$;

ALTER TABLE "memory"."semantic" SET (toast_tuple_target = 4796, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
