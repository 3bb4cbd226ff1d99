// The statements of erasure, over whatever tables hold the records. What is meant goes in one statement, with the note of how
// much it was and the condemnation of what was derived from it.

import type { DerivationPosition, ErasureTarget } from "../model/driver.ts";
import type { MemoryKind } from "../model/record.ts";
import type { MemoryReach, MemoryScope } from "../model/scope.ts";
import type { Statement } from "./executor.ts";
import { arrayLiteral, Params, scopeParams } from "./params.ts";
import type { TenantLock } from "./tenant.ts";

/** The tables, each with its schema, as they are said in statements. */
export interface ErasureTables {
  /** Each kind that the adapter holds, with the table of its records: every row is one, with the columns of a scope, `id` and `key`. */
  readonly records: Readonly<Partial<Record<MemoryKind, string>>>;
  /** Made as `derivationsPlan` says. */
  readonly derivations: string;
  /** Made as `erasuresPlan` says, of the same kinds. */
  readonly erasures: string;
  /** What the writers of the records share. */
  readonly lock: TenantLock;
}

const SOURCE = "user_id,session_id,agent,id";
const PLACE = "adapter,artefact_id,user_id,session_id,agent,source_kind,source_id";
const DERIVATION_ORDER = columns("d", PLACE);
const DERIVATION_COLUMNS = "d.user_id,d.session_id,d.agent,d.adapter,d.artefact_id,d.source_kind,d.source_id,d.mixes";

/** The statements over these tables. */
export class ErasureStatements {
  /** The kinds, in the order in which rows count them. */
  readonly kinds: readonly MemoryKind[];
  readonly #tables: ErasureTables;

