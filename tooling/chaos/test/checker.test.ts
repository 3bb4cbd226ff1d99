// The checker under sabotage: a history of a store that keeps its promises is found well, and each small wrong that is done
// to it is found, by the rule that is meant to.

import { beforeAll, describe, expect, it } from "vitest";
import { judge } from "../src/checker/judge.ts";
import type { CallLine, Line } from "../src/history.ts";
import { CANARY, first, type Pair, pairsOf, recordRun, seenBy, withAnswer, withEnd } from "./recording.ts";

let lines: readonly Line[];
let pairs: readonly Pair[];

beforeAll(async () => {
  lines = await recordRun();
  pairs = pairsOf(lines);
});

const rulesOf = (history: readonly Line[]): readonly string[] => Object.keys(judge(history, CANARY).counts);
const isAudit = ({ call }: Pair): boolean => call.id.startsWith("audit");
const isOk = ({ end }: Pair): boolean => end.outcome === "ok";
const letterOf = ({ call }: Pair): string => call.args.key?.[0] ?? "";
const find = (what: string, holds: (pair: Pair) => boolean): Pair => first(pairs.filter(holds), what);
const reads = (op: string, least: number) => (pair: Pair) =>
  pair.call.op === op && isOk(pair) && pair.call.args.last === undefined && seenBy(pair).length >= least;
// Scopes 12 to 17 are those of the tenant that nobody erases before the end.
const isKept = ({ call }: Pair): boolean => call.args.scope >= 12;
const inAudit = (op: string, least: number) => (pair: Pair) =>
  reads(op, least)(pair) && pair.call.id.startsWith("audit0");
const writesOf = (item: string): readonly Pair[] =>
  pairs.filter(({ call }) => call.args.items?.some((one) => one.item === item) === true);

describe("a history without a wrong", () => {
  it("is found well, and holds every operation", () => {
    expect(judge(lines, CANARY).violations).toEqual([]);
    const done = new Set(pairs.filter(isOk).map(({ call }) => call.op));
    for (const op of "write expire append read keys upsert supersede profile belief beliefs history".split(" "))
      expect(done, op).toContain(op);
    for (const op of "log relog logAll episodes walk index indexAll recall search erase derived derivations verify".split(
      " ",
    ))
      expect(done, op).toContain(op);
  });
});

/** A wrong: its name, the rule that has to find it, and how it is done. */
type Wrong = readonly [name: string, rule: string, act: () => readonly Line[]];

const lost: readonly Wrong[] = [
  ["an element is lost", "lost", () => without("read", "q")],
  ["a replaced record is lost", "lost", () => without("read", "r")],
  ["a version is lost from a trail", "lost", () => without("history", "f")],
  ["the live fact is lost", "lost", () => without("profile", "f")],
  ["an episode is lost from a walk", "lost", () => without("walk", "")],
  ["a vector is lost", "lost", () => without("recall", "v")],
  ["a vector is not found", "lost", () => without("search", "")],
  ["a registration is lost", "lost", () => without("derivations", "")],
  [
    "a key is not listed",
    "lost",
    () => {
      const pair = find("listing", (one) => one.call.op === "keys" && isKept(one) && one.call.id.startsWith("audit0"));
      const keys = (pair.end.answer?.keys ?? []).filter(({ key }) => !key.startsWith("q"));
      return withAnswer(lines, pair, { keys });
    },
  ],
];

const numbering: readonly Wrong[] = [
  ["an element stands at another position", "position", () => moved("read", "q")],
  ["a version has another number", "position", () => moved("history", "f")],
  ["two appends are told one position", "repeat", () => told("append", (_, one) => one)],
  ["two facts are told one version", "repeat", () => told("supersede", (_, one) => one)],
  ["an append is told a position that nothing leads to", "gap", () => told("append", () => 99_999)],
  ["an append is told a position before an older one's", "backwards", () => told("append", () => 1, 2)],
  [
    "an append that insists is told another position",
    "insisted",
    () => {
      const pair = find("append that insists", (one) => isOk(one) && one.call.args.after !== undefined);
      return withAnswer(lines, pair, { at: (pair.end.answer?.at ?? 0) + 1 });
    },
  ],
];

