// Samples: ANALYZE copies values of every column into the server's catalogs, where they outlive an erasure until it runs
// again over a table that is not empty. Only what an adapter's statements need to be planned well is sampled.

import type { MemoryWarning } from "../model/driver.ts";
import type { Catalog } from "./catalog.ts";
import { tableNameSql } from "./ddl.ts";
import type { TablePlan } from "./plan.ts";

/**
 * The statements after which ANALYZE samples of these tables, and of their partitions, none but the columns of these names,
 * and no expression of an index. Run again, they take in what was added since; the last of them is that of the indexes.
 */
export function statisticsSql(
  owner: string,
  tables: readonly TablePlan[],
  sampled: readonly string[] = [],
): readonly string[] {
  const names = tables.map((table) => `'${tableNameSql(owner, table).replaceAll("'", "''")}'::regclass`);
  return [
    ...tables.flatMap((table) =>
      unsampledSql(
        tableNameSql(owner, table),
        table.columns.map(({ name }) => name).filter((name) => !sampled.includes(name)),
      ),
    ),
    `DO ${dollarQuoted(`
DECLARE part record;
BEGIN
  FOR part IN
    SELECT a.attrelid::regclass AS index, a.attnum FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid
     WHERE i.indexprs IS NOT NULL AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts AND i.indrelid IN (
       SELECT coalesce(p.relid, t.oid) FROM unnest(ARRAY[${names.join(", ")}]) AS t(oid) LEFT JOIN LATERAL pg_catalog.pg_partition_tree(t.oid) p ON true)
  LOOP
    EXECUTE pg_catalog.format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', part.index, part.attnum);
  END LOOP;
END `)};`,
  ];
}

/** The look at what is sampled: the table, and the column or index. */
export const SAMPLED_LOOK = `SELECT DISTINCT 'sampled', t.relname::text, coalesce(x.relname, a.attname)::text, '', '', ''
 FROM t CROSS JOIN LATERAL (SELECT coalesce(p.relid, t.oid) AS relid FROM (SELECT) o LEFT JOIN pg_catalog.pg_partition_tree(t.oid) p ON true) r
 LEFT JOIN pg_catalog.pg_index i ON i.indrelid = r.relid AND i.indexprs IS NOT NULL
 JOIN pg_catalog.pg_attribute a ON a.attrelid = r.relid AND a.attnum > 0 AND NOT a.attisdropped OR a.attrelid = i.indexrelid AND i.indkey[a.attnum - 1] = 0 AND a.attnum <= i.indnkeyatts
 LEFT JOIN pg_catalog.pg_class x ON x.oid = a.attrelid AND x.relkind IN ('i', 'I')
 WHERE coalesce(a.attstattarget, -1) <> 0`;

/** What ANALYZE samples of these tables beside the columns of these names: columns, and indexes of theirs or of a partition. */
export function sampleWarnings(
  seen: Catalog,
  { adapter, tables, sampled = [] }: SampledTables,
): readonly MemoryWarning[] {
  const found = tables.flatMap(({ name }) =>
    seen.of("sampled", name).flatMap(([, , of]) => (sampled.includes(of ?? "") ? [] : `${name}.${of}`)),
  );
  if (found.length === 0) return [];
  const message = `ANALYZE keeps samples of ${found.join(", ")}, which outlive an erasure: SET STATISTICS 0, as schemaSql() has it`;
  return [{ code: `${adapter}-samples`, message }];
}

interface SampledTables {
  readonly adapter: string;
  readonly tables: readonly TablePlan[];
  readonly sampled?: readonly string[] | undefined;
}

function unsampledSql(on: string, columns: readonly string[]): readonly string[] {
  if (columns.length === 0) return [];
  return [`ALTER TABLE ${on}\n  ${columns.map((name) => `ALTER COLUMN ${name} SET STATISTICS 0`).join(",\n  ")};`];
}

// A schema may be named like the quote.
function dollarQuoted(body: string): string {
  let quote = "$$";
  for (let n = 1; body.includes(quote); n += 1) quote = `$q${n}$`;
  return `${quote}${body}${quote}`;
}
