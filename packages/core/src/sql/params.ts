// The parameters of statements: how a scope, a list and a value are said, and what is bound to their placeholders.

import type { MemoryReach, MemoryScope } from "../model/scope.ts";
import type { Param } from "./executor.ts";

/** The columns of the parts of a scope below its tenant; an absent part is stored as the empty text. */
export const PART_COLUMNS: readonly string[] = ["user_id", "session_id", "agent"];

/** The condition that names a scope exactly, its parts being the parameters 1 to 4 (see {@link scopeParams}). */
export function exactScope(alias: string): string {
  return `${alias}.tenant_id=$1::text AND ${alias}.user_id=$2::text AND ${alias}.session_id=$3::text AND ${alias}.agent=$4::text`;
}

/** The parameters that name a scope, tenant first; absent parts as the empty text. */
export function scopeParams({ tenantId, userId = "", sessionId = "", agent = "" }: MemoryScope): readonly string[] {
  return [tenantId, userId, sessionId, agent];
}

/** Collects the parameters of a statement whose conditions depend on the request. */
export class Params {
  readonly values: Param[] = [];

  /** The placeholder of a value. */
  add(value: Param, cast: string): string {
    this.values.push(value);
    return `$${this.values.length}${cast}`;
  }

  /** The placeholder of a text. */
  text(value: string): string {
    return this.add(value, "::text");
  }

  /** The conditions that name a scope: every part, or with `under` only those that it names. */
  scope(alias: string, scope: MemoryScope, reach: MemoryReach): string {
    const conditions = [`${alias}.tenant_id=${this.text(scope.tenantId)}`];
    const [, ...parts] = scopeParams(scope);
    for (const [index, name] of PART_COLUMNS.entries()) {
      const part = parts[index] ?? "";
      if (reach === "exact" || part !== "") conditions.push(`${alias}.${name}=${this.text(part)}`);
    }
    return conditions.join(" AND ");
  }

  /** The placeholders of the three parts below a tenant. */
  parts(scope: MemoryScope): readonly string[] {
    return scopeParams(scope)
      .slice(1)
      .map((part) => this.text(part));
  }
}

/** Texts and numbers as an array literal, to be cast by the statement. */
export function arrayLiteral(values: readonly (string | number)[]): string {
  let text = "{";
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (index > 0) text += ",";
    if (typeof value === "number") text += value;
    else if (value !== undefined) text += `"${/["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value}"`;
  }
  return `${text}}`;
}
