// Vectors as text: the one form in which postgres.js can send them.

import { fromSql } from "pgvector";

/**
 * A vector of float32 numbers as pgvector reads it, every number exactly: nine digits tell any two of them apart. What the
 * package pgvector writes (`toSql`) are the digits of doubles, half as many bytes again, and half as much work at both ends.
 */
export function vectorText(embedding: readonly number[]): string {
  return `[${embedding.map((component) => component.toPrecision(9)).join(",")}]`;
}

/** A vector as pgvector prints it, in float32; `undefined` where the column is null. */
export function readVector(text: string | null | undefined): readonly number[] | undefined {
  const numbers = fromSql(text ?? null);
  // What is printed is the shortest text that reads as the same float32, not as the same double.
  return Array.isArray(numbers) ? numbers.map(Math.fround) : undefined;
}
