// The text of tables: every part of a plan is said, and names that come from an option are quoted wherever they stand.

import { describe, expect, test } from "vitest";
import { indexSql, rowSecuritySql, tableSql } from "./ddl.ts";
import {
  column,
  optional,
  plainIndex,
  primaryKey,
  SCOPE_PLAN,
  type TablePlan,
  tenantCheck,
  uniqueKey,
} from "./plan.ts";

const name = 'a"b';
const vectors: TablePlan = {
  name,
  version: 3,
  isQuoted: true,
  comment: "It's vectors",
  columns: [
    ...SCOPE_PLAN,
    { ...column("embedding", "vector(3)", "The vector"), storage: "external" },
    { ...column("bits", "bit(3)", "Its signs"), generated: "binary_quantize(embedding)::bit(3)" },
    optional({ ...column("note", "jsonb", "A note"), fallback: "'{}'" }),
  ],
  checks: [tenantCheck(name)],
  indexes: [
    primaryKey(`${name}_pkey`, "tenant_id", "The key"),
    uniqueKey(`${name}_once`, "tenant_id, user_id", "Once"),
    {
      name: `${name}_some`,
      kind: "unique-index",
      using: "btree (tenant_id, agent) INCLUDE (bits) WHERE (note IS NULL)",
      comment: "Once where there is no note",
    },
    plainIndex(`${name}_near`, "hnsw (embedding vector_l2_ops) WITH (m='16')", "The nearest"),
    plainIndex(`${name}_scope`, "tenant_id, agent", "A scope"),
  ],
};

describe("tableSql", () => {
  const text = tableSql('"s"', vectors, 2).join("\n");

  test.each([
    'CREATE TABLE "s"."a""b" (',
    "embedding vector(3) NOT NULL",
    "bits bit(3) NOT NULL GENERATED ALWAYS AS (binary_quantize(embedding)::bit(3)) STORED",
    "note jsonb DEFAULT '{}'",
    `CONSTRAINT "a""b_tenant" CHECK (tenant_id <> '')`,
    'CONSTRAINT "a""b_pkey" PRIMARY KEY (tenant_id)',
    'CONSTRAINT "a""b_once" UNIQUE (tenant_id, user_id)',
    ") PARTITION BY HASH (tenant_id);",
    'CREATE TABLE "s"."a""b_1" PARTITION OF "s"."a""b" FOR VALUES WITH (MODULUS 2, REMAINDER 1);',
    'ALTER TABLE "s"."a""b" ALTER COLUMN embedding SET STORAGE EXTERNAL;',
    'CREATE UNIQUE INDEX "a""b_some" ON "s"."a""b" USING btree (tenant_id, agent) INCLUDE (bits) WHERE (note IS NULL);',
    `CREATE INDEX "a""b_near" ON "s"."a""b" USING hnsw (embedding vector_l2_ops) WITH (m='16');`,
    'CREATE INDEX "a""b_scope" ON "s"."a""b" USING btree (tenant_id, agent);',
    `COMMENT ON TABLE "s"."a""b" IS 'It''s vectors (schema version 3)';`,
    `COMMENT ON INDEX "s"."a""b_near" IS 'The nearest';`,
  ])("says %s", (line) => {
    expect(text).toContain(line);
  });

  test("names that are the adapter's own stand as they are", () => {
    const { isQuoted: _isQuoted, ...own } = vectors;
    const [table] = tableSql('"s"', { ...own, name: "vectors" });
    expect(table).toContain('CREATE TABLE "s".vectors (');
  });
});

test("a key that is wanting is added to its table", () => {
  const [key] = vectors.indexes;
  expect(key && indexSql('"s"', vectors, key)).toBe(
    'ALTER TABLE "s"."a""b" ADD CONSTRAINT "a""b_pkey" PRIMARY KEY (tenant_id);',
  );
});

test("row security is on for the table, its owner and its partitions", () => {
  const [text = ""] = rowSecuritySql('"s"', vectors, 2);
  expect(text.split("\n")).toHaveLength(5);
  expect(text).toContain('CREATE POLICY "a""b_tenant" ON "s"."a""b" USING');
  expect(text).toContain('ALTER TABLE "s"."a""b_0" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;');
});
