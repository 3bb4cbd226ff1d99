// What is missing or wrong on a table, compared with its plan: each finding with the statement that mends it.

import { type Catalog, isTrue } from "./catalog.ts";
import {
  columnSql,
  indexSql,
  nameSql,
  partitionSecuritySql,
  policyName,
  rowSecuritySql,
  storageSql,
  tableNameSql,
  tableSql,
} from "./ddl.ts";
import type { Row } from "./executor.ts";
import { quoteIdentifier } from "./identifier.ts";
import type { ColumnPlan, IndexPlan, TablePlan } from "./plan.ts";
import { TENANT_SETTING } from "./tenant.ts";

/** The policy's condition as `pg_get_expr` prints it. */
const TENANT_POLICY = `(tenant_id = current_setting('${TENANT_SETTING}'::text, true))`;

/** Everything that is wrong with one table; empty where nothing is. */
export function tableFindings(seen: Catalog, owner: string, table: TablePlan, rowSecurity: boolean): readonly string[] {
  const on = tableNameSql(owner, table);
  const there = seen.one("table", table.name, "");
  if (there === undefined) {
    return [
      `the table ${on} is missing: ${[...tableSql(owner, table), ...(rowSecurity ? rowSecuritySql(owner, table) : [])].join(" ")}`,
    ];
  }
  return [
    ...versionFindings(on, table, there[4] ?? ""),
    ...table.columns.flatMap((column) => columnFindings(seen, owner, table, column)),
    ...strangers(seen, on, table),
    ...table.checks.flatMap(({ name, expression }) =>
      seen.one("check", table.name, name) === undefined
        ? [
            `${on} lacks the check ${nameSql(table, name)}: ALTER TABLE ${on} ADD CONSTRAINT ${nameSql(table, name)} CHECK (${expression});`,
          ]
        : [],
    ),
    ...table.indexes.flatMap((index) => indexFindings(seen, owner, table, index)),
    ...grantFindings(seen, on, table),
    ...securityFindings(seen, owner, table, { isOn: isTrue(there[3]), isForced: isTrue(there[5]) }, rowSecurity),
  ];
}

function versionFindings(on: string, { version: needed }: TablePlan, comment: string): readonly string[] {
  const version = /\(schema version (\d+)\)$/.exec(comment)?.[1];
  if (version === undefined || Number(version) === needed) return [];
  return [`${on} is of schema version ${version}, this package needs ${needed}: apply migrationSql(${version})`];
}

function columnFindings(seen: Catalog, owner: string, table: TablePlan, column: ColumnPlan): readonly string[] {
  const on = tableNameSql(owner, table);
  const { name, type, fallback, generated, storage } = column;
  const row = seen.one("column", table.name, name);
  if (row === undefined) return [`${on}.${name} is missing: ALTER TABLE ${on} ADD COLUMN ${columnSql(column)};`];
  const alter = `ALTER TABLE ${on} ALTER COLUMN ${name}`;
  const collation = type === "text" ? ' COLLATE "C"' : "";
  const isType = seen.bare(row[3]) === seen.bare(type) && (type !== "text" || row[5] === "C");
  const isOptional = column.isNullable === true;
  const value = seen.one("default", table.name, name);
  const isGenerated = isTrue(value?.[4]) && seen.bare(value?.[3]) === seen.bare(generated);
  const stored = seen.one("storage", table.name, name)?.[3];
  return [
    ...(isType
      ? []
      : [
          `${on}.${name} is ${row[3]} (collation ${row[5] || "none"}): ${alter} TYPE ${type}${collation} USING ${name}::${type};`,
        ]),
    ...(isTrue(row[4]) === !isOptional
      ? []
      : [`${on}.${name} may ${isOptional ? "not " : ""}be null: ${alter} ${isOptional ? "DROP" : "SET"} NOT NULL;`]),
    ...(fallback === undefined || value !== undefined
      ? []
      : [`${on}.${name} has no default: ${alter} SET DEFAULT ${fallback};`]),
    ...(generated === undefined || isGenerated
      ? []
      : [
          `${on}.${name} is not generated as it should be: ALTER TABLE ${on} DROP COLUMN ${name}; ALTER TABLE ${on} ADD COLUMN ${columnSql(column)};`,
        ]),
    ...(storage === undefined || storage === stored
      ? []
      : [`${on}.${name} is stored ${stored}: ${storageSql(owner, table, column)}`]),
  ];
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

function indexFindings(seen: Catalog, owner: string, table: TablePlan, index: IndexPlan): readonly string[] {
  const on = tableNameSql(owner, table);
  const same = seen.of("index", table.name).filter((row) => seen.bare(row[3]) === seen.bare(index.using));
  const kind = index.kind === "unique-index" ? "unique" : index.kind;
  const fit = same.filter((row) => row[4] === kind || (kind === "plain" && row[4] === "unique"));
  if (fit.some((row) => isTrue(row[5]))) return [];
  const [broken] = fit;
  if (broken !== undefined) {
    const name = `${owner}.${quoteIdentifier(broken[2] ?? "")}`;
    return [`the index ${name} on ${on} is invalid: REINDEX INDEX ${name};`];
  }
  return [
    `${on} lacks an index (${index.comment}): ${removal(seen, owner, table, index)}${indexSql(owner, table, index)}`,
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
      return `ALTER TABLE ${tableNameSql(owner, table)} DROP CONSTRAINT IF EXISTS ${name}; DROP INDEX IF EXISTS ${owner}.${name}; `;
    })
    .join("");
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
  const on = tableNameSql(owner, table);
  if (!isWanted) {
    return isOn && !seen.isBypassing() ? [`${on} has row security: open the store with rowSecurity: true`] : [];
  }
  const policies = seen.of("policy", table.name);
  const permissive = policies.filter((row) => row[5] !== "narrows");
  const isFit = (row: Row): boolean =>
    row[5] === "all" && row[3] === TENANT_POLICY && (row[4] === "" || row[4] === TENANT_POLICY);
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
      : [`${on} has no policy on the tenant: DROP POLICY IF EXISTS ${policyName(table)} ON ${on}; ${policy}`]),
    ...shut.map((row) => {
      const part = `${quoteIdentifier(row[4] ?? "")}.${quoteIdentifier(row[2] ?? "")}`;
      return `the partition ${part} has no row security of its own: ${partitionSecuritySql(part)}`;
    }),
  ];
}
