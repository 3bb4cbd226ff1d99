// The SQL adapters' door: what adapters for PostgreSQL share, over any client. Statements and what they run on, how scopes
// and records are said in them, tables as data with their text and their `verify()`, and erasure over whatever tables there
// are. No client and no dependency; @memory/core/postgres-js has one.

export type { Catalog, CatalogRequest } from "./sql/catalog.ts";
export { afterKey, metadataConditions, prefixConditions } from "./sql/conditions.ts";
export {
  indexSql,
  nameSql,
  tableNameSql,
} from "./sql/ddl.ts";
export { derivationsPlan, type ErasureTable, erasuresPlan } from "./sql/erasure-plan.ts";
export { erasureSection } from "./sql/erasure-section.ts";
export { ErasureStatements, type ErasureTables } from "./sql/erasure-statements.ts";
export type * from "./sql/executor.ts";
export { checkIdentifier, quoteIdentifier } from "./sql/identifier.ts";
export { isLostRace, LostRaceError } from "./sql/lost-race.ts";
export { arrayLiteral, exactScope, PART_COLUMNS, Params, scopeParams } from "./sql/params.ts";
export {
  type ColumnPlan,
  column,
  type IndexPlan,
  metadataIndex,
  optional,
  plainIndex,
  primaryKey,
  RECORD_PLAN,
  SCOPE_LIST,
  SCOPE_PLAN,
  type TablePlan,
  tenantCheck,
  textColumn,
  uniqueKey,
} from "./sql/plan.ts";
export {
  CONTENT_COLUMNS,
  castOf,
  columnsOf,
  contentLists,
  contentListsSql,
  contentParams,
  listedSql,
  RECORD_COLUMNS,
  readContent,
  readRecord,
  readScope,
} from "./sql/row.ts";
export {
  type CheckedLayout,
  checkLayout,
  checkSchemaVersion,
  type SchemaLayout,
  type SchemaPlan,
  schemaText,
} from "./sql/schema.ts";
export { SQL_STATES, type SqlState, type SqlStateClass, sqlStateClass, sqlStateHadNoEffect } from "./sql/states.ts";
export { statisticsSql } from "./sql/statistics.ts";
export {
  type ScopedExecutor,
  scopedExecutor,
  type TenantLock,
  tenantLock,
  tenantStatement,
} from "./sql/tenant.ts";
export { inspectSchema, type SchemaReport, type SchemaRequest, schemaError, verifySchema } from "./sql/verify.ts";
