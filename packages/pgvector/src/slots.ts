// The slots of a statement: what stands in its placeholders, as the way to read it from a request. A statement's text is some
// thousand characters; it is made once for all requests of one shape, which differ in nothing but what their slots hold.

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

const PLACE: readonly string[] = ["tenant_id", ...PART_COLUMNS];

/** What of a request the texts of its statements depend on; `undefined` under a filter, whose values have slots of their own. */
export function shapeOf({ scope, reach, filter, minScore }: NearestRequest): string | undefined {
  if (filter !== undefined && Object.keys(filter).length > 0) return undefined;
  const named = reach === "exact" ? "all" : namedParts(scope).join();
  return minScore === undefined ? named : `${named} least`;
}

/**
 * Hands out the placeholders of a statement. All but the numbers are hidden from the planner: what it would make of one value
 * it makes of all.
 */
export class Slots extends Params {
  readonly #sources: Source[] = [];

  override add(value: Param, cast: string): string {
    return this.#add(() => value, cast);
  }

  override text(value: string): string {
    return `(SELECT ${super.text(value)})`;
  }

  /** The vector, as text. */
  vector(): string {
    return this.#add(({ request }) => vectorText(request.embedding), "::text");
  }

  asOf(): string {
    return `(SELECT ${this.#add(({ request }) => request.asOf, "::bigint")})`;
  }

  limit(): string {
    return this.#add(({ request }) => request.limit, "::bigint");
  }

  depth(): string {
    return this.#add(({ depth }) => depth, "::bigint");
  }

  minScore(): string {
    return `(SELECT ${this.#add(({ request }) => String(request.minScore), "::text::float8")})`;
  }

  /** The conditions that name a scope, its tenant first: every part, or under it only those that it names. */
  place(alias: string, { scope, reach }: NearestRequest): readonly string[] {
    const parts = reach === "exact" ? [0, 1, 2, 3] : namedParts(scope);
    return parts.map((part) => {
      const slot = this.#add(({ request }) => scopeParams(request.scope)[part] ?? "", "::text");
      return `${alias}.${PLACE[part]}=(SELECT ${slot})`;
    });
  }

  /** The statement of a text with these slots, for a request of the shape that they were handed out for. */
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
