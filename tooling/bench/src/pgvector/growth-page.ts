// The growth of scopes as a page of the documentation: a table, and a picture in plain SVG, from the figures that are kept of
// the runs with graphs and without.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RESULTS } from "../report.ts";

const DOCS = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const PAGE = "pgvector-growth.md";
const PICTURE = "pgvector-growth.svg";

/** A point of a line: a scope's size, the p50 in milliseconds, and the recall. */
interface Point {
  readonly size: number;
  readonly p50: number;
  readonly recall: number;
}

interface Line {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly Point[];
}

const PLAIN = "pgvector-growth";
const GRAPHS = "pgvector-growth-graphs";

/** Which figures make which line: the files of which the first that is there counts, the column, and how the line is called. */
const LINES: readonly (readonly [files: readonly string[], column: string, name: string, colour: string])[] = [
  [[PLAIN], "store.search", "store", "#1668b8"],
  [[GRAPHS], "store.search", "store, a graph from 10,000 on", "#0a8a4a"],
  [[PLAIN, GRAPHS], "exact, btree on scope", "exact by hand", "#999999"],
  [[PLAIN, GRAPHS], "halfvec in a covering btree, 2 x re-ranked", "the first pass by hand", "#7a5fb0"],
  [[GRAPHS], "HNSW, strict order, ef 100", "HNSW by hand, strict order, ef 100", "#c2571a"],
];

/** Writes the page and its picture from what is kept in `results`, the package's own by default; gives their names. */
export function writeGrowthPage(results: string = RESULTS, docs: string = DOCS): readonly string[] {
  const lines = LINES.map(
    ([files, column, name, colour]): Line => ({
      ...{ name, colour },
      points:
        files.map((file) => pointsOf(join(results, `${file}.json`), column)).find(({ length }) => length > 0) ?? [],
    }),
  ).filter(({ points }) => points.length > 0);
  writeFileSync(join(docs, PICTURE), draw(lines));
  writeFileSync(join(docs, PAGE), page(lines));
  return [`docs/${PAGE}`, `docs/${PICTURE}`];
}

function pointsOf(file: string, column: string): readonly Point[] {
  if (!existsSync(file)) return [];
  const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
  return listAt(kept, "tables").flatMap((table) => {
    const size = Number(
      /^scope of ([\d,]+)/.exec(String(Reflect.get(Object(table), "title")))?.[1]?.replaceAll(",", ""),
    );
    const figure = listAt(table, "figures").find((one) => Reflect.get(Object(one), "name") === column);
    if (figure === undefined || Number.isNaN(size)) return [];
    const at = (name: string) => Number(Reflect.get(Object(figure), name));
    return [{ size, p50: at("p50") / 1_000, recall: at("recall") }];
  });
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list: unknown = Reflect.get(Object(value), name);
  return Array.isArray(list) ? list : [];
}

function page(lines: readonly Line[]): string {
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(({ size }) => size)))].sort((a, b) => a - b);
  const rows = sizes.map((size) => {
    const cells = lines.map(({ points }) => {
      const point = points.find((one) => one.size === size);
      return point === undefined ? "" : `${milliseconds(point.p50)} · ${point.recall.toFixed(3)}`;
    });
    return `| ${[size.toLocaleString("en"), ...cells].join(" | ")} |`;
  });
  return `# How a search in pgvector grows

The median of a search for ten records in a scope of so many, in milliseconds, and its recall: 384 dimensions, on topic, all
scopes in one table, as \`npm run bench -- pgvector --only growth\` measures it (with \`--no-graphs\`, and without). Times belong to
the machine they were taken on; what to take from here is how they grow.

| records | ${lines.map(({ name }) => name).join(" | ")} |
| ---: | ${lines.map(() => "---:").join(" | ")} |
${rows.join("\n")}

![The same as lines, both axes logarithmic](${PICTURE})

The first pass, which is all there is without a graph, costs in proportion to the scope, about a third of what looking at every
record does, and is exact. [Graphs for large scopes](pgvector.md#graphs-for-large-scopes) are for where that is too much.
`;
}

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 64;
const TOP = 60;
const INNER = { width: WIDTH - LEFT - 24, height: HEIGHT - TOP - 44 };

function draw(lines: readonly Line[]): string {
  const all = lines.flatMap(({ points }) => points);
  const decades = (values: readonly number[]): readonly [number, number] => [
    Math.floor(Math.log10(Math.min(...values))),
    Math.ceil(Math.log10(Math.max(...values))),
  ];
  const [left, right] = decades(all.map(({ size }) => size));
  const [bottom, top] = decades(all.map(({ p50 }) => p50));
  const x = (size: number) => LEFT + ((Math.log10(size) - left) / Math.max(1, right - left)) * INNER.width;
  const y = (p50: number) => TOP + INNER.height * (1 - (Math.log10(p50) - bottom) / Math.max(1, top - bottom));
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#444">`,
    "<title>p50 of a search by the size of its scope, ms</title>",
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="22" font-size="14" fill="#111">p50 of a search by the size of its scope, ms</text>`,
    ...lines.map(
      ({ name, colour }, n) =>
        `<text x="${LEFT + (n % 2) * 280}" y="${40 + Math.floor(n / 2) * 15}" fill="${colour}">${name}</text>`,
    ),
    ...range(left, right).map((size) => {
      const at = x(size).toFixed(1);
      return `<path d="M${at} ${TOP}v${INNER.height}" stroke="#eee"/><text x="${at}" y="${HEIGHT - 22}" text-anchor="middle">${size.toLocaleString("en")}</text>`;
    }),
    ...range(bottom, top).map((p50) => {
      const at = y(p50).toFixed(1);
      return `<path d="M${LEFT} ${at}h${INNER.width}" stroke="#eee"/><text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end">${p50.toLocaleString("en")}</text>`;
    }),
    `<text x="${LEFT + INNER.width / 2}" y="${HEIGHT - 4}" text-anchor="middle">records in the scope</text>`,
    ...lines.flatMap(({ points, colour }) => [
      `<polyline points="${points.map(({ size, p50 }) => `${x(size).toFixed(1)},${y(p50).toFixed(1)}`).join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(
        ({ size, p50 }) => `<circle cx="${x(size).toFixed(1)}" cy="${y(p50).toFixed(1)}" r="3" fill="${colour}"/>`,
      ),
    ]),
    "</svg>",
  ].join("\n")}\n`;
}

function milliseconds(p50: number): string {
  return p50 >= 100 ? p50.toFixed(0) : p50 >= 10 ? p50.toFixed(1) : p50.toFixed(2);
}
