// What `verify()` looks at: one statement over the catalogs, compared with the tables as data. Everything that is missing
// or wrong is named at once, each with the statement that mends it.

import { type DriverCall, MemorySchemaError, type MemoryWarning } from "@memory/core/driver";
import { quoteIdentifier } from "@memory/core/sql";
import { columnSql, indexSql, partitionSecuritySql, rowSecuritySql, TENANT_SETTING, tableSql } from "./ddl.ts";
import type { Executor, Statement } from "./executor.ts";
import type { Row } from "./row.ts";
import { type IndexPlan, LEAST_SERVER_VERSION, SCHEMA_VERSION, TABLES, type TablePlan } from "./tables.ts";

/** The policy's condition as `pg_get_expr` prints it. */
const TENANT_POLICY = `(tenant_id = current_setting('${TENANT_SETTING}'::text, true))`;

interface Look {
  readonly schema: string;
  readonly rowSecurity: boolean;
}

/**
 * Compares the database with the tables that the statements need. One round trip.
 *
 * @throws {MemorySchemaError} Something is missing or wrong; `findings` names all of it.
 */
export async function verifySchema(
  executor: Executor,
  look: Look,
  call: DriverCall,
): Promise<readonly MemoryWarning[]> {
  const rows = await executor.run(catalogStatement(look.schema), call);
  const seen = new Catalog(rows);
  const findings = [...serverFindings(seen), ...schemaFindings(seen, look)];
  if (findings.length > 0) {
    const message = `postgres: the schema is not as the store needs it; ${findings.length} finding(s): ${findings[0]}`;
    throw new MemorySchemaError(message, { findings });
  }
  return warnings(seen, look);
}

/** Rows: what kind of thing, the table it is of, its name, and three details. */
function catalogStatement(schema: string): Statement {
  const tables = `{${TABLES.map(({ name }) => name).join(",")}}`;
  const text = `WITH t AS (
  SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relowner FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1::text AND c.relname = ANY ($2::text::text[]) AND c.relkind IN ('r', 'p'))
SELECT 'server'::text, ''::text, s.name::text, s.setting::text, ''::text, ''::text FROM pg_catalog.pg_settings s
 WHERE s.name IN ('server_version_num', 'server_encoding', 'synchronous_commit', 'fsync')
UNION ALL SELECT 'role', '', r.rolname::text, (r.rolbypassrls OR r.rolsuper)::text, '', '' FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
UNION ALL SELECT 'schema', '', n.nspname::text, pg_catalog.has_schema_privilege(n.oid, 'USAGE')::text, '', '' FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::text
UNION ALL SELECT 'table', t.relname::text, '', t.relrowsecurity::text, coalesce(pg_catalog.obj_description(t.oid, 'pg_class'), ''),
 (t.relforcerowsecurity OR NOT pg_catalog.pg_has_role(t.relowner, 'USAGE'))::text FROM t
UNION ALL SELECT 'grant', t.relname::text, p.word, pg_catalog.has_table_privilege(t.oid, p.word)::text, '', ''
 FROM t CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS p(word)
UNION ALL SELECT 'column', t.relname::text, a.attname::text, pg_catalog.replace(pg_catalog.format_type(a.atttypid, a.atttypmod), '"', ''), a.attnotnull::text, coalesce(o.collname::text, '')
 FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
UNION ALL SELECT 'index', t.relname::text, x.relname::text, pg_catalog.replace(pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(i.indexrelid), '^.* USING ', ''), '"', ''),
 CASE WHEN NOT i.indimmediate THEN 'deferrable' WHEN i.indisprimary THEN 'primary' WHEN i.indisunique AND i.indpred IS NULL THEN 'unique' ELSE 'plain' END, (i.indisvalid AND i.indisready)::text
 FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
UNION ALL SELECT 'default', t.relname::text, a.attname::text, pg_catalog.pg_get_expr(d.adbin, d.adrelid), '', ''
 FROM t JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.adnum
UNION ALL SELECT 'check', t.relname::text, k.conname::text, k.convalidated::text, '', ''
 FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid AND k.contype = 'c'
UNION ALL SELECT 'part', t.relname::text, c.relname::text, (c.relrowsecurity AND c.relforcerowsecurity)::text, n.nspname::text, ''
 FROM t JOIN pg_catalog.pg_inherits h ON h.inhparent = t.oid JOIN pg_catalog.pg_class c ON c.oid = h.inhrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
UNION ALL SELECT 'policy', t.relname::text, p.polname::text, pg_catalog.replace(coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), ''), '"', ''),
 pg_catalog.replace(coalesce(pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid), ''), '"', ''),
 CASE WHEN NOT p.polpermissive THEN 'narrows' WHEN p.polcmd = '*' AND p.polroles = '{0}' THEN 'all' ELSE 'some' END
 FROM t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid`;
  return { text, params: [schema, tables] };
}