const sights: readonly Wrong[] = [
  [
    "an element is there twice",
    "twice",
    () => {
      const pair = find("sequence", inAudit("read", 2));
      return withAnswer(lines, pair, { seen: [...seenBy(pair), ...seenBy(pair).slice(0, 1)] });
    },
  ],
  [
    "an episode is walked over twice",
    "twice",
    () => {
      const pair = find("walk", inAudit("walk", 2));
      const once = seenBy(pair).filter(({ item }) => writesOf(item).length === 1);
      return withAnswer(lines, pair, { seen: [...seenBy(pair), ...once] });
    },
  ],
  [
    "a record of another scope is read",
    "foreign",
    () => {
      const pair = find("register", (one) => reads("read", 1)(one) && letterOf(one) === "r");
      return withAnswer(lines, pair, { seen: seenBy(pair).map((one) => ({ ...one, scope: (one.scope + 6) % 18 })) });
    },
  ],
  [
    "a record of another tenant is in a walk",
    "foreign",
    () => {
      const [pair, other] = [find("walk", inAudit("walk", 1)), pairs.findLast(inAudit("walk", 1))];
      return withAnswer(lines, pair, { seen: [...seenBy(pair), ...(other === undefined ? [] : seenBy(other))] });
    },
  ],
  [
    "something is there that nobody wrote",
    "foreign",
    () => {
      const pair = find("register", (one) => reads("read", 1)(one) && letterOf(one) === "r");
      return withAnswer(lines, pair, { seen: seenBy(pair).map((one) => ({ ...one, item: "x9.in-memory.1" })) });
    },
  ],
  [
    "what was refused is there",
    "refused",
    () => {
      const pair = find("sequence", inAudit("read", 2));
      const [write] = writesOf(seenBy(pair)[0]?.item ?? "");
      return write === undefined
        ? lines
        : withEnd(lines, write, { outcome: "refused", code: "POOL_EXHAUSTED", answer: {} });
    },
  ],
  [
    "what was replaced is there again",
    "stale",
    () => {
      const pair = find("register", (one) => isKept(one) && inAudit("read", 1)(one) && letterOf(one) === "r");
      const { scope, key } = pair.call.args;
      const older = find("write", (one) => {
        return one.call.op === "write" && isOk(one) && one.call.args.scope === scope && one.call.args.key === key;
      });
      return withAnswer(lines, pair, { seen: seenBy(pair).map((one) => ({ ...one, item: older.call.id })) });
    },
  ],
  [
    "an older fact is live again",
    "lost",
    () => {
      const pair = find("fact", (one) => isKept(one) && inAudit("profile", 1)(one) && (seenBy(one)[0]?.at ?? 0) > 1);
      const { scope, key } = pair.call.args;
      const older = find("fact", (one) => {
        return isOk(one) && one.end.answer?.at === 1 && one.call.args.scope === scope && one.call.args.key === key;
      });
      return withAnswer(lines, pair, { seen: seenBy(pair).map((one) => ({ ...one, item: older.call.id, at: 1 })) });
    },
  ],
  [
    "half of a batch is there",
    "half",
    () => {
      const pair = find(
        "walk with a batch",
        (one) => isKept(one) && inAudit("walk", 3)(one) && batchIn(one) !== undefined,
      );
      const [gone] = batchIn(pair) ?? [];
      return withAnswer(lines, pair, { seen: seenBy(pair).filter(({ item }) => item !== gone) });
    },
  ],
  [
    "a record outlives its time",
    "expired",
    () => {
      const expire = find("expiry", (one) => one.call.op === "expire" && one.end.answer?.was === true && isLastOf(one));
      const { scope, key = "" } = expire.call.args;
      const write = first(
        pairs
          .filter((one) => one.call.op === "write" && one.end.at < expire.call.at && samePlace(one, expire))
          .reverse(),
        "write before an expiry",
      );
      const read = find(
        "read",
        (one) => one.call.op === "read" && one.call.id.startsWith("audit0") && samePlace(one, expire),
      );
      // Long enough after it.
      const later = withAnswer(lines, read, { seen: [{ item: write.call.id, scope, key }] });
      return later.map((line) => shifted(line, read.call.id, 5_000));
    },
  ],
];

