// The judge of the races: silent about what may be, and each kind of wrong that a store could do is told.

import { describe, expect, it } from "vitest";
import { type LiveLook, type Look, type Shown, Watch, type Write } from "./watch.ts";

const write = (id: string, began: number, ended: number, more: Partial<Write> = {}): Write => ({
  kind: "episodic",
  session: "s1",
  ids: [id],
  began,
  ended,
  ...more,
});
const belief = (id: string, began: number, version: number, superseded: string | null): Write =>
  write(id, began, began + 1, { kind: "profile", key: "k", version, superseded });
const look = (began: number, seen: readonly string[], kind: Look["kind"] = "episodic", ended = began + 1): Look => ({
  kind,
  began,
  ended,
  seen: new Set(seen),
});
const live = (began: number, version: number): LiveLook => ({
  session: "s1",
  key: "k",
  began,
  ended: began + 1,
  version,
});

/** Two episodes and two beliefs, an erasure from 100 to 110, and a write after it. */
function history(change: (watch: Watch) => void = () => {}): Watch {
  const watch = new Watch();
  watch.writes.push(write("e1", 1, 2), write("e2", 3, 4), belief("p1", 5, 1, null), belief("p2", 7, 2, "p1"));
  watch.writes.push(write("late", 105, 107), belief("p3", 120, 1, null));
  watch.erasures.push({ session: undefined, began: 100, ended: 110, records: 4 });
  watch.looks.push(look(20, ["e1", "e2"]), look(21, ["p1", "p2"], "profile"));
  watch.looks.push(look(101, ["e1", "e2"]), look(103, []), look(104, [], "profile"), look(115, ["late"]));
  watch.looks.push(look(130, ["p3"], "profile"));
  watch.lives.push(live(20, 2), live(130, 1));
  change(watch);
  return watch;
}

const shown = (version: number, next?: number): Shown => ({
  id: `p${version}`,
  key: "k",
  session: "s1",
  version,
  validTo: next === undefined ? undefined : 9,
  supersededBy: next === undefined ? undefined : `p${next}`,
});

describe("the judge", () => {
  it("finds nothing wrong with what may be, and says how often it looked", () => {
    expect(history().judge()).toEqual({ faults: [], present: 5, fresh: 3, absent: 8, together: 3, chained: 3 });
    // Of a call under way nothing is known: neither of a write, nor of an erasure.
    const mays: readonly ((watch: Watch) => void)[] = [
      (watch) => watch.writes.push(write("open", 30, Number.POSITIVE_INFINITY)),
      (watch) => watch.looks.push(look(31, ["e1", "e2", "early"])) && watch.writes.push(write("early", 30, 102)),
      (watch) => watch.looks.push(look(106, ["late"]), look(106, [])),
      (watch) => watch.looks.push(look(99, [], "episodic", 102), look(99.5, ["e1", "e2"], "episodic", 101)),
      (watch) => watch.erasures.push({ session: "s2", began: 10, ended: 11, records: 0 }),
    ];
    for (const may of mays) expect(history(may).judge().faults).toEqual([]);
  });

  it.each<[string, (watch: Watch) => void]>([
    ["a write that is missing", (watch) => watch.looks.push(look(30, ["e1"]))],
    ["a write after an erasure that is missing", (watch) => watch.looks.push(look(140, [], "profile"))],
    [
      "a write that an erasure of another session took",
      (watch) => {
        watch.erasures.push({ session: "s2", began: 10, ended: 11, records: 1 });
        watch.looks.push(look(30, ["e2"]));
      },
    ],
    ["half of what an erasure means", (watch) => watch.looks.push(look(101, ["e2"]))],
    ["one kind after the other is gone", (watch) => watch.looks.push(look(106, ["p1", "p2"], "profile"))],
    ["what was erased", (watch) => watch.looks.push(look(140, ["e1", "late"]))],
    ["what nobody wrote", (watch) => watch.looks.push(look(30, ["e1", "e2", "nobody's"]))],
    ["an old version as live", (watch) => watch.lives.push(live(30, 1))],
    ["nothing as live", (watch) => watch.lives.push(live(30, 0))],
    ["two successors of one version", (watch) => watch.writes.push(belief("fork", 9, 3, "p1"))],
    ["a version that superseded nothing", (watch) => watch.writes.push(belief("alone", 9, 3, null))],
    ["a hole", (watch) => watch.trails([shown(1, 3), shown(3)])],
    ["two live versions", (watch) => watch.trails([shown(1), shown(2)])],
    ["none that is live", (watch) => watch.trails([shown(1, 2), shown(2, 3)])],
    ["a version twice", (watch) => watch.trails([shown(1, 2), shown(2, 2), shown(2)])],
    ["a trail that begins late", (watch) => watch.trails([shown(2)])],
  ])("tells %s", (_what, wrong) => {
    expect(history(wrong).judge().faults.length).toBeGreaterThan(0);
  });
});
