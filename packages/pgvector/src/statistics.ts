// No samples: ANALYZE copies values of every column into the server's catalogs, where they outlive an erasure until it runs
// again. No statement needs them: how it goes does not depend on what is in the columns.

import { type Catalog, type TablePlan, tableNameSql } from "@memory/core/sql";

/** The statements after which ANALYZE samples no column and no expression of an index of these tables, nor of a partition. */
export function statisticsSql(owner: string, tables: readonly TablePlan[]): readonly string[] {
  const names = tables.map((table) => `'${tableNameSql(owner, table).replaceAll("'", "''")}'::regclass`);
  return [
    ...tables.map((table) =>
      unsampledSql(
        tableNameSql(owner, table),
        table.columns.map(({ name }) => name),
      ),
    ),
    `DO $$
DECLARE part record;
BEGIN
  FOR part IN
    SELECT a.attrelid::regclass AS index, a.attnum FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid
     WHERE i.indexprs IS NOT NULL AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts AND i.indrelid IN (
       SELECT coalesce(p.relid, t.oid) FROM unnest(ARRAY[${names.join(", ")}]) AS t(oid) LEFT JOIN LATERAL pg_catalog.pg_partition_tree(t.oid) p ON true)
  LOOP
    EXECUTE pg_catalog.format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', part.index, part.attnum);
  END LOOP;
END $$;`,
  ];
}

/** The look at what is sampled: the table, and the column or index. */
export const SAMPLED_LOOK = `SELECT DISTINCT 'sampled', t.relname::text, coalesce(x.relname, a.attname)::text, '', '', ''
 FROM t CROSS JOIN LATERAL (SELECT coalesce(p.relid, t.oid) AS relid FROM (SELECT) o LEFT JOIN pg_catalog.pg_partition_tree(t.oid) p ON true) r
 LEFT JOIN pg_catalog.pg_index i ON i.indrelid = r.relid AND i.indexprs IS NOT NULL
 JOIN pg_catalog.pg_attribute a ON a.attrelid = r.relid AND a.attnum > 0 AND NOT a.attisdropped OR a.attrelid = i.indexrelid AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts
 LEFT JOIN pg_catalog.pg_class x ON x.oid = a.attrelid AND x.relkind IN ('i', 'I')
 WHERE coalesce(a.attstattarget, -1) <> 0`;

/** What is sampled of a table: its columns, and indexes of its own or of a partition. */
export function sampledOf(seen: Catalog, table: string): readonly string[] {
  return seen.of("sampled", table).map((row) => row[2] ?? "");
}

function unsampledSql(on: string, columns: readonly string[]): string {
  return `ALTER TABLE ${on}\n  ${columns.map((name) => `ALTER COLUMN ${name} SET STATISTICS 0`).join(",\n  ")};`;
}