class Catalog {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  of(kind: string, table = ""): readonly Row[] {
    return this.#rows.filter((row) => row[0] === kind && row[1] === table);
  }

  one(kind: string, table: string, name: string): Row | undefined {
    return this.of(kind, table).find((row) => row[2] === name);
  }

  setting(name: string): string {
    return this.one("server", "", name)?.[3] ?? "";
  }
}

function serverFindings(seen: Catalog): readonly string[] {
  const version = Number(seen.setting("server_version_num"));
  const encoding = seen.setting("server_encoding");
  return [
    ...(version < LEAST_SERVER_VERSION ? [`the server is ${version}; PostgreSQL 15 or newer is needed`] : []),
    ...(encoding === "UTF8" ? [] : [`the database's encoding is ${encoding}; create it with ENCODING 'UTF8'`]),
  ];
}

function schemaFindings(seen: Catalog, { schema, rowSecurity }: Look): readonly string[] {
  const owner = quoteIdentifier(schema, "schema");
  const there = seen.one("schema", "", schema);
  if (there === undefined) return [`the schema ${owner} is missing: apply what memory-postgres-schema prints`];
  const usage = isTrue(there[3]) ? [] : [`the role may not use the schema: GRANT USAGE ON SCHEMA ${owner} TO <role>;`];
  return [...usage, ...TABLES.flatMap((table) => tableFindings(seen, owner, table, rowSecurity))];
}

function tableFindings(seen: Catalog, owner: string, table: TablePlan, rowSecurity: boolean): readonly string[] {
  const on = `${owner}.${table.name}`;
  const there = seen.one("table", table.name, "");
  if (there === undefined) {
    return [
      `the table ${on} is missing: ${[...tableSql(owner, table), ...(rowSecurity ? rowSecuritySql(owner, table) : [])].join(" ")}`,
    ];
  }
  return [
    ...versionFindings(on, there[4] ?? ""),
    ...table.columns.flatMap((column) => {
      const row = seen.one("column", table.name, column.name);
      if (row === undefined)
        return [`${on}.${column.name} is missing: ALTER TABLE ${on} ADD COLUMN ${columnSql(column)};`];
      const hasDefault = column.fallback === undefined || seen.one("default", table.name, column.name) !== undefined;
      const without = `${on}.${column.name} has no default: ALTER TABLE ${on} ALTER COLUMN ${column.name} SET DEFAULT ${column.fallback};`;
      return [...columnFindings(on, column, row), ...(hasDefault ? [] : [without])];
    }),
    ...strangers(seen, on, table),
    ...table.checks.flatMap(({ name, expression }) =>
      seen.one("check", table.name, name) === undefined
        ? [`${on} lacks the check ${name}: ALTER TABLE ${on} ADD CONSTRAINT ${name} CHECK (${expression});`]
        : [],
    ),
    ...table.indexes.flatMap((index) => {
      const same = seen.of("index", table.name).filter((row) => unquoted(row[3]) === index.using);
      const fit = same.filter((row) => row[4] === index.kind || (index.kind === "plain" && row[4] === "unique"));
      if (fit.some((row) => isTrue(row[5]))) return [];
      const [broken] = fit;
      if (broken !== undefined) {
        const name = `${owner}.${quoteIdentifier(broken[2] ?? "")}`;
        return [`the index ${name} on ${on} is invalid: REINDEX INDEX ${name};`];
      }
      return [
        `${on} lacks an index (${index.comment}): ${removal(seen, owner, table, index)}${indexSql(owner, table, index)}`,
      ];
    }),
    ...grantFindings(seen, on, table),
    ...securityFindings(seen, owner, table, { isOn: isTrue(there[3]), isForced: isTrue(there[5]) }, rowSecurity),
  ];
}

// What stands in the place of an index: one of its name, another primary key.
function removal(seen: Catalog, owner: string, table: TablePlan, index: IndexPlan): string {
  const inPlace = seen
    .of("index", table.name)
    .filter((row) => row[2] === index.name || (index.kind === "primary" && row[4] === "primary"));
  return inPlace
    .map((row) => {
      const name = quoteIdentifier(row[2] ?? "");
      // A constraint goes with its index, an index that is none goes by itself; of both statements one does nothing.
      return `ALTER TABLE ${owner}.${table.name} DROP CONSTRAINT IF EXISTS ${name}; DROP INDEX IF EXISTS ${owner}.${name}; `;
    })
    .join("");
}

// Columns that are not of this schema and that every insert would have to fill.
function strangers(seen: Catalog, on: string, table: TablePlan): readonly string[] {
  return seen
    .of("column", table.name)
    .filter(
      (row) =>
        isTrue(row[4]) &&
        !table.columns.some((column) => column.name === row[2]) &&
        seen.one("default", table.name, row[2] ?? "") === undefined,
    )
    .map((row) => {
      const name = quoteIdentifier(row[2] ?? "");
      return `${on}.${name} is unknown and must be given: ALTER TABLE ${on} ALTER COLUMN ${name} DROP NOT NULL;`;
    });
}