const erasing: readonly Wrong[] = [
  ["an element is back after its erasure", "un-erased", () => broughtBack("read", "q")],
  ["a version is back after its erasure", "un-erased", () => broughtBack("history", "f")],
  ["an episode is back after its erasure", "un-erased", () => broughtBack("walk", "e")],
  ["a vector is back after its erasure", "un-erased", () => broughtBack("recall", "v")],
  ["a registration is back after its erasure", "un-erased", () => broughtBack("derivations", "a")],
  [
    "a key is listed after its erasure",
    "un-erased",
    () => {
      const pair = find(
        "listing",
        ({ call }) => call.op === "keys" && call.id.startsWith("audit1") && isAfterErasure(call),
      );
      return withAnswer(lines, pair, { keys: [{ scope: pair.call.args.scope, key: "q0" }] });
    },
  ],
  ["a receipt counts one too many", "counts", () => counted(100_000)],
  ["a receipt counts too few", "counts", () => counted(-1)],
  [
    "a forecast is not what is erased",
    "forecast",
    () => {
      const pair = find("forecast", (one) => isAudit(one) && one.call.args.dryRun === true);
      return withAnswer(lines, pair, { counts: { ...pair.end.answer?.counts, profile: 12_345 } });
    },
  ],
  ["an artefact is not purged", "unpurged", () => lines.filter(({ line }) => line !== "purge")],
  [
    "an artefact is purged without an erasure",
    "purged",
    () => {
      const pair = find(
        "registration",
        (one) => one.call.op === "derived" && isKept(one) && isOk(one) && artefactOf(one),
      );
      return [...lines, { line: "purge", at: pair.end.at, store: "in-memory", artefacts: [pair.call.id] }];
    },
  ],
];

const answers: readonly Wrong[] = [
  [
    "another content takes an id without a conflict",
    "dropped",
    () =>
      withEnd(
        lines,
        find("clash", (one) => one.call.op === "clash" && isKept(one)),
        { outcome: "ok" },
      ),
  ],
  ["an error has no class of ours", "untyped", () => refusedWith("untyped:TypeError")],
  ["a record that is well is called corrupt", "untyped", () => refusedWith("MEMORY_CORRUPTION")],
  ["a conflict has no reason", "untyped", () => refusedWith("MEMORY_CONFLICT")],
  ["a call is never answered", "unsettled", () => lines.filter((line) => line !== find("log", reads("read", 0)).end)],
  [
    "a call is answered after its budget",
    "unsettled",
    () => lines.map((line) => shifted(line, find("call", isOk).call.id, 0, 120_000)),
  ],
  [
    "a call that was given up goes on",
    "unsettled",
    () => {
      const pair = find("call that is given up", ({ call }) => call.args.abortMs !== undefined);
      return lines.map((line) => shifted(line, pair.call.id, 0, 3_000));
    },
  ],
  [
    "the last look fails",
    "not healed",
    () => withEnd(lines, find("look", isAudit), { outcome: "refused", code: "MEMORY_UNAVAILABLE", answer: {} }),
  ],
  ["an answer is wrong in itself", "flawed", () => withAnswer(lines, find("read", isOk), { flaws: ["half a vector"] })],
  ["a leak was heard", "leak", () => [...lines, { line: "flaw", at: 0, what: "leak", detail: "error, in its stack" }]],
];

