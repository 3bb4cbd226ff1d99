// A series as a picture: panels one below the other over the same time, each with a few lines, and the failovers as bars
// behind them. Plain SVG, without anything to load.

/** A line of a panel. */
export interface Curve {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly number[];
}

/** A panel: its curves share a scale. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly isLogarithmic?: boolean;
  readonly curves: readonly Curve[];
}

const WIDTH = 920;
const HEIGHT = 170;
const LEFT = 64;
const TOP = 34;
const INNER = { width: WIDTH - LEFT - 16, height: HEIGHT - TOP - 14 };

/** Draws the panels; `marked` are the stretches, in parts of the whole, that lie behind them. */
export function draw(
  title: string,
  seconds: number,
  panels: readonly Panel[],
  marked: readonly (readonly [number, number])[],
): string {
  const height = 40 + panels.length * HEIGHT + 24;
  const parts = panels.map(
    (panel, at) => `<g transform="translate(0 ${40 + at * HEIGHT})">${drawPanel(panel, marked)}</g>`,
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const x = LEFT + part * INNER.width;
    return `<text x="${x}" y="${height - 8}" text-anchor="middle">${Math.round((part * seconds) / 60)} min</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" fill="#444">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${LEFT}" y="24" font-size="14" fill="#111">${title}</text>`,
    ...parts,
    ...ticks,
    "</svg>\n",
  ].join("\n");
}

function drawPanel(
  { title, unit, isLogarithmic, curves }: Panel,
  marked: readonly (readonly [number, number])[],
): string {
  const all = curves.flatMap(({ values }) => values).filter((value) => value > 0);
  const most = Math.max(1, ...all) * 1.05;
  const least = isLogarithmic === true ? Math.max(0.01, Math.min(...all)) : 0;
  const scale = (value: number): number => {
    const part =
      isLogarithmic === true
        ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
        : (value - least) / (most - least);
    return TOP + INNER.height * (1 - part);
  };
  const bars = marked.map(([from, to]) => {
    const [x, width] = [LEFT + from * INNER.width, Math.max(1, (to - from) * INNER.width)];
    return `<rect x="${x.toFixed(1)}" y="${TOP}" width="${width.toFixed(1)}" height="${INNER.height}" fill="#f3dcdc"/>`;
  });
  const lines = curves.map(({ values, colour }) => {
    const points = values.map((value, at) => {
      const x = LEFT + (at / Math.max(1, values.length - 1)) * INNER.width;
      return `${x.toFixed(1)},${scale(value).toFixed(1)}`;
    });
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.2"/>`;
  });
  const names = curves.map(({ name, colour }, at) => {
    return `<text x="${LEFT + 220 + at * 110}" y="${TOP - 8}" fill="${colour}">${name}</text>`;
  });
  const marks = (isLogarithmic === true ? [least, Math.sqrt(least * most), most] : [0, most / 2, most]).map((value) => {
    return `<text x="${LEFT - 6}" y="${scale(value) + 4}" text-anchor="end">${round(value)}</text>`;
  });
  return [
    ...bars,
    `<text x="${LEFT}" y="${TOP - 8}" fill="#111">${title}, ${unit}</text>`,
    ...names,
    ...marks,
    `<path d="M${LEFT} ${TOP}v${INNER.height}h${INNER.width}" fill="none" stroke="#999"/>`,
    ...lines,
  ].join("\n");
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
