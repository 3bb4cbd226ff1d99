// Wrongs about whose memory it is: parts forgotten, folded, joined, matched by pattern, and refusals left out.

import type { MemoryScope, MemoryStore } from "@memory/core";
import { untyped } from "../../src/untyped.ts";
import { above, episodic, everywhere, type Sabotage, scopes, working } from "./sabotage.ts";

const without = (part: keyof MemoryScope) => (scope: MemoryScope) => {
  const { [part]: _left, ...rest } = scope;
  return untyped<MemoryScope>(rest);
};
const parts = (change: (part: string) => string) => (scope: MemoryScope) =>
  untyped<MemoryScope>(Object.fromEntries(Object.entries(scope).map(([name, part]) => [name, change(part)])));

export const scopeSabotages: readonly Sabotage[] = [
  {
    name: "the user is ignored",
    fails: [
      "scope/working-reads-exactly-the-scope",
      "scope/profile-reads-exactly-the-scope",
      "scope/episodic-reads-exactly-the-scope",
      "scope/semantic-reads-exactly-the-scope",
    ],
    ...scopes(without("userId")),
  },
  {
    name: "the session is ignored",
    fails: [
      "scope/working-reads-exactly-the-scope",
      "scope/profile-reads-exactly-the-scope",
      "scope/episodic-reads-exactly-the-scope",
      "scope/semantic-reads-exactly-the-scope",
    ],
    ...scopes(without("sessionId")),
  },
  {
    name: "the agent is ignored",
    fails: [
      "scope/working-reads-exactly-the-scope",
      "scope/profile-reads-exactly-the-scope",
      "scope/episodic-reads-exactly-the-scope",
      "scope/semantic-reads-exactly-the-scope",
    ],
    ...scopes(without("agent")),
  },
  {
    name: "the tenant is ignored",
    fails: [
      "scope/working-keeps-tenants-apart",
      "scope/profile-keeps-tenants-apart",
      "scope/episodic-keeps-tenants-apart",
      "scope/semantic-keeps-tenants-apart",
    ],
    ...scopes((scope) => ({ ...scope, tenantId: "everyone" })),
  },
  {
    name: "parts are compared without case",
    fails: [
      "scope/working-compares-parts-exactly",
      "scope/profile-compares-parts-exactly",
      "scope/episodic-compares-parts-exactly",
      "scope/semantic-compares-parts-exactly",
    ],
    ...scopes(parts((part) => part.toLowerCase())),
  },
  {
    name: "parts are trimmed",
    fails: [
      "scope/working-compares-parts-exactly",
      "scope/profile-compares-parts-exactly",
      "scope/episodic-compares-parts-exactly",
      "scope/semantic-compares-parts-exactly",
    ],
    ...scopes(parts((part) => part.trim())),
  },
  {
    name: "parts are normalised",
    fails: [
      "scope/working-compares-parts-exactly",
      "scope/profile-compares-parts-exactly",
      "scope/episodic-compares-parts-exactly",
      "scope/semantic-compares-parts-exactly",
    ],
    ...scopes(parts((part) => part.normalize("NFKC"))),
  },
  {
    name: "parts are joined without being encoded",
    fails: [
      "scope/working-compares-parts-exactly",
      "scope/profile-compares-parts-exactly",
      "scope/episodic-compares-parts-exactly",
      "scope/semantic-compares-parts-exactly",
    ],
    ...scopes(({ tenantId, userId, sessionId, agent }) => ({
      tenantId,
      userId: [userId, sessionId, agent].filter((part) => part !== undefined).join(":") || "-",
    })),
  },
  {
    name: "a list of keys matches the user by prefix",
    fails: ["scope/working-compares-parts-exactly"],
    ...working((section) => ({
      async keys(request, call) {
        const { userId, tenantId } = request.scope;
        if (userId === undefined) return section.keys(request, call);
        const rows = await section.keys({ ...request, scope: { tenantId }, reach: "under" }, call);
        return rows.flatMap((row) => (row.scope.userId?.startsWith(userId) ? [{ ...row, scope: request.scope }] : []));
      },
    })),
  },
  {
    name: "a list of episodes goes under the scope unasked",
    fails: ["scope/episodic-lists-exactly-the-scope"],
    noticedAs: "MEMORY_CORRUPTION",
    ...episodic((section) => ({ page: (request, call) => section.page({ ...request, reach: "under" }, call) })),
  },
  {
    name: "a list under a scope stays in the scope itself",
    fails: [
      "scope/working-lists-under-the-scope",
      "scope/profile-lists-under-the-scope",
      "scope/episodic-lists-under-the-scope",
      "scope/semantic-lists-under-the-scope",
      "working/keys-reach-under",
      "beliefs/reach-under",
      "episodic/reach-under",
    ],
    ...everywhere((request) =>
      typeof request === "object" && request !== null && Object.hasOwn(request, "reach")
        ? { ...request, reach: "exact" }
        : request,
    ),
  },
  {
    name: "an unknown part of a scope is passed over",
    fails: ["scope/invalid-scopes-are-refused-at-every-entry-point"],
    store: (store) =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== "function") return member;
          return (first: unknown, ...rest: readonly unknown[]) =>
            Reflect.apply(member, target, [known(first), ...rest]);
        },
      }),
  },
  {
    name: "a record's own scope is passed over",
    fails: ["record/working-refuses-another-scope", "record/episodic-refuses-another-scope"],
    ...above((store: MemoryStore) => ({
      write: (scope, record, options) => store.write(scope, { ...record, scope: undefined }, options),
      log: (scope, record, options) => store.log(scope, { ...record, scope: undefined }, options),
    })),
  },
  {
    name: "a record's own kind is passed over",
    fails: ["record/profile-refuses-another-kind"],
    ...above((store: MemoryStore) => ({
      upsert: (scope, record, options) => store.upsert(scope, { ...record, kind: undefined }, options),
    })),
  },
];

function known(scope: unknown): unknown {
  if (typeof scope !== "object" || scope === null) return scope;
  const names = ["tenantId", "userId", "sessionId", "agent"];
  return Object.fromEntries(Object.entries(scope).filter(([name]) => names.includes(name)));
}
