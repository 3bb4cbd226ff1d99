// What a person sees: sections, short lines, a progress line. Colour on a terminal only, and not where NO_COLOR asks for
// none. What comes out of a transcript is shown without its control characters, so that no text can steer the terminal.

/** Where lines go: standard output, or a test. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Style = "bold" | "dim" | "green" | "red" | "cyan";

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
  cyan: [36, 39],
};

const LABEL_WIDTH = 15;
const MAX_LINES = 3;

/** Writes to one output. */
export class Screen {
  readonly #output: Output;
  readonly #isTerminal: boolean;
  readonly #hasColour: boolean;
  readonly #width: number;
  #sections = 0;
  #quarters = 0;

  constructor(output: Output, environment: Readonly<Record<string, string | undefined>>) {
    this.#output = output;
    this.#isTerminal = output.isTTY === true && environment["TERM"] !== "dumb";
    this.#hasColour = this.#isTerminal && (environment["NO_COLOR"] ?? "") === "";
    this.#width = Math.min(Math.max(output.columns ?? 100, 60), 110);
  }

  /** The first line. */
  title(text: string): void {
    this.#line(this.#style("bold", text));
  }

  /** Begins a section: its number, its name, and what it is about. */
  section(name: string, about: string): void {
    this.#sections += 1;
    this.#line("");
    this.#line(this.#style("bold", `${this.#sections}  ${name}`));
    this.#wrapped(about, "   ", "dim");
    this.#line("");
  }

  /** Something said in plain words. */
  say(text: string): void {
    this.#wrapped(text, "   ");
  }

  /** A call, as a program would make it. */
  call(text: string): void {
    this.#wrapped(text, "   ", "cyan");
  }

  /** A label and what it is about, in two columns; cut after three lines. */
  row(label: string, text: string): void {
    const room = this.#width - LABEL_WIDTH - 6;
    const [first = "", ...rest] = wrap(text.slice(0, room * (MAX_LINES + 1)), room);
    const lines = rest.length < MAX_LINES ? rest : [...rest.slice(0, MAX_LINES - 2), "..."];
    this.#line(`     ${this.#style("dim", plain(label).padEnd(LABEL_WIDTH))} ${first}`.trimEnd());
    for (const line of lines) this.#line(" ".repeat(LABEL_WIDTH + 6) + line);
  }

  /** An empty line. */
  gap(): void {
    this.#line("");
  }

  /** A result: good, or not. */
  verdict(isGood: boolean, text: string): void {
    this.#line(this.#style(isGood ? "green" : "red", text));
  }

  /** How far something long has come: one line that is written over on a terminal, a line each quarter elsewhere. */
  progress(what: string, done: number, total: number): void {
    if (this.#isTerminal) {
      this.#output.write(`\r   ${what} ${done} of ${total}${done === total ? "\n" : ""}`);
      return;
    }
    const quarters = Math.floor((done * 4) / total);
    if (quarters > this.#quarters || done === total) this.#line(`   ${what} ${done} of ${total}`);
    this.#quarters = done === total ? 0 : quarters;
  }

  #wrapped(text: string, indent: string, style?: Style): void {
    for (const line of wrap(text, this.#width - indent.length)) this.#line(indent + this.#style(style, line));
  }

  #style(style: Style | undefined, text: string): string {
    if (style === undefined || !this.#hasColour) return text;
    const [on, off] = CODES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  }

  #line(text: string): void {
    this.#output.write(`${text}\n`);
  }
}

/** A value as a person reads it: a text as it is, anything else as JSON. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}

/** An instant as the day and time it is in UTC. */
export function shownInstant(instant: number | undefined): string {
  return instant === undefined ? "now on" : new Date(instant).toISOString().slice(0, 19).replace("T", " ");
}

// Lines of at most `room` characters, broken between words where there are any.
function wrap(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of plain(text).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
    for (; line.length > room; line = line.slice(room)) lines.push(line.slice(0, room));
  }
  return [...lines, line].map((one) => one.trimEnd().toWellFormed());
}

/** Control characters, and what turns the direction of text, as blanks. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ");
}
