// What the server's catalogs say of some tables: one statement, and its rows by kind.

import type { Row, Statement } from "./executor.ts";
import { arrayLiteral } from "./params.ts";
import type { TablePlan } from "./plan.ts";

/** What to look at. */
export interface CatalogRequest {
  /** The database schema that the tables are in. */
  readonly schema: string;
  readonly tables: readonly TablePlan[];
  /** Extensions whose types and operators the tables use. */
  readonly extensions?: readonly string[] | undefined;
  /**
   * Further looks: queries of six columns of text, as the rows of {@link Catalog}. `t` stands for the tables that are there
   * (`oid`, `relname`).
   */
  readonly looks?: readonly string[] | undefined;
}

/** The look at the catalogs. Rows: those of {@link Catalog}. */
export function catalogStatement({ schema, tables, extensions = [], looks = [] }: CatalogRequest): Statement {
  const text = `WITH t AS (
  SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relowner FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1::text AND c.relname = ANY ($2::text::text[]) AND c.relkind IN ('r', 'p'))
SELECT 'server'::text, ''::text, s.name::text, s.setting::text, ''::text, ''::text FROM pg_catalog.pg_settings s
 WHERE s.name IN ('server_version_num', 'server_encoding', 'synchronous_commit', 'fsync')
UNION ALL SELECT 'role', '', r.rolname::text, (r.rolbypassrls OR r.rolsuper)::text, '', '' FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
UNION ALL SELECT 'schema', '', n.nspname::text, pg_catalog.has_schema_privilege(n.oid, 'USAGE')::text, '', '' FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::text
UNION ALL SELECT 'extension', '', e.extname::text, e.extversion::text, n.nspname::text, '' FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
 WHERE e.extname = ANY ($3::text::text[])
UNION ALL SELECT 'table', t.relname::text, '', t.relrowsecurity::text, coalesce(pg_catalog.obj_description(t.oid, 'pg_class'), ''),
 (t.relforcerowsecurity OR NOT pg_catalog.pg_has_role(t.relowner, 'USAGE'))::text FROM t
UNION ALL SELECT 'grant', t.relname::text, p.word, pg_catalog.has_table_privilege(t.oid, p.word)::text, '', ''
 FROM t CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS p(word)
UNION ALL SELECT 'column', t.relname::text, a.attname::text, pg_catalog.replace(pg_catalog.format_type(a.atttypid, a.atttypmod), '"', ''), a.attnotnull::text, coalesce(o.collname::text, '')
 FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
UNION ALL SELECT 'storage', t.relname::text, a.attname::text,
 CASE a.attstorage WHEN 'p' THEN 'plain' WHEN 'e' THEN 'external' WHEN 'm' THEN 'main' ELSE 'extended' END, '', ''
 FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'index', t.relname::text, x.relname::text, pg_catalog.replace(pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(i.indexrelid), '^.* USING ', ''), '"', ''),
 CASE WHEN NOT i.indimmediate THEN 'deferrable' WHEN i.indisprimary THEN 'primary' WHEN i.indisunique THEN 'unique' ELSE 'plain' END, (i.indisvalid AND i.indisready)::text
 FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
UNION ALL SELECT 'default', t.relname::text, a.attname::text, pg_catalog.replace(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '"', ''), (a.attgenerated = 's')::text, ''
 FROM t JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.adnum
UNION ALL SELECT 'check', t.relname::text, k.conname::text, k.convalidated::text, '', ''
 FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid AND k.contype = 'c'
UNION ALL SELECT 'part', t.relname::text, c.relname::text, (c.relrowsecurity AND c.relforcerowsecurity)::text, n.nspname::text, ''
 FROM t JOIN pg_catalog.pg_inherits h ON h.inhparent = t.oid JOIN pg_catalog.pg_class c ON c.oid = h.inhrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
UNION ALL SELECT 'policy', t.relname::text, p.polname::text, pg_catalog.replace(coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), ''), '"', ''),
 pg_catalog.replace(coalesce(pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid), ''), '"', ''),
 CASE WHEN NOT p.polpermissive THEN 'narrows' WHEN p.polcmd = '*' AND p.polroles = '{0}' THEN 'all' ELSE 'some' END
 FROM t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid`;
  const names = tables.map(({ name }) => name);
  return {
    text: [text, ...looks].join("\nUNION ALL "),
    params: [schema, arrayLiteral(names), arrayLiteral(extensions)],
  };
}

/** The rows of a look: the kind of thing, the table it is of (or the empty text), its name, and three details. */
export class Catalog {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** All things of one kind, of one table or of none. */
  of(kind: string, table = ""): readonly Row[] {
    return this.#rows.filter((row) => row[0] === kind && row[1] === table);
  }

  /** One thing. */
  one(kind: string, table: string, name: string): Row | undefined {
    return this.of(kind, table).find((row) => row[2] === name);
  }

  /** A setting of the server's, or the empty text. */
  setting(name: string): string {
    return this.one("server", "", name)?.[3] ?? "";
  }

  /** Whether row security does nothing for the role. */
  isBypassing(): boolean {
    return this.of("role").some((row) => isTrue(row[3]));
  }

  /**
   * A type or definition without the schemas of the extensions that were looked at, which the catalogs name or leave out by
   * the search path, without quotes, which they set where quote_all_identifiers is on, and on one line.
   */
  bare(definition: string | null | undefined): string {
    let text = (definition ?? "").replaceAll('"', "");
    for (const row of this.of("extension")) text = text.replaceAll(`${(row[4] ?? "").replaceAll('"', "")}.`, "");
    return text.replaceAll(/\s+/g, " ").trim();
  }
}

/** Whether a column says yes. A boolean as text is `true`; as a column of its own it is `t`. */
export function isTrue(text: string | null | undefined): boolean {
  return text === "true" || text === "t";
}
