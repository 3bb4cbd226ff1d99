// The table of sizes in a README, between two markers: written, and compared with what was measured, by rows. A number may be
// off by a twentieth or one KiB, so that a small change of the code is no change of the page.

const BEGIN = "<!-- sizes: written by `npm run sizes` -->";
const END = "<!-- /sizes -->";
const KIB = 1024;

/** One row: what was measured, and how many bytes it has; after gzip, where that is asked of it. */
export interface SizeRow {
  readonly what: string;
  readonly bytes: number;
  readonly gzipped?: number;
}

/** The README with the table of `rows` between its markers. @throws {Error} It has no markers. */
export function writeTable(readme: string, rows: readonly SizeRow[]): string {
  const [before, , after] = partsOf(readme);
  return `${before}${BEGIN}\n\n${renderTable(rows)}\n\n${END}${after}`;
}

/** Names every row of the README's table that is not what was measured. @throws {Error} It has no markers. */
export function compareTable(readme: string, rows: readonly SizeRow[]): readonly string[] {
  const stated = new Map(
    partsOf(readme)[1]
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .map(([, what = "", size = "", gzip = ""]) => [what, [size, gzip] as const]),
  );
  const missing = rows.filter(({ what }) => !stated.has(what)).map(({ what }) => `no row "${what}"`);
  const extra = [...stated.keys()].slice(2).filter((what) => !rows.some((row) => row.what === what));
  return [
    ...missing,
    ...extra.map((what) => `a row "${what}" that is not measured`),
    ...rows.flatMap(({ what, bytes, gzipped }) => {
      const [size, gzip] = stated.get(what) ?? [];
      return [
        ...(size === undefined || isNear(size, bytes) ? [] : [`${what}: it says ${size}, and it is ${format(bytes)}`]),
        ...(gzip === undefined || gzipped === undefined || isNear(gzip, gzipped)
          ? []
          : [`${what}, after gzip: it says ${gzip}, and it is ${format(gzipped)}`]),
      ];
    }),
  ];
}

/** Bytes as a person reads them: whole KiB, one decimal below ten. */
export function format(bytes: number): string {
  const kib = bytes / KIB;
  return `${kib < 10 ? kib.toFixed(1) : Math.round(kib).toLocaleString("en")} KiB`;
}

function isNear(stated: string, bytes: number): boolean {
  const found = Number(stated.replace(/ KiB$/, "").replaceAll(",", "")) * KIB;
  return Math.abs(found - bytes) <= Math.max(KIB, bytes / 20);
}

// Columns of one width, as the formatter wants them.
function renderTable(rows: readonly SizeRow[]): string {
  const cells = [
    ["", "size", "gzip"],
    ...rows.map(({ what, bytes, gzipped }) => [what, format(bytes), gzipped === undefined ? "" : format(gzipped)]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(3, ...cells.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[], fill = " ") =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width, fill)).join(" | ")} |`;
  const [head = [], ...rest] = cells;
  return [line(head), line([], "-"), ...rest.map((row) => line(row))].join("\n");
}

function partsOf(readme: string): readonly [before: string, table: string, after: string] {
  const start = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (start === -1 || end < start) throw new Error(`the README has no "${BEGIN}" and "${END}"`);
  return [readme.slice(0, start), readme.slice(start + BEGIN.length, end), readme.slice(end + END.length)];
}
