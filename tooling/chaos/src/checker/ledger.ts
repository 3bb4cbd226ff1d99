// A history put in order: calls with their answers, items with the calls that may have written them, and for every place
// what may have taken something away from it. All questions of "could this have come between" are answered here.

import type { CallLine, EndLine, FaultLine, FlawLine, LagLine, Line, LossLine, PurgeLine } from "../history.ts";
import { ARTEFACTS } from "../operations/erasure.ts";
import { storeNamed } from "../stores.ts";
import { kindOf, type PlaceKind, reached, scopeAt, type World, worldOf } from "../world.ts";
import { Removers } from "./removers.ts";

/** A call and what came of it. Without an answer it ends never, with an unknown outcome. */
export interface Call extends CallLine {
  readonly end: number;
  readonly outcome: EndLine["outcome"];
  readonly code: string | undefined;
  readonly attempts: number;
  readonly answer: NonNullable<EndLine["answer"]>;
}

/** Something with a beginning and an end, in which its effect was. */
export interface Span {
  readonly at: number;
  readonly end: number;
}

/** One value that was written: its place, and the calls that wrote it or may have. */
export interface Item {
  readonly item: string;
  readonly place: PlaceLedger;
  readonly writes: Call[];
  /** The reads that saw it, by their end. */
  readonly sights: Call[];
}

/** What happened at one place of one store. */
export interface PlaceLedger {
  readonly store: string;
  readonly scope: number;
  readonly key: string;
  readonly kind: PlaceKind | "artefact";
  readonly items: Item[];
  /** Calls that write there and may have had an effect, by their beginning. */
  readonly writes: Call[];
  readonly expires: Call[];
  readonly erasures: Removers;
}

const MEMORY_KINDS: Readonly<Record<PlaceLedger["kind"], string>> = {
  register: "working",
  brief: "working",
  sequence: "working",
  fact: "profile",
  branch: "profile",
  episode: "episodic",
  vector: "semantic",
  artefact: "artefact",
};

/** Which kind of memory a place belongs to. */
export function memoryKindOf(place: PlaceLedger): string {
  return MEMORY_KINDS[place.kind];
}

/** A history in order. */
export class Ledger {
  readonly calls: readonly Call[];
  readonly faults: readonly FaultLine[];
  readonly losses: readonly LossLine[];
  readonly purges: readonly PurgeLine[];
  readonly flaws: readonly FlawLine[];
  readonly lags: readonly LagLine[];
  /** Clients that were killed: what they left without an answer is nobody's fault. */
  readonly killed: ReadonlySet<string>;
  readonly items: Map<string, Item> = new Map();
  readonly places: Map<string, PlaceLedger> = new Map();
  readonly #worlds: Map<string, World> = new Map();
  readonly #canary: string;
  readonly #erasures: ReadonlyMap<string, readonly Call[]>;

  constructor(lines: readonly Line[], canary: string) {
    this.#canary = canary;
    this.calls = callsOf(lines);
    this.faults = lines.filter((one) => one.line === "fault");
    this.losses = lines.filter((one) => one.line === "loss");
    this.purges = lines.filter((one) => one.line === "purge");
    this.flaws = lines.filter((one) => one.line === "flaw");
    this.lags = lines.filter((one) => one.line === "lag");
    this.killed = new Set(lines.flatMap((one) => (one.line === "killed" ? [one.client] : [])));
    this.#erasures = Map.groupBy(this.calls.filter(isErasure), ({ store }) => store);
    for (const call of this.calls) this.#book(call);
  }

  /** The client process and life that made a call. */
  clientOf(call: Call): string {
    return call.id.split(".")[0] ?? "";
  }

  /** Whether it is of the last look, when everything is healed and nobody else calls. */
  isAudit(call: Call): boolean {
    return this.clientOf(call).startsWith("audit");
  }

  worldOf(store: string): World {
    const there = this.#worlds.get(store) ?? worldOf(this.#canary, store);
    this.#worlds.set(store, there);
    return there;
  }

  /** The scopes that a call looks into. */
  reachedBy({ store, args }: Call): readonly number[] {
    return reached(this.worldOf(store), args.scope, args.reach ?? "exact");
  }