  constructor(tables: ErasureTables) {
    this.#tables = tables;
    const kinds: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];
    this.kinds = kinds.filter((kind) => tables.records[kind] !== undefined);
  }

  /** Waits for the tenant's writers and keeps new ones out, until the transaction ends. To be run before {@link tombstone}. */
  lock(scope: MemoryScope): Statement {
    return this.#tables.lock.alone(scope);
  }

  /** Removes what the target means, notes how much, condemns what was derived from it. Row: the notes' sums, a kind each. */
  tombstone(target: ErasureTarget): Statement {
    const p = new Params();
    const { scope, reach } = target;
    const { derivations, erasures } = this.#tables;
    const parts = [p.text(scope.tenantId), ...p.parts(scope)];
    const meant = this.#meant(p, target);
    const gone = this.kinds.map((kind) => {
      const condition = meant(kind);
      return condition === undefined
        ? `${kind}(${SOURCE}) AS (SELECT NULL::text,NULL::text,NULL::text,NULL::text WHERE false)`
        : `${kind}(${SOURCE}) AS (DELETE FROM ${this.#tables.records[kind]} a WHERE ${condition} RETURNING ${columns("a", SOURCE)})`;
    });
    const condemned = `UPDATE ${derivations} d SET condemned=true WHERE NOT d.condemned AND ${p.scope("d", scope, reach)}${this.#implicated(p, target)}`;
    const counts = this.kinds.map((kind) => `(SELECT count(*) FROM ${kind})`);
    const noted =
      `INSERT INTO ${erasures} AS n (tenant_id,user_id,session_id,agent,${this.kinds.join(",")}) SELECT ${parts.join(",")},${counts.join(",")} WHERE ${counts.join("+")}>0` +
      ` ON CONFLICT (tenant_id,user_id,session_id,agent) DO UPDATE SET ${this.kinds.map((kind) => `${kind}=n.${kind}+excluded.${kind}`).join(",")}`;
    const sums = this.kinds.map((kind, index) => `${counts[index]}+coalesce(sum(n.${kind}),0)`);
    return {
      text:
        `WITH ${gone.join(",")},d AS (${condemned}),n AS (${noted})` +
        ` SELECT ${sums.join(",")} FROM ${erasures} n WHERE ${p.scope("n", scope, reach)}`,
      params: p.values,
    };
  }

  /** What {@link tombstone} would do. Row: records, a kind each, artefacts to be purged, artefacts that others keep. */
  count(target: ErasureTarget): Statement {
    const p = new Params();
    const { scope, reach } = target;
    const { derivations } = this.#tables;
    const meant = this.#meant(p, target);
    const records = this.kinds.map(
      (kind) =>
        `${kind} AS MATERIALIZED (SELECT ${columns("a", SOURCE)} FROM ${this.#tables.records[kind]} a WHERE ${meant(kind) ?? "false"})`,
    );
    const doomed = `SELECT ${DERIVATION_ORDER} FROM ${derivations} d WHERE ${p.scope("d", scope, reach)} AND (d.condemned OR (true${this.#implicated(p, target)}))`;
    const tenant = p.text(scope.tenantId);
    // What speaks of an artefact is looked up in the primary key, artefact by artefact.
    const isDoomed = `EXISTS (SELECT FROM x y WHERE ${same("y", "o", PLACE)})`;
    const speakers = `SELECT NOT bool_or(o.mixes) AND bool_or(NOT o.condemned AND (o.user_id,o.session_id,o.agent)<>(x.user_id,x.session_id,x.agent) AND NOT ${isDoomed}) AS is_kept FROM ${derivations} o WHERE o.tenant_id=${tenant} AND o.adapter=x.adapter AND o.artefact_id=x.artefact_id`;
    const shared = `SELECT x.adapter,x.artefact_id,bool_and(k.is_kept) AS is_kept FROM x CROSS JOIN LATERAL (${speakers}) k GROUP BY x.adapter,x.artefact_id`;
    const counts = this.kinds.map((kind) => `(SELECT count(*) FROM ${kind})`);
    return {
      text:
        `WITH ${records.join(",")},x AS MATERIALIZED (${doomed}),s AS (${shared})` +
        ` SELECT ${counts.join(",")},count(*) FILTER (WHERE NOT s.is_kept),count(*) FILTER (WHERE s.is_kept) FROM s`,
      params: p.values,
    };
  }

  // The conditions on a kind's table, or `undefined` where the target does not mean the kind.
  #meant(p: Params, { scope, reach, kinds, keys }: ErasureTarget): (kind: MemoryKind) => string | undefined {
    const list = keys === undefined ? undefined : p.text(arrayLiteral(keys));
    const key = list === undefined ? "" : ` AND a.key=ANY(${list}::text[])`;
    return (kind) => (kinds?.includes(kind) === false ? undefined : `${p.scope("a", scope, reach)}${key}`);
  }

  // Further conditions on derivations: of the kinds meant and, where keys are named, built from a record that is erased.
  #implicated(p: Params, { kinds, keys }: ErasureTarget): string {
    const kind = kinds === undefined ? "" : ` AND d.source_kind=ANY(${p.text(arrayLiteral(kinds))}::text[])`;
    if (keys === undefined) return kind;
    const sources = this.kinds.map((one) => `SELECT '${one}',${SOURCE} FROM ${one}`).join(" UNION ALL ");
    return `${kind} AND (d.source_kind,d.user_id,d.session_id,d.agent,d.source_id) IN (${sources})`;
  }

  /** Takes the notes away. Row: their sums, a kind each. */
  sweep(scope: MemoryScope, reach: MemoryReach): Statement {
    const p = new Params();
    const sums = this.kinds.map((kind) => `coalesce(sum(${kind}),0)`).join(",");
    return {
      text: `WITH n AS (DELETE FROM ${this.#tables.erasures} n WHERE ${p.scope("n", scope, reach)} RETURNING ${columns("n", this.kinds.join(","))}) SELECT ${sums} FROM n`,
      params: p.values,
    };
  }

  /**
   * A page of registrations, condemned or not, in their order. Rows: the parts of the scope, the adapter, the artefact, the
   * kind and id of its source, whether it mixes, then (condemned) whether another scope keeps the artefact.
   */
  derivations(request: {
    readonly scope: MemoryScope;
    readonly reach: MemoryReach;
    readonly after: DerivationPosition | undefined;
    readonly limit: number;
    readonly isCondemned: boolean;
  }): Statement {
    const { scope, reach, after, limit, isCondemned } = request;
    const { derivations } = this.#tables;
    const p = new Params();
    const conditions = [p.scope("d", scope, reach), isCondemned ? "d.condemned" : "NOT d.condemned"];
    if (after !== undefined) conditions.push(`(${DERIVATION_ORDER})>(${placeParams(p, after).join(",")})`);
    const page = `SELECT d.tenant_id,${DERIVATION_COLUMNS} FROM ${derivations} d WHERE ${conditions.join(" AND ")} ORDER BY ${DERIVATION_ORDER} LIMIT ${p.add(limit, "::bigint")}`;
    if (!isCondemned)
      return { text: `SELECT ${DERIVATION_COLUMNS} FROM (${page}) d ORDER BY ${DERIVATION_ORDER}`, params: p.values };
    const shared = `SELECT NOT bool_or(o.mixes) AND bool_or(NOT o.condemned AND (o.user_id,o.session_id,o.agent)<>(d.user_id,d.session_id,d.agent)) AS is_shared FROM ${derivations} o WHERE o.tenant_id=d.tenant_id AND o.adapter=d.adapter AND o.artefact_id=d.artefact_id`;
    return {
      text: `SELECT ${DERIVATION_COLUMNS},s.is_shared FROM (${page}) d CROSS JOIN LATERAL (${shared}) s ORDER BY ${DERIVATION_ORDER}`,
      params: p.values,
    };
  }

  /** Registers an artefact, or replaces the same registration. No row. */
  register(position: DerivationPosition, mixes: boolean): Statement {
    const p = new Params();
    const tenant = p.text(position.scope.tenantId);
    const place = placeParams(p, position);
    return {
      text:
        `INSERT INTO ${this.#tables.derivations} (tenant_id,${PLACE},mixes) VALUES (${tenant},${place.join(",")},${p.add(mixes, "::boolean")})` +
        ` ON CONFLICT (tenant_id,${PLACE}) DO UPDATE SET mixes=excluded.mixes,condemned=false`,
      params: p.values,
    };
  }

  /** Removes condemned registrations of one tenant. No row. */
  forget(tenantId: string, positions: readonly DerivationPosition[]): Statement {
    const rows = positions.map(placeOf);
    const lists = PLACE.split(",").map((_, at) => arrayLiteral(rows.map((row) => row[at] ?? "")));
    const placeholders = lists.map((_, index) => `$${index + 2}::text::text[]`).join(",");
    return {
      text: `DELETE FROM ${this.#tables.derivations} d USING unnest(${placeholders}) AS x(${PLACE}) WHERE d.tenant_id=$1::text AND d.condemned AND ${same("d", "x", PLACE)}`,
      params: [tenantId, ...lists],
    };
  }
}

// In the order of PLACE.
function placeOf({ adapter, artefactId, scope, sourceKind, sourceId }: DerivationPosition): readonly string[] {
  return [adapter, artefactId, ...scopeParams(scope).slice(1), sourceKind, sourceId];
}

function placeParams(p: Params, position: DerivationPosition): readonly string[] {
  return placeOf(position).map((value) => p.text(value));
}

function columns(alias: string, names: string): string {
  return names.replaceAll(/\w+/g, (name) => `${alias}.${name}`);
}

function same(left: string, right: string, names: string): string {
  return names
    .split(",")
    .map((name) => `${left}.${name}=${right}.${name}`)
    .join(" AND ");
}
