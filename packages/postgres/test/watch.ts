// What was written, erased and seen while all went on at once, with when each call began and ended; and the judge of it.
// It knows nothing of the store. That each write is acknowledged, and each look is taken of one instant, is all it assumes.

/** A call that wrote, whole or not at all. */
export interface Write {
  readonly kind: "profile" | "episodic";
  readonly session: string;
  readonly ids: readonly string[];
  readonly began: number;
  /** Infinite until it is acknowledged. */
  ended: number;
  /** Of a belief: where it was written, as which version, and the id of what it superseded. */
  readonly key?: string;
  version?: number;
  superseded?: string | null;
}

/** An erasure of one session, or of all. */
export interface Erasure {
  readonly session: string | undefined;
  readonly began: number;
  readonly ended: number;
  readonly records: number;
}

/** The ids of what one read of all records of a kind, in all sessions, gave. */
export interface Look {
  readonly kind: "profile" | "episodic";
  readonly began: number;
  readonly ended: number;
  readonly seen: ReadonlySet<string>;
}

/** The version that one read of one key gave. */
export interface LiveLook {
  readonly session: string;
  readonly key: string;
  readonly began: number;
  readonly ended: number;
  readonly version: number;
}

/** A version as the history shows it. */
export interface Shown {
  readonly id: string;
  readonly key: string;
  readonly session: string;
  readonly version: number;
  readonly validTo: number | undefined;
  readonly supersededBy: string | undefined;
}

/** What was found wrong, and how often it was looked: each count is of comparisons that could have failed. */
export interface Verdict {
  readonly faults: readonly string[];
  /** A write that was surely there, in a look. */
  readonly present: number;
  /** A version that was surely there, beside what a live read gave. */
  readonly fresh: number;
  /** A record that was seen, which no erasure that was over may have meant. */
  readonly absent: number;
  /** Records that an erasure meant together, in a look that was taken meanwhile. */
  readonly together: number;
  /** Beliefs, each of which superseded what no other did. */
  readonly chained: number;
}

/** Everything that goes on, recorded. */
export class Watch {
  readonly writes: Write[] = [];
  readonly erasures: Erasure[] = [];
  readonly looks: Look[] = [];
  readonly lives: LiveLook[] = [];
  readonly faults: string[] = [];

  /** Notes a write before it is asked for; the function notes that it was acknowledged. */
  begin(write: Omit<Write, "began" | "ended">): (told?: Pick<Write, "version" | "superseded">) => void {
    const noted: Write = { ...write, began: performance.now(), ended: Number.POSITIVE_INFINITY };
    this.writes.push(noted);
    return (told = {}) => {
      noted.ended = performance.now();
      Object.assign(noted, told);
    };
  }

  /** Every key's versions are 1, 2, 3, ... without a hole, each followed by the next, and only the last one is open. */
  trails(versions: readonly Shown[]): void {
    for (const [key, trail] of Map.groupBy(versions, (one) => `${one.session} ${one.key}`)) {
      for (const [index, one] of trail.entries()) {
        const next = trail[index + 1];
        const isRight =
          one.version === index + 1 &&
          one.supersededBy === next?.id &&
          (one.validTo === undefined) === (next === undefined);
        if (!isRight) this.faults.push(`version ${index + 1} of ${trail.length} of ${key} is ${JSON.stringify(one)}`);
      }
    }
  }

  /** Judges the whole of it. */
  judge(): Verdict {
    return new Judge(this).verdict();
  }
}

/** When an erasure may first have taken a write, and when one surely had. */
interface Fate {
  readonly write: Write;
  readonly from: number;
  readonly until: number;
}

class Judge {
  readonly #watch: Watch;
  readonly #faults: string[];
  readonly #looks: readonly Look[];
  readonly #lives: readonly LiveLook[];
  readonly #fates = new Map<string, Fate>();

  constructor(watch: Watch) {
    this.#watch = watch;
    this.#faults = [...watch.faults];
    this.#looks = inOrder(watch.looks);
    this.#lives = inOrder(watch.lives);
    const erasures = inOrder(watch.erasures);
    for (const write of watch.writes) {
      let [from, until] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (const { session, began, ended } of erasures) {
        if (session !== undefined && session !== write.session) continue;
        if (ended > write.began) from = Math.min(from, began);
        if (began > write.ended) until = Math.min(until, ended);
        if (began > until) break;
      }
      for (const id of write.ids) this.#fates.set(id, { write, from, until });
    }
  }

