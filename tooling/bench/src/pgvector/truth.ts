// What is true of a query: the distances of everything that matches it, in double precision.

import type { MemoryScope } from "@memory/core";
import type { Metric } from "@memory/core/driver";
import { type DataSet, LIMIT, nameOf, SESSIONS_USER, scopeOf } from "./data.ts";

/** A query, and its true answer. */
export interface Ask {
  /** As an embedding model's client gives it. */
  readonly vector: readonly number[];
  readonly scope: MemoryScope;
  /** How many are to come back: {@link LIMIT}, or as many as match. */
  readonly count: number;
  /** The names of the closest, closest first, and some after them. */
  readonly closest: readonly string[];
  /** Their distances. */
  readonly distances: ReadonlyMap<string, number>;
}

/** Which records a query is asked among. */
export interface Among {
  readonly data: DataSet;
  /** A scope's number, or all sessions of the user who has some. */
  readonly scope: number | "sessions";
  /** Whether a record matches, by its number in its scope; all do by default. */
  readonly matches?: (n: number) => boolean;
}

/** How many of the closest are known by name: an answer that has others is as wrong as can be. */
const KEPT = LIMIT * 20;

/** The queries with their answers. */
export function asks({ data, scope, matches = () => true }: Among, vectors: readonly Float32Array[]): readonly Ask[] {
  const numbers = scope === "sessions" ? [...data.sizes.keys()].slice(data.sessions) : [scope];
  const parts = numbers.flatMap((number) => {
    const ofScope = data.vectors[number] ?? new Float32Array();
    return Array.from({ length: data.sizes[number] ?? 0 }, (_, n) => n)
      .filter(matches)
      .map((n) => ({ name: nameOf(number, n), ofScope, at: n * data.world.dimensions }));
  });
  const where = scope === "sessions" ? SESSIONS_USER : scopeOf(data, scope);
  const all = new Float64Array(parts.length);
  return vectors.map((vector) => {
    for (const [index, { ofScope, at }] of parts.entries()) all[index] = distance(data.metric, vector, ofScope, at);
    const edge = all.slice().sort()[Math.min(KEPT, parts.length) - 1] ?? 0;
    const near = parts
      .flatMap(({ name }, index) => ((all[index] ?? 0) <= edge ? [{ name, distance: all[index] ?? 0 }] : []))
      .sort((a, b) => a.distance - b.distance);
    return {
      vector: [...vector],
      scope: where,
      count: Math.min(LIMIT, near.length),
      closest: near.map(({ name }) => name),
      distances: new Map(near.map(({ name, distance }) => [name, distance])),
    };
  });
}

/** How an answer compares with the truth. */
export interface Judgement {
  /** How many rows came back of those that were to. */
  readonly rows: number;
  /** The part of the closest that is among them. */
  readonly recall: number;
  /** Whether they come closest first, but for distances that float32 cannot tell apart. */
  readonly isInOrder: boolean;
}

/** Relative to the larger of two distances: what sums of float32 of some thousand terms may differ by. */
const NOISE = 2e-5;

/** Judges an answer, the names as they came. */
export function judge({ count, closest, distances }: Ask, answer: readonly string[]): Judgement {
  const worst = distances.get(closest[count - 1] ?? "") ?? Number.POSITIVE_INFINITY;
  const slack = NOISE * Math.max(1, Math.abs(worst));
  const true10 = answer.filter((name) => (distances.get(name) ?? Number.POSITIVE_INFINITY) <= worst + slack).length;
  let isInOrder = new Set(answer).size === answer.length;
  for (let index = 1; index < answer.length; index += 1) {
    const before = distances.get(answer[index - 1] ?? "");
    const after = distances.get(answer[index] ?? "");
    if (before !== undefined && after !== undefined && before > after + slack) isInOrder = false;
  }
  return { rows: answer.length, recall: count === 0 ? 1 : Math.min(1, true10 / count), isInOrder };
}

function distance(metric: Metric, a: Float32Array, of: Float32Array, at: number): number {
  let dot = 0;
  let squareA = 0;
  let squareB = 0;
  let apart = 0;
  for (let i = 0; i < a.length; i += 1) {
    const x = a[i] ?? 0;
    const y = of[at + i] ?? 0;
    dot += x * y;
    squareA += x * x;
    squareB += y * y;
    apart += (x - y) * (x - y);
  }
  if (metric === "l2") return Math.sqrt(apart);
  return metric === "inner" ? -dot : 1 - dot / Math.sqrt(squareA * squareB);
}
