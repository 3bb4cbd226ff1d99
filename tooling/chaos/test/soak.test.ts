// What a soak's series comes to, and its picture.

import { describe, expect, it } from "vitest";
import { Histogram } from "../src/histogram.ts";
import { draw } from "../src/plot.ts";
import type { Phase, Point } from "../src/soak-figures.ts";
import { failuresOf, figuresOf } from "../src/soak-figures.ts";

const point = (second: number, phase: Phase, ms: number, more: Partial<Point> = {}): Point => ({
  ...{ second, phase, durations: [[ms, 100]], acknowledged: 100, refused: 0, timers: 0, flaws: [] },
  ...{ rssBytes: 100, heapBytes: 50, handles: 10, ...more },
});
const phases: readonly Phase[] = ["calm", "calm", "healthy", "failing", "healthy", "failing", "healthy", "healthy"];
const series = (more: (second: number) => Partial<Point> = () => ({})): readonly Point[] =>
  phases.map((phase, second) => point(second, phase, phase === "failing" ? 900 : 3, more(second)));

describe("a histogram", () => {
  it("gives quantiles to within 5 %, also of several together", () => {
    const [odd, even] = [new Histogram(), new Histogram()];
    for (let ms = 1; ms <= 1_000; ms += 1) (ms % 2 === 0 ? even : odd).add(ms);
    odd.merge(even.entries());
    expect(odd.total).toBe(1_000);
    for (const part of [0.5, 0.9, 0.99]) expect(Math.abs(odd.quantile(part) / (part * 1_000) - 1)).toBeLessThan(0.051);
    expect(new Histogram().quantile(0.99)).toBe(0);
  });
});

describe("the figures of a soak", () => {
  it("find nothing wrong where all stays as it is, and tell the time of failovers apart", () => {
    const figures = figuresOf(series(), 2);
    expect(failuresOf(figures)).toEqual([]);
    expect(figures.acknowledged).toBe(800);
    expect(figures.p99Ms.failing).toBeGreaterThan(100 * figures.p99Ms.calm);
  });

  it.each<readonly [string, (second: number) => Partial<Point>]>([
    ["memory that grows", (second) => ({ rssBytes: 100 + second * 20 })],
    ["a heap that grows", (second) => ({ heapBytes: 50 + second * 20 })],
    ["handles that grow", (second) => ({ handles: 10 + second })],
    ["waiting that stays long after failovers", (second) => (second >= 2 ? { durations: [[30, 100]] } : {})],
    ["a flaw that a client saw", (second) => (second === 3 ? { flaws: ["leak: error, in its stack"] } : {})],
  ])("find %s", (_what, more) => {
    expect(failuresOf(figuresOf(series(more), 2))).toHaveLength(1);
  });
});

describe("the picture of a series", () => {
  it("holds every curve with a point for each value, and the failovers behind them", () => {
    const panels = [
      {
        title: "Waiting",
        unit: "ms",
        isLogarithmic: true,
        curves: [{ name: "p99", colour: "#b22", values: [1, 10, 900] }],
      },
      { title: "Memory", unit: "MB", curves: [{ name: "resident", colour: "#27b", values: [80, 90, 100] }] },
    ];
    const svg = draw("a soak", 180, panels, [[0.5, 0.6]]);
    expect(svg.match(/<polyline points="(?:\S+,\S+ ){2}\S+,\S+"/g)).toHaveLength(2);
    expect(svg.match(/fill="#f3dcdc"/g)).toHaveLength(2);
    expect(svg).not.toContain("NaN");
  });
});
