// Conditions that lists share: on metadata, on keys by prefix, and on what comes after a key.

import type { KeyPosition, MetadataFilter } from "../model/driver.ts";
import type { MemoryScope } from "../model/scope.ts";
import type { Params } from "./params.ts";

/** What a metadata index is over: the metadata below the tenant's own name, so that no other tenant's are looked at. */
export const METADATA_BY_TENANT = "jsonb_set('{}'::jsonb, ARRAY[tenant_id], metadata)";

/** Up to how many values of a filter are conditions of their own, each of which the index is asked. */
const MOST_TERMS = 100;

/** The conditions of a filter on the metadata of `alias`, such that an index over {@link METADATA_BY_TENANT} serves them. */
export function metadataConditions(
  p: Params,
  alias: string,
  { tenantId }: MemoryScope,
  filter: MetadataFilter | undefined,
): readonly string[] {
  const metadata = METADATA_BY_TENANT.replace("tenant_id", `${alias}.tenant_id`).replace(
    "metadata",
    `${alias}.metadata`,
  );
  return Object.entries(filter ?? {}).map(([name, values]) => {
    const meant = (value: unknown): string =>
      `{${JSON.stringify(tenantId)}:${JSON.stringify(Object.fromEntries([[name, value]]))}}`;
    if (values.length <= MOST_TERMS) {
      return `(${values.map((value) => `${metadata} @> ${p.text(meant(value))}::jsonb`).join(" OR ")})`;
    }
    // As one parameter: a statement takes 65,535, and would be another one for each number of values.
    const list = p.text(`[${values.map(meant).join(",")}]`);
    return `${metadata} @> ANY (ARRAY(SELECT jsonb_array_elements(${list}::jsonb)))`;
  });
}

/** The condition that leaves out a page's keys up to `after`, in the order of scope and key. */
export function afterKey(p: Params, alias: string, after: KeyPosition | undefined): readonly string[] {
  if (after === undefined) return [];
  const place = [...p.parts(after.scope), p.text(after.key)];
  return [`(${alias}.user_id,${alias}.session_id,${alias}.agent,${alias}.key)>(${place.join(",")})`];
}

/** The conditions by which a key begins with a prefix: a range in the order of an index, never a pattern. */
export function prefixConditions(p: Params, alias: string, prefix: string | undefined): readonly string[] {
  if (prefix === undefined || prefix === "") return [];
  const end = prefixEnd(prefix);
  const from = `${alias}.key>=${p.text(prefix)}`;
  return end === undefined ? [from] : [from, `${alias}.key<${p.text(end)}`];
}

/** The least text, in UTF-8 byte order, that is above every text with this prefix; `undefined` where there is none. */
function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
