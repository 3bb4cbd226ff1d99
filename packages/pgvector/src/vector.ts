// Vectors as text: the one form in which postgres.js can send them.

import { fromSql } from "pgvector";

/** The most bytes that a number takes: a sign, nine digits with a point, an exponent, a comma (`-1.23456789e-45,`). */
const MOST_BYTES = 16;
const [OPEN = 0, CLOSE = 0, COMMA = 0, MINUS = 0, ZERO = 0, EXPONENT = 0] = Buffer.from("[],-0e");

/**
 * A vector of float32 numbers as pgvector reads it, every number exactly: nine digits tell any two of them apart. What the
 * package pgvector writes (`toSql`) are the digits of doubles, half as many bytes again, and more work at both ends.
 */
export function vectorText(embedding: readonly number[]): string {
  const text = Buffer.allocUnsafe(embedding.length * MOST_BYTES + 2);
  text[0] = OPEN;
  let at = 1;
  for (const number of embedding) at = writeNumber(text, number, at);
  // In the place of the last comma.
  const end = Math.max(1, at - 1);
  text[end] = CLOSE;
  return text.toString("latin1", 0, end + 1);
}

// Most of what a write costs in this process is this: `toPrecision(9)` takes three times as long as writing the digits does.
function writeNumber(text: Buffer, number: number, from: number): number {
  const size = Math.abs(number);
  // As a whole number of nine digits, times ten to the minus so many.
  const places = size >= 1 || size < 1e-4 ? 0 : size >= 1e-1 ? 9 : size >= 1e-2 ? 10 : size >= 1e-3 ? 11 : 12;
  const scale = places === 9 ? 1e9 : places === 10 ? 1e10 : places === 11 ? 1e11 : 1e12;
  let rest = (size * scale + 0.5) | 0;
  let at = from;
  if (places === 0 || rest >= 1e9) {
    at += text.write(number.toExponential(8), at, "latin1");
  } else {
    if (number < 0) text[at++] = MINUS;
    for (let digit = at + 8; digit >= at; digit -= 1) {
      const tenth = (rest / 10) | 0;
      text[digit] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    at += 9;
    text[at++] = EXPONENT;
    text[at++] = MINUS;
    if (places > 9) text[at++] = ZERO + 1;
    text[at++] = ZERO + (places % 10);
  }
  text[at++] = COMMA;
  return at;
}

/** A vector as pgvector prints it, in float32; `undefined` where the column is null. */
export function readVector(text: string | null | undefined): readonly number[] | undefined {
  const numbers = fromSql(text ?? null);
  // What is printed is the shortest text that reads as the same float32, not as the same double.
  return Array.isArray(numbers) ? numbers.map(Math.fround) : undefined;
}
