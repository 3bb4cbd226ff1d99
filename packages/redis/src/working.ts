// The working section: each operation is one script and one round trip; a listing is one for each scope it looks into.

import { randomBytes } from "node:crypto";
import type { MemoryScope } from "@memory/core";
import {
  type AppendReply,
  compareScopes,
  compareText,
  containsScope,
  type KeyPageRequest,
  type WorkingKeyRow,
  type WorkingSection,
} from "@memory/core/driver";
import { encodePart, type Names, scopeAt } from "./keys.ts";
import { APPEND, EXPIRE, HEADS, LIST, MARK_OFFSET, READ, READ_SLIDING, WRITE } from "./lua.ts";
import { decodeEntry, encodeHead, generationOf, NO_TOKEN, shortToken } from "./record.ts";
import { foreignReply, listOf, type Scripts, textsOf } from "./script.ts";
import type { Tenants } from "./tenant.ts";

/** How working records are kept. */
export interface WorkingOptions {
  readonly ttlMs: number | undefined;
  readonly sliding: boolean;
  readonly maxElements: number;
}

/** Tells eras apart that two clients draw in the same microsecond. */
export const CLIENT_ID: string = randomBytes(6).toString("base64url");

/** How many keys a walk over an index asks for at a time. */
const WALK = 1_000;

/** Of how many tenants the generation is remembered. */
const REMEMBERED = 1_000;