  /** The place, made when it is asked for the first time. */
  place(store: string, scope: number, key: string): PlaceLedger {
    const name = `${store} ${scope} ${key}`;
    const there = this.places.get(name);
    if (there !== undefined) return there;
    const kind: PlaceLedger["kind"] = key === ARTEFACTS ? "artefact" : kindOf(key);
    const bare = { store, scope, key, kind };
    const erasures = new Removers(
      (this.#erasures.get(store) ?? []).filter((one) => this.#covers(one, bare)),
      (one) => kind === "artefact" && (one.args.kinds !== undefined || one.args.keys !== undefined),
      (one) => isLossy(bare) && this.isUndone(one),
    );
    const place: PlaceLedger = { ...bare, items: [], writes: [], expires: [], erasures };
    this.places.set(name, place);
    return place;
  }

  /** Whether a loss that is admitted may have taken away what was done in this span, as seen at `by`. */
  isLost(place: PlaceLedger, { at, end }: Span, by: number): boolean {
    if (!isLossy(place)) return false;
    return this.losses.some(
      (loss) =>
        loss.stores.includes(place.store) && end >= loss.since && by >= loss.at && at <= this.#lastOf(loss, place),
    );
  }

  // Of a tenant whose bookkeeping was evicted everything may be gone from its next erasure on, also what came after the
  // eviction; the first erasure that went through has begun anew (docs/redis.md, What can be lost).
  #lastOf(loss: LossLine, { store, scope }: PlaceLedger): number {
    if (!loss.loosens) return loss.to;
    const world = this.worldOf(store);
    const { tenantId } = scopeAt(world, scope);
    const next = (this.#erasures.get(store) ?? []).filter(
      ({ at, outcome, args }) =>
        at > loss.to &&
        outcome === "ok" &&
        (args.kinds ?? ["working"]).includes("working") &&
        scopeAt(world, args.scope).tenantId === tenantId,
    );
    return Math.min(...next.map(({ end }) => end));
  }

  /** Whether a loss that is admitted may have undone an erasure or an expiry. */
  isUndone({ store, at, end }: Call): boolean {
    return this.losses.some((loss) => loss.undoes && loss.stores.includes(store) && end >= loss.since && at <= loss.to);
  }

  /** When the item's writing may have had its effect at the latest: never, where a call's outcome is unknown. */
  lastEffect({ writes }: Item): number {
    return Math.max(...writes.map((one) => (one.outcome === "ok" ? one.end : Number.POSITIVE_INFINITY)));
  }

  /** How long the client of a call stood still during it. */
  lagOf(call: Call): number {
    const client = this.clientOf(call);
    return this.lags
      .filter((one) => one.client === client)
      .reduce((sum, one) => sum + Math.max(0, Math.min(one.to, call.end) - Math.max(one.at, call.at)), 0);
  }

  #book(call: Call): void {
    const { store, args, op } = call;
    if (op === "expire" && call.outcome !== "refused") this.place(store, args.scope, args.key ?? "").expires.push(call);
    for (const { item, key } of args.items ?? []) {
      const place = this.place(store, args.scope, key);
      const there = this.items.get(item) ?? { item, place, writes: [], sights: [] };
      if (!this.items.has(item)) {
        this.items.set(item, there);
        place.items.push(there);
      }
      if (call.outcome === "refused") continue;
      there.writes.push(call);
      place.writes.push(call);
    }
  }

  #covers({ store, args }: Call, place: Pick<PlaceLedger, "scope" | "key" | "kind">): boolean {
    const world = this.worldOf(store);
    const isMeant = reached(world, args.scope, args.reach ?? "under").includes(place.scope);
    if (!isMeant || scopeAt(world, place.scope).tenantId !== scopeAt(world, args.scope).tenantId) return false;
    if (place.kind === "artefact") return true;
    const isKind = args.kinds === undefined || args.kinds.includes(MEMORY_KINDS[place.kind]);
    return isKind && (args.keys === undefined || args.keys.includes(place.key));
  }
}

// What Redis holds; where several stores are bound as one, registrations are in PostgreSQL.
function isLossy({ store, kind }: Pick<PlaceLedger, "store" | "kind">): boolean {
  if (kind === "artefact") return storeNamed(store).needs.every((server) => server === "redis");
  return MEMORY_KINDS[kind] === "working";
}

function isErasure({ op, args, outcome }: Call): boolean {
  return op === "erase" && args.dryRun !== true && outcome !== "refused";
}

function callsOf(lines: readonly Line[]): readonly Call[] {
  const ends = new Map(lines.flatMap((one) => (one.line === "end" ? [[one.id, one] as const] : [])));
  const calls = lines.flatMap((line): readonly Call[] => {
    if (line.line !== "call") return [];
    const end = ends.get(line.id);
    return [
      {
        ...line,
        end: end?.at ?? Number.POSITIVE_INFINITY,
        outcome: end?.outcome ?? "unknown",
        code: end?.code,
        attempts: end?.attempts ?? 0,
        answer: end?.answer ?? {},
      },
    ];
  });
  return calls.sort((a, b) => a.at - b.at);
}