describe.each<readonly [string, readonly Wrong[]]>([
  ["what was acknowledged", lost],
  ["positions and versions", numbering],
  ["what is read", sights],
  ["erasures", erasing],
  ["answers", answers],
])("of %s, the checker finds that", (_name, wrongs) => {
  it.each(wrongs)("%s", (_wrong, rule, act) => {
    const history = act();
    expect(history.length !== lines.length || history.some((line, at) => line !== lines[at])).toBe(true);
    expect(rulesOf(history)).toContain(rule);
  });
});

describe("a loss that is admitted", () => {
  it("excuses what was done in its time, and nothing before it", () => {
    const pair = find("sequence", (one) => isKept(one) && inAudit("read", 2)(one) && letterOf(one) === "q");
    const [newest] = writesOf(seenBy(pair).at(-1)?.item ?? "");
    const since = newest?.call.at ?? 0;
    const loss: Line = {
      line: "loss",
      at: since,
      since,
      to: since + 1,
      stores: ["in-memory"],
      undoes: true,
      loosens: false,
    };
    const isSettled = (one: Pair): boolean => one.call.id.startsWith("audit") && samePlace(one, pair);
    // The newest is gone from every later look.
    const gone = pairs
      .filter(isSettled)
      .reduce((history, one) => withAnswer(history, one, { seen: seenBy(one).slice(0, -1) }), lines);
    const laterReads = (history: readonly Line[]): readonly Line[] => {
      const kept = new Set(
        pairs
          .filter((one) => one.call.at > since && samePlace(one, pair) && !isSettled(one))
          .map(({ call }) => call.id),
      );
      return history.filter((line) => !("id" in line && kept.has(line.id)));
    };
    const withoutIt = laterReads(gone);
    expect(rulesOf(withoutIt)).toContain("lost");
    const excused = judge([...withoutIt, loss], CANARY).violations;
    expect(excused.filter(({ rule, call }) => rule === "lost" && call?.startsWith("audit0"))).toEqual([]);
    const older: Line = { ...loss, since: since + 0.001, at: since + 0.001 };
    expect(rulesOf([...withoutIt, { ...older, since: (newest?.end.at ?? 0) + 0.001, to: since + 9 }])).toContain(
      "lost",
    );
  });

  it("of eviction excuses no erasure that is undone", () => {
    const history = broughtBack("read", "q");
    const loss: Line = {
      line: "loss",
      at: 0,
      since: 0,
      to: Number.MAX_SAFE_INTEGER,
      stores: ["in-memory"],
      undoes: false,
      loosens: true,
    };
    expect(rulesOf([...history, loss])).toContain("un-erased");
    expect(rulesOf([...history, { ...loss, undoes: true }])).not.toContain("un-erased");
  });

  it("of eviction excuses what came after it, up to the tenant's next erasure", () => {
    const history = without("read", "q");
    const at = Math.min(...pairs.map(({ call }) => call.at)) - 10;
    const stores = ["in-memory"];
    const loss: Line = { line: "loss", at, since: 0, to: at, stores, undoes: false, loosens: true };
    expect(rulesOf(history)).toContain("lost");
    expect(rulesOf([...history, { ...loss, loosens: false }])).toContain("lost");
    expect(rulesOf([...history, loss])).not.toContain("lost");
    const erasure = (scope: number): readonly Line[] => [
      { line: "call", id: "x.in-memory.1", at: at + 1, store: "in-memory", op: "erase", args: { scope } },
      { line: "end", id: "x.in-memory.1", at: at + 2, outcome: "ok", attempts: 1, answer: { counts: {} } },
    ];
    // Scope 0 is another tenant's.
    expect(rulesOf([...history, ...erasure(0), loss])).not.toContain("lost");
    expect(rulesOf([...history, ...erasure(12), loss])).toContain("lost");
  });
});

