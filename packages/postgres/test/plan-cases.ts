// Every statement that reads, and the one that looks for what it writes after, as it is asked: of a scope, a user and a
// tenant, from the beginning and from a place on, for what all have, few have and nobody has.

import { memoryScope } from "@memory/core";
import type { Statement } from "@memory/core/sql";
import { statementsOf } from "../src/statements.ts";

/** One of them. */
export interface PlanCase {
  readonly name: string;
  readonly statement: Statement;
  /** How many rows it may read beyond those that it gives; 25 where nothing is said. */
  readonly slack?: number;
  /** Its plan differs with the size of the tables: it is in no snapshot. */
  readonly varies?: true;
  /** Why it may read as much as its scope holds, in whichever way: it is in no snapshot either. */
  readonly walks?: string;
}

const asked = new Set<string>();
const groups = statementsOf("memory");
const { profile, commit, episodes, erasure } = {
  profile: noting(groups.profile),
  commit: noting(groups.commit),
  episodes: noting(groups.episodes),
  erasure: noting(groups.erasure),
};

const scope = memoryScope({ tenantId: "t3", userId: "u3", sessionId: "s1" });
const user = memoryScope({ tenantId: "t3", userId: "u3" });
const tenant = memoryScope({ tenantId: "t3" });
const agent = memoryScope({ tenantId: "t3", agent: "nobody" });
const now = 2_000_000_000_000;
const ofScope = { scope, reach: "exact" } as const;
const ofUser = { scope: user, reach: "under" } as const;
const ofTenant = { scope: tenant, reach: "under" } as const;
const ofAgent = { scope: agent, reach: "under" } as const;
const keys = { keyPrefix: undefined, after: undefined, limit: 20, asOf: undefined, knownAt: undefined, now };
const trail = { key: undefined, after: undefined, limit: 20 };
const page = {
  key: undefined,
  since: undefined,
  until: undefined,
  asOf: undefined,
  filter: undefined,
  after: undefined,
  limit: 20,
};
const built = { after: undefined, limit: 20, isCondemned: false };
const all = { kinds: undefined, keys: undefined };
const afterKey = { after: { scope, key: "k1" } };
const afterVersion = { after: { scope, key: "k3", version: 2 } };
const afterEpisode = { after: { scope, validFrom: 90_000, id: "e5" } };
const afterArtefact = {
  after: { scope, adapter: "index", artefactId: "a3-1", sourceKind: "episodic", sourceId: "e1" },
} as const;
const record = {
  scope,
  id: "new",
  key: "turn",
  value: "1",
  source: "s",
  confidence: 1,
  validFrom: 1,
  recordedAt: 1,
  validTo: undefined,
  subject: undefined,
  predicate: undefined,
  metadata: undefined,
  redacted: undefined,
  version: undefined,
  embedding: undefined,
};
const there = [...Array(50).keys()].map((n) => ({ record: { ...record, id: `e${n + 1}` }, anyFrom: false }));
const plan = { scope, key: "k3", base: 3, baseToken: "b", record, lineage: 1, head: 3, settles: [], token: "t" };

const WHICHEVER =
  "the newest first until enough match, or all that match and then the newest: what the planner takes for less";
/** The newest that a page is looked for in, and then all that match. */
const WALKED = 1_000;
const SORTED = "few enough to be sorted, where the planner takes that for less than to read them in order";
const BEHIND = "a part that is named stands in the index behind parts that are not";

/** Those that tell of one key: what they read must not depend on what the statistics say of its history. */
export const keyCases: readonly PlanCase[] = [
  { name: "newest", statement: profile.newest(scope, "k3") },
  { name: "newest, for an id that was just made", statement: profile.newestHead(scope, "k3", undefined) },
  { name: "newest, and who holds an id", statement: profile.newestHead(scope, "k3", "new") },
  { name: "live", statement: profile.live({ scope, key: "k3", asOf: undefined, knownAt: undefined, now }) },
  { name: "as of", statement: profile.live({ scope, key: "k3", asOf: 5_000, knownAt: undefined, now }) },
  { name: "as of, as known", statement: profile.live({ scope, key: "k3", asOf: 5_000, knownAt: 6_000, now }) },
  { name: "heads", statement: profile.heads({ scope, key: "k3", id: "new", at: undefined, before: undefined, now }) },
  { name: "heads, as it was", statement: profile.heads({ scope, key: "k3", id: "new", at: 5_000, before: 3, now }) },
  { name: "whether a write is there", statement: commit.isThere(plan) },
  { name: "a write after a version", statement: commit.commit({ ...plan, baseToken: "t" }) },
];