  verdict(): Verdict {
    return {
      chained: this.#chained(),
      present: this.#present(),
      fresh: this.#fresh(),
      together: this.#together(),
      absent: this.#absent(),
      faults: this.#faults,
    };
  }

  // No acknowledged write is missing: it is in every look that began when it was acknowledged and was over before an
  // erasure began that meant it.
  #present(): number {
    let compared = 0;
    for (const [id, { write, from }] of this.#fates) {
      for (const look of during(this.#looks, write.ended, from)) {
        if (look.kind !== write.kind) continue;
        compared += 1;
        if (!look.seen.has(id)) this.#faults.push(`${id} is missing in a look at ${look.began}`);
      }
    }
    return compared;
  }

  // No supersession is lost: what is live is never older than a version that was acknowledged.
  #fresh(): number {
    let compared = 0;
    for (const { write, from } of this.#fates.values()) {
      for (const live of during(this.#lives, write.ended, from)) {
        if (live.session !== write.session || live.key !== write.key) continue;
        compared += 1;
        if (live.version < (write.version ?? 0)) this.#faults.push(`${write.ids} is not what is live at ${live.began}`);
      }
    }
    return compared;
  }

  // No two writes superseded the same version, and only the first of a key superseded nothing.
  #chained(): number {
    const beliefs = this.#watch.writes.filter((one) => one.version !== undefined);
    const superseded = new Set<string>();
    for (const { ids, version, superseded: before } of beliefs) {
      if ((before === null) !== (version === 1)) this.#faults.push(`${ids}, version ${version}, superseded ${before}`);
      if (before === null || before === undefined) continue;
      if (superseded.has(before)) this.#faults.push(`${before} was superseded twice`);
      superseded.add(before);
    }
    return beliefs.length;
  }

  // What an erasure means is gone at once: a look meanwhile shows all of it or nothing, and when one has shown nothing of
  // it, no later one, of either kind, shows any.
  #together(): number {
    let compared = 0;
    const sure = [...this.#fates].filter(([, { write, from }]) => write.ended < from && Number.isFinite(from));
    for (const [name, fates] of Map.groupBy(sure, ([, { write, from }]) => `${write.session} from ${from}`)) {
      const [first] = fates;
      if (first === undefined) continue;
      const [, { from, until }] = first;
      let goneAt = Number.POSITIVE_INFINITY;
      for (const look of overlapping(this.#looks, from, until)) {
        const meant = fates.filter(([, { write }]) => write.kind === look.kind && write.ended < look.began);
        const seen = meant.filter(([id]) => look.seen.has(id)).length;
        if (meant.length > 1) compared += 1;
        if (seen > 0 && seen < meant.length) this.#faults.push(`${seen} of ${meant.length} of ${name} are seen`);
        if (seen > 0 && look.began > goneAt) this.#faults.push(`${name} is seen after it was gone`);
        if (seen === 0 && meant.length > 0) goneAt = Math.min(goneAt, look.ended);
      }
    }
    return compared;
  }

  // What was erased stays erased.
  #absent(): number {
    let compared = 0;
    for (const { began, seen } of this.#looks) {
      for (const id of seen) {
        const fate = this.#fates.get(id);
        compared += 1;
        if (fate === undefined) this.#faults.push(`${id} was never written`);
        else if (began > fate.until) this.#faults.push(`${id} is seen at ${began}, erased by ${fate.until}`);
      }
    }
    return compared;
  }
}

interface Timed {
  readonly began: number;
  readonly ended: number;
}

function inOrder<T extends Timed>(calls: readonly T[]): readonly T[] {
  return [...calls].sort((a, b) => a.began - b.began);
}

function* during<T extends Timed>(looks: readonly T[], after: number, before: number): Iterable<T> {
  for (let index = firstAfter(looks, after); index < looks.length; index += 1) {
    const look = looks[index];
    if (look === undefined || look.began >= before) return;
    if (look.ended < before) yield look;
  }
}

function* overlapping<T extends Timed>(looks: readonly T[], from: number, until: number): Iterable<T> {
  // A look that began earlier may reach into it; none takes a second.
  for (let index = firstAfter(looks, from - 1_000); index < looks.length; index += 1) {
    const look = looks[index];
    if (look === undefined || look.began > until) return;
    if (look.ended > from) yield look;
  }
}

function firstAfter(looks: readonly Timed[], instant: number): number {
  let [low, high] = [0, looks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((looks[middle]?.began ?? 0) > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}