function versionFindings(on: string, comment: string): readonly string[] {
  const version = /\(schema version (\d+)\)$/.exec(comment)?.[1];
  if (version === undefined || Number(version) === SCHEMA_VERSION) return [];
  return [
    `${on} is of schema version ${version}, this package needs ${SCHEMA_VERSION}: apply migrationSql(${version})`,
  ];
}

function columnFindings(on: string, column: TablePlan["columns"][number], row: Row): readonly string[] {
  const alter = `ALTER TABLE ${on} ALTER COLUMN ${column.name}`;
  const collation = column.type === "text" ? ' COLLATE "C"' : "";
  const isType = row[3] === column.type && (column.type !== "text" || row[5] === "C");
  const isOptional = column.isNullable === true;
  return [
    ...(isType
      ? []
      : [
          `${on}.${column.name} is ${row[3]} (collation ${row[5] || "none"}): ${alter} TYPE ${column.type}${collation} USING ${column.name}::${column.type};`,
        ]),
    ...(isTrue(row[4]) === !isOptional
      ? []
      : [
          `${on}.${column.name} may ${isOptional ? "not " : ""}be null: ${alter} ${isOptional ? "DROP" : "SET"} NOT NULL;`,
        ]),
  ];
}

function grantFindings(seen: Catalog, on: string, { name }: TablePlan): readonly string[] {
  const missing = seen.of("grant", name).filter((row) => !isTrue(row[3]));
  const words = missing.map((row) => row[2]).join(", ");
  return missing.length === 0 ? [] : [`the role lacks ${words} on ${on}: GRANT ${words} ON ${on} TO <role>;`];
}

function securityFindings(
  seen: Catalog,
  owner: string,
  table: TablePlan,
  { isOn, isForced }: { readonly isOn: boolean; readonly isForced: boolean },
  isWanted: boolean,
): readonly string[] {
  const on = `${owner}.${table.name}`;
  if (!isWanted) {
    return isOn && !bypasses(seen) ? [`${on} has row security: open the store with rowSecurity: true`] : [];
  }
  const policies = seen.of("policy", table.name);
  const permissive = policies.filter((row) => row[5] !== "narrows");
  const isFit = (row: Row): boolean =>
    row[5] === "all" && row[3] === TENANT_POLICY && (row[4] === "" || row[4] === TENANT_POLICY);
  const policyName = `${table.name}_tenant`;
  // Policies that open are joined by OR: one that opens more undoes the others.
  const wrong = permissive.filter((row) => !isFit(row)).map((row) => quoteIdentifier(row[2] ?? ""));
  const lines = (rowSecuritySql(owner, table)[0] ?? "").split("\n");
  const [enable = "", force = "", policy = ""] = lines;
  const hasPolicy = permissive.some(isFit);
  const shut = seen.of("part", table.name).filter((row) => !isTrue(row[3]));
  return [
    ...(isOn ? [] : [`${on} has no row security: ${enable} ${force}`]),
    ...(isOn && !isForced ? [`the role owns ${on}, whose row security does not hold for its owner: ${force}`] : []),
    ...wrong.map((name) => `the policy ${name} opens ${on} to other tenants: DROP POLICY ${name} ON ${on};`),
    ...(hasPolicy
      ? []
      : [`${on} has no policy on the tenant: DROP POLICY IF EXISTS ${policyName} ON ${on}; ${policy}`]),
    ...shut.map((row) => {
      const part = `${quoteIdentifier(row[4] ?? "")}.${quoteIdentifier(row[2] ?? "")}`;
      return `the partition ${part} has no row security of its own: ${partitionSecuritySql(part)}`;
    }),
  ];
}

function warnings(seen: Catalog, { rowSecurity }: Look): readonly MemoryWarning[] {
  return [
    ...(rowSecurity && bypasses(seen)
      ? [
          {
            code: "postgres-row-security-bypassed",
            message: "the role is a superuser or has BYPASSRLS, so row security does nothing",
          },
        ]
      : []),
    ...(seen.setting("synchronous_commit") === "off"
      ? [
          {
            code: "postgres-synchronous-commit",
            message: "synchronous_commit is off: what was acknowledged last is lost in a crash",
          },
        ]
      : []),
    ...(seen.setting("fsync") === "off"
      ? [{ code: "postgres-fsync", message: "fsync is off: a crash of the machine may damage the database" }]
      : []),
  ];
}

function bypasses(seen: Catalog): boolean {
  return seen.of("role").some((row) => isTrue(row[3]));
}

// With quote_all_identifiers the catalogs quote what needs no quotes.
function unquoted(definition: string | null | undefined): string {
  return (definition ?? "").replaceAll('"', "");
}

// A boolean as text is `true`; as a column of its own it is `t`.
function isTrue(text: string | null | undefined): boolean {
  return text === "true" || text === "t";
}