/** The section over one client. */
export function workingSection(
  scripts: Scripts,
  names: Names,
  tenants: Tenants,
  { ttlMs, sliding, maxElements }: WorkingOptions,
): WorkingSection {
  const ttl = ttlMs === undefined ? "" : String(ttlMs);
  const slides = sliding && ttlMs !== undefined;
  const most = String(maxElements);
  // The generations of tenants that erased something, as last heard: a right guess spares the server a copy of the text.
  const generations = new Map<string, string>();

  return {
    under: true,
    maxElements,

    async put({ head, content, expiresInMs }): Promise<void> {
      const { key, scope } = head;
      const { place, ...at } = names.of(scope);
      const keys = [at.records + encodePart(key), at.index, at.meta, ...at.registries];
      const guess = generations.get(at.meta) ?? "0";
      const encoded = guess + encodeHead(head);
      const lasts = expiresInMs === undefined ? ttl : `=${expiresInMs}`;
      const generation = await scripts.run(
        WRITE,
        keys,
        content.items === undefined
          ? [key, place, lasts, CLIENT_ID, `${encoded}\n${content.value}`]
          : [key, place, lasts, CLIENT_ID, encoded, "", ...content.items.map((item) => NO_TOKEN + item)],
      );
      if (String(generation) === guess) return;
      if (generations.size >= REMEMBERED) generations.clear();
      generations.set(at.meta, String(generation));
    },

    async get({ scope, key, last }) {
      const { place, ...at } = names.of(scope);
      const newest = last === undefined ? "" : String(last);
      const record = at.records + encodePart(key);
      const reply = slides
        ? await scripts.run(READ_SLIDING, [record, at.index, at.meta, ...at.registries], [key, place, ttl, newest])
        : await scripts.run(READ, [record, at.index, at.meta], [key, newest]);
      return decodeEntry(reply, scope, key);
    },

    async append({ scope, key, item, head, token, after }, call): Promise<AppendReply> {
      const { place, ...at } = names.of(scope);
      const reply = await scripts.run(
        APPEND,
        [at.records + encodePart(key), at.index, at.meta, ...at.registries],
        [
          key,
          place,
          ttl,
          CLIENT_ID,
          encodeHead(head),
          shortToken(token) + item,
          after === undefined ? "" : String(after),
          most,
          call.attempt > 1 ? "1" : "",
        ],
        8,
      );
      if (typeof reply === "number") return { outcome: "appended", length: reply };
      const [outcome, length] = listOf(reply);
      if (outcome === "moved") return { outcome, length: Number(length) };
      if (outcome === "full") return { outcome, length: Number(length), limit: maxElements };
      throw foreignReply(APPEND);
    },

    async expire({ scope, key, ttlMs: leftMs }): Promise<boolean> {
      const { place, ...at } = names.of(scope);
      const keys = [at.records + encodePart(key), at.index, at.meta, ...at.registries];
      return (await scripts.run(EXPIRE, keys, [key, place, String(leftMs)])) === 1;
    },

    async keys(request): Promise<readonly WorkingKeyRow[]> {
      const rows: WorkingKeyRow[] = [];
      for (const scope of await scopesOf(request)) {
        const after = sameOrUndefined(request, scope);
        const wanted = request.limit - rows.length;
        rows.push(...(await listScope(scope, request.keyPrefix ?? "", after, wanted)));
        if (rows.length >= request.limit) break;
      }
      return rows;
    },
  };

  // The scopes to look into, in order, from the one of `after` on.
  async function scopesOf({ scope, reach, after }: KeyPageRequest): Promise<readonly MemoryScope[]> {
    if (reach === "exact") return [scope];
    const found: MemoryScope[] = [];
    for await (const places of tenants.places(scope)) {
      for (const place of places) {
        const one = scopeAt(scope.tenantId, place);
        if (containsScope(scope, one) && (after === undefined || compareScopes(one, after.scope) >= 0)) found.push(one);
      }
    }
    return found.sort(compareScopes);
  }

  async function listScope(
    scope: MemoryScope,
    prefix: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly WorkingKeyRow[]> {
    const { index, meta } = names.of(scope);
    const rows: WorkingKeyRow[] = [];
    let last = after;
    for (;;) {
      // Keys begin with no NUL, so that the mark is left out.
      const from =
        last !== undefined && compareText(last, prefix) >= 0 ? `(${last}` : `[${prefix === "" ? "\u0001" : prefix}`;
      const [now, mark, keys] = listOf(await scripts.run(LIST, [index, meta], [from, prefix, String(limit)]));
      if (mark === "") return [];
      if (keys === undefined) return walk(scope, Number(now), Number(mark), prefix, last, limit);
      const page = textsOf(keys);
      const isThere = await unhidden(scope, page, Number(mark));
      for (const key of page) if (isThere(key)) rows.push({ scope, key, expiresInMs: undefined });
      last = page.at(-1);
      if (page.length < limit || rows.length >= limit) return rows.slice(0, limit);
    }
  }

  // Where keys may expire they do not stand in text order: all are looked at.
  async function walk(
    scope: MemoryScope,
    now: number,
    mark: number,
    prefix: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly WorkingKeyRow[]> {
    const found = new Map<string, number>();
    const { index } = names.of(scope);
    for await (const entries of tenants.entries(index, WALK)) {
      for (const [key, score] of entries) {
        if (score < 0 || score < now || !key.startsWith(prefix)) continue;
        if (after === undefined || compareText(key, after) > 0) found.set(key, score);
      }
    }
    const keys = [...found.keys()].sort(compareText);
    const rows: WorkingKeyRow[] = [];
    for (let at = 0; at < keys.length && rows.length < limit; at += limit) {
      const page = keys.slice(at, at + limit);
      const isThere = await unhidden(scope, page, mark);
      for (const key of page) {
        const score = found.get(key) ?? Number.POSITIVE_INFINITY;
        const left = score === Number.POSITIVE_INFINITY ? undefined : Math.max(0, Math.floor(score) - now);
        if (isThere(key)) rows.push({ scope, key, expiresInMs: left });
      }
    }
    return rows.slice(0, limit);
  }

  // Only while an erasure is under way is there anything to ask.
  async function unhidden(
    scope: MemoryScope,
    keys: readonly string[],
    mark: number,
  ): Promise<(key: string) => boolean> {
    if (keys.length === 0) return () => false;
    const tenant = await tenants.survey(scope);
    if (tenant.tombstones.length === 0) return () => true;
    const hidden = tenant.hiddenUpTo(scope);
    if (Math.floor(mark) + MARK_OFFSET <= hidden) return () => false;
    const { index, meta, records } = names.of(scope);
    const there = new Set<string>();
    for (let at = 0; at < keys.length; at += WALK) {
      const page = keys.slice(at, at + WALK);
      const heads = textsOf(
        await scripts.run(HEADS, [index, meta, ...page.map((key) => records + encodePart(key))], page),
      );
      for (const [i, key] of page.entries()) {
        const head = heads[i] ?? "";
        if (head !== "" && generationOf(head) > tenant.hiddenUpTo(scope, key)) there.add(key);
      }
    }
    return (key) => there.has(key);
  }
}

function sameOrUndefined({ after }: KeyPageRequest, scope: MemoryScope): string | undefined {
  return after !== undefined && compareScopes(after.scope, scope) === 0 ? after.key : undefined;
}
