// How long lists are where nobody says, and pages over keys: what `keys` and `beliefs` share. The cursor after a full page
// names its last place; a page that is not full was the last one.

import type { KeyPageRequest } from "../model/driver.ts";
import type { Parsed } from "../model/query.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import { type CursorBinding, readCursor, writeCursor } from "../rules/cursor.ts";
import type { StoreContext } from "./context.ts";

/** How many hits a query gives where the caller does not say. */
export const DEFAULT_HITS = 10;

/** How many keys, beliefs or derivations a page has where the caller does not say. */
export const DEFAULT_PAGE = 100;

/** A page's request, and the cursor behind what came back. */
export interface KeyPage {
  readonly request: KeyPageRequest;
  cursorAfter(found: readonly { readonly scope: MemoryScope; readonly key: string }[]): string | null;
}

export function keyPage(
  store: StoreContext,
  of: MemoryScope,
  operation: string,
  options: Parsed<"keys">,
  under: true | undefined,
  query: readonly unknown[],
): KeyPage {
  const scope = memoryScope(of);
  const { keyPrefix, limit = DEFAULT_PAGE, cursor } = options;
  const reach = store.needReach(options.reach ?? "exact", under);
  const binding: CursorBinding = {
    store: store.driver.name,
    operation,
    scope,
    query: [reach, keyPrefix ?? null, ...query],
  };
  const place = cursor == null ? undefined : readCursor(binding, reach, cursor, ["string"]);
  const after = place === undefined ? undefined : { scope: place.scope, key: String(place.parts[0]) };
  return {
    request: { scope, reach, keyPrefix, after, limit },
    cursorAfter(found) {
      const last = found.length < limit ? undefined : found.at(-1);
      return last === undefined ? null : writeCursor(binding, last.scope, [last.key]);
    },
  };
}