/** All of them. */
export const planCases: readonly PlanCase[] = [
  ...keyCases,

  { name: "beliefs", statement: profile.beliefs({ ...ofScope, ...keys }) },
  { name: "beliefs, after a key", statement: profile.beliefs({ ...ofScope, ...keys, ...afterKey }) },
  { name: "beliefs, by prefix", statement: profile.beliefs({ ...ofScope, ...keys, keyPrefix: "k" }) },
  {
    name: "beliefs, as of, as known",
    statement: profile.beliefs({ ...ofScope, ...keys, asOf: 5_000, knownAt: 6_000 }),
  },
  { name: "beliefs under a user", statement: profile.beliefs({ ...ofUser, ...keys }) },
  { name: "beliefs under a user, after a key", statement: profile.beliefs({ ...ofUser, ...keys, ...afterKey }) },
  { name: "beliefs under a user, as of", statement: profile.beliefs({ ...ofUser, ...keys, asOf: 5_000 }), slack: 100 },
  { name: "beliefs under a tenant", statement: profile.beliefs({ ...ofTenant, ...keys }) },
  { name: "beliefs under a tenant, after a key", statement: profile.beliefs({ ...ofTenant, ...keys, ...afterKey }) },
  {
    name: "beliefs under a tenant, by prefix",
    statement: profile.beliefs({ ...ofTenant, ...keys, keyPrefix: "k" }),
  },
  {
    name: "beliefs under a tenant, by a prefix that nobody has",
    statement: profile.beliefs({ ...ofTenant, ...keys, keyPrefix: "z" }),
    walks: BEHIND,
  },

  { name: "history", statement: profile.history({ ...ofScope, ...trail }) },
  { name: "history, after a version", statement: profile.history({ ...ofScope, ...trail, ...afterVersion }) },
  { name: "history of a key", statement: profile.history({ ...ofScope, ...trail, key: "k3" }) },
  {
    name: "history of a key, after a version",
    statement: profile.history({ ...ofScope, ...trail, key: "k3", ...afterVersion }),
  },
  { name: "history under a user", statement: profile.history({ ...ofUser, ...trail }) },
  {
    name: "history under a user, after a version",
    statement: profile.history({ ...ofUser, ...trail, ...afterVersion }),
  },
  { name: "history under a tenant", statement: profile.history({ ...ofTenant, ...trail }) },
  {
    name: "history of a key under a user",
    statement: profile.history({ ...ofUser, ...trail, key: "k3" }),
    // The versions of few scopes are sorted, where the planner takes that for less than to read them in order.
    slack: 200,
    varies: true,
  },
  {
    name: "history of a key under a tenant",
    statement: profile.history({ ...ofTenant, ...trail, key: "k3" }),
    // As under a user, in a plan for any parameters: a page of each scope of a page.
    slack: 200,
    varies: true,
  },
  {
    name: "history of a key that nobody has under a tenant",
    statement: profile.history({ ...ofTenant, ...trail, key: "z" }),
  },

  { name: "page", statement: episodes.page({ ...ofScope, ...page }) },
  { name: "page, after an episode", statement: episodes.page({ ...ofScope, ...page, ...afterEpisode }) },
  { name: "page, between instants", statement: episodes.page({ ...ofScope, ...page, since: 5_000, until: 500_000 }) },
  { name: "page, at an instant", statement: episodes.page({ ...ofScope, ...page, asOf: 500_000 }) },
  { name: "page of a key", statement: episodes.page({ ...ofScope, ...page, key: "turn7" }) },
  {
    name: "page of a key, after an episode",
    statement: episodes.page({ ...ofScope, ...page, key: "turn7", ...afterEpisode }),
  },
  { name: "page of a key that nobody has", statement: episodes.page({ ...ofScope, ...page, key: "z" }) },
  { name: "page under a user", statement: episodes.page({ ...ofUser, ...page }) },
  { name: "page under a user, after an episode", statement: episodes.page({ ...ofUser, ...page, ...afterEpisode }) },
  { name: "page under a user, at an instant", statement: episodes.page({ ...ofUser, ...page, asOf: 90_000 }) },
  { name: "page under a tenant", statement: episodes.page({ ...ofTenant, ...page }) },
  {
    name: "page under a tenant, after an episode",
    statement: episodes.page({ ...ofTenant, ...page, ...afterEpisode }),
  },
  {
    name: "page under a tenant, between instants",
    statement: episodes.page({ ...ofTenant, ...page, since: 5_000, until: 90_000 }),
  },
  ...[ofUser, ofTenant].flatMap((wide) =>
    ["turn7", "z"].map((key) => ({
      name: `page of a key ${key === "z" ? "that nobody has " : ""}under a ${wide === ofUser ? "user" : "tenant"}`,
      statement: episodes.page({ ...wide, ...page, key }),
      walks: WHICHEVER,
    })),
  ),
  ...[ofScope, ofUser, ofTenant].flatMap((wide, index) =>
    [
      ["many have", { n: [1] }],
      ["few have", { rare: ["yes"] }],
      ["nobody has", { rare: ["no"] }],
    ].map(([who, filter]) => ({
      name: `page by metadata that ${String(who)}, of a ${["scope", "user", "tenant"][index] ?? ""}`,
      statement: episodes.page({ ...wide, ...page, filter: typeof filter === "object" ? { ...filter } : {} }),
      slack: WALKED,
      varies: true as const,
    })),
  ),
  {
    name: "page of a thousand by metadata that many have, of a tenant",
    statement: episodes.page({ ...ofTenant, ...page, filter: { n: [1] }, limit: 1_000 }),
    // The 5,000 that it walks are had by sorting where the tenant holds not many more.
    slack: 10_000,
    varies: true,
  },
  {
    name: "page by metadata and of a key that nobody has, of a tenant",
    statement: episodes.page({ ...ofTenant, ...page, key: "z", filter: { rare: ["no"] } }),
    walks: BEHIND,
  },
  { name: "page of an agent that nobody has", statement: episodes.page({ ...ofAgent, ...page }), walks: BEHIND },

  { name: "differing", statement: episodes.differing(scope, there), slack: 50 },

  { name: "derivations", statement: erasure.derivations({ ...ofScope, ...built }) },
  { name: "derivations, after one", statement: erasure.derivations({ ...ofScope, ...built, ...afterArtefact }) },
  { name: "derivations under a user", statement: erasure.derivations({ ...ofUser, ...built }), walks: SORTED },
  { name: "derivations under a tenant", statement: erasure.derivations({ ...ofTenant, ...built }) },
  {
    name: "derivations under a tenant, after one",
    statement: erasure.derivations({ ...ofTenant, ...built, ...afterArtefact }),
  },
  { name: "condemned", statement: erasure.derivations({ ...ofScope, ...built, isCondemned: true }), varies: true },
  {
    name: "condemned under a tenant",
    statement: erasure.derivations({ ...ofTenant, ...built, isCondemned: true }),
    slack: 40,
  },
  { name: "count", statement: erasure.count({ ...ofScope, ...all }), walks: "it counts all of them" },
  {
    name: "count of a key",
    statement: erasure.count({ ...ofScope, kinds: undefined, keys: ["k3"] }),
    slack: 100,
    varies: true,
  },
];

/** The statements that change something: everything else is here. */
const WRITES: readonly string[] = ["commit", "log", "logMany", "lock", "tombstone", "sweep", "register", "forget"];

/** The names of statements that read and are asked nowhere here. */
export function forgottenStatements(): readonly string[] {
  const names = Object.values(groups).flatMap((group) => Object.getOwnPropertyNames(Object.getPrototypeOf(group)));
  return names.filter((name) => name !== "constructor" && !WRITES.includes(name) && !asked.has(name));
}

function noting<Group extends object>(group: Group): Group {
  return new Proxy(group, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      asked.add(String(name));
      return found.bind(target);
    },
  });
}
