// The placeholders of a statement, each with the way to read its parameter from a request. A statement's text is some thousand
// characters; it is made once for all requests of one shape, which differ in nothing but their parameters.

import type { MemoryScope } from "@memory/core";
import type { NearestRequest } from "@memory/core/driver";
import { PART_COLUMNS, type Param, Params, type Statement, scopeParams } from "@memory/core/sql";
import { vectorText } from "./vector.ts";

/** What is asked, and how many records are looked at for it. */
export interface Asking {
  readonly request: NearestRequest;
  readonly depth: number;
}

type Source = (asking: Asking) => Param;

const SCOPE_COLUMNS: readonly string[] = ["tenant_id", ...PART_COLUMNS];

/** Whether a request asks for some of the metadata alone. */
export function hasFilter({ filter }: NearestRequest): boolean {
  return filter !== undefined && Object.keys(filter).length > 0;
}

/** What of a request the texts of its statements depend on, beside the values of a filter. */
export function shapeOf(request: NearestRequest): string {
  const { scope, reach, minScore } = request;
  const named = reach === "exact" ? "all" : namedParts(scope).join();
  return `${named}${minScore === undefined ? "" : " least"}${hasFilter(request) ? " filtered" : ""}`;
}

/**
 * Hands out the placeholders of a statement. All but the numbers are hidden from the planner: what it would make of one value
 * it makes of all.
 */
export class Placeholders extends Params {
  readonly #sources: Source[] = [];
  #isForOne = false;

  /** Whether a parameter is that of one request, whose statement is then no other's. */
  get isForOne(): boolean {
    return this.#isForOne;
  }

  /** The placeholder of a value of this request's own. */
  override add(value: Param, cast: string): string {
    this.#isForOne = true;
    return this.#add(() => value, cast);
  }

  override text(value: string): string {
    return `(SELECT ${super.text(value)})`;
  }

  /** The vector, as text. */
  vector(): string {
    return this.#add(({ request }) => vectorText(request.embedding), "::text");
  }

  /** The instant of the search. */
  asOf(): string {
    return `(SELECT ${this.#add(({ request }) => request.asOf, "::bigint")})`;
  }

  /** How many are asked for. */
  limit(): string {
    return this.#add(({ request }) => request.limit, "::bigint");
  }

  /** How many are looked at. */
  depth(): string {
    return this.#add(({ depth }) => depth, "::bigint");
  }

  /** What a record scores at the least. */
  minScore(): string {
    return `(SELECT ${this.#add(({ request }) => String(request.minScore), "::text::float8")})`;
  }

  /** The conditions that name a scope, its tenant first: every part, or under it only those that it names. */
  within(alias: string, { scope, reach }: NearestRequest): readonly string[] {
    const parts = reach === "exact" ? [0, 1, 2, 3] : namedParts(scope);
    return parts.map((part) => {
      const parameter = this.#add(({ request }) => scopeParams(request.scope)[part] ?? "", "::text");
      return `${alias}.${SCOPE_COLUMNS[part]}=(SELECT ${parameter})`;
    });
  }

  /** The statement of a text with these placeholders, for a request of the shape that they were handed out for. */
  fill(text: string, asking: Asking): Statement {
    return { text, params: this.#sources.map((source) => source(asking)) };
  }

  #add(source: Source, cast: string): string {
    this.#sources.push(source);
    return `$${this.#sources.length}${cast}`;
  }
}

// The parts of a scope that it names, by their places.
function namedParts(scope: MemoryScope): readonly number[] {
  return [...scopeParams(scope).entries()].flatMap(([part, text]) => (text === "" ? [] : [part]));
}