function without(op: string, letter: string): readonly Line[] {
  const isMeant = (one: Pair): boolean => {
    return isKept(one) && inAudit(op, 1)(one) && (letter === "" || letterOf(one) === letter);
  };
  const pair = find(`${op} of ${letter}`, isMeant);
  return withAnswer(lines, pair, { seen: seenBy(pair).slice(1) });
}

function moved(op: string, letter: string): readonly Line[] {
  const pair = find(`${op} of ${letter}`, (one) => inAudit(op, 2)(one) && letterOf(one) === letter);
  return withAnswer(lines, pair, { seen: seenBy(pair).map((one) => ({ ...one, at: (one.at ?? 0) + 1 })) });
}

/** Another number told to the last writer of a place of which a writer before it was told something. */
function told(op: string, number: (own: number, others: number) => number, least = 1): readonly Line[] {
  const writers = pairs.filter((one) => one.call.op === op && isOk(one) && isKept(one) && letterOf(one) !== "b");
  const pair = first(writers.filter((one) => (one.end.answer?.at ?? 0) > least + 1).reverse(), `${op} after others`);
  const other = first(
    writers.filter((one) => samePlace(one, pair) && one.end.at < pair.call.at).reverse(),
    `${op} before it`,
  );
  return withAnswer(lines, pair, { at: number(pair.end.answer?.at ?? 0, other.end.answer?.at ?? 0) });
}

/** What is there before the last erasure is there after it, too. */
function broughtBack(op: string, letter: string): readonly Line[] {
  const isMeant = (one: Pair): boolean => op === "walk" || op === "derivations" || letterOf(one) === letter;
  const before = find(op, (one) => inAudit(op, 1)(one) && isMeant(one));
  const after = find(op, (one) => one.call.op === op && isAfterErasure(one.call) && samePlace(one, before));
  return withAnswer(lines, after, { seen: seenBy(before) });
}

function isAfterErasure(call: CallLine): boolean {
  const last = pairs.findLast((one) => one.call.op === "erase");
  return last !== undefined && call.at > last.end.at;
}

function counted(more: number): readonly Line[] {
  const pair = find("receipt", (one) => {
    return one.call.op === "erase" && one.call.args.dryRun !== true && (one.end.answer?.counts?.["profile"] ?? 0) > 0;
  });
  const counts = pair.end.answer?.counts ?? {};
  const fewer =
    more < 0 ? { ...counts, episodic: 0, profile: 0 } : { ...counts, episodic: (counts["episodic"] ?? 0) + more };
  return withAnswer(lines, pair, { counts: fewer });
}

function refusedWith(code: string): readonly Line[] {
  const pair = find("read", (one) => one.call.op === "read" && isOk(one));
  return withEnd(lines, pair, { outcome: "refused", code, answer: {} });
}

function batchIn(pair: Pair): readonly string[] | undefined {
  const seen = new Set(seenBy(pair).map(({ item }) => item));
  return pairs
    .filter((one) => one.call.op === "logAll" && isOk(one))
    .map(({ call }) => (call.args.items ?? []).map(({ item }) => item))
    .find((items) => items.every((item) => seen.has(item) && writesOf(item).length === 1));
}

function samePlace(one: Pair, other: Pair): boolean {
  return one.call.args.scope === other.call.args.scope && one.call.args.key === other.call.args.key;
}

function isLastOf(expire: Pair): boolean {
  return !pairs.some((one) => {
    const isLater = one.call.at > expire.call.at || (one.call.op === "expire" && one !== expire);
    return isLater && samePlace(one, expire) && (one.call.op === "write" || one.call.op === "expire");
  });
}

function artefactOf({ call }: Pair): boolean {
  return call.args.artefact !== "shared";
}

/** The lines of a call, so many milliseconds later; its end even more. */
function shifted(line: Line, id: string, byMs: number, endByMs: number = byMs): Line {
  if (line.line === "call" && line.id === id) return { ...line, at: line.at + byMs };
  if (line.line === "end" && line.id === id) return { ...line, at: line.at + endByMs };
  return line;
}
