// The texts of searches are kept for all requests of a shape: what is kept must never differ from what would be made anew.

import { memoryScope } from "@memory/core";
import type { NearestRequest } from "@memory/core/driver";
import { describe, expect, it } from "vitest";
import { Graphs } from "./graph.ts";
import { SearchStatements } from "./search-statements.ts";

const scopes = ["acme", "it's"].flatMap((tenantId) => [
  memoryScope({ tenantId }),
  memoryScope({ tenantId, userId: "u" }),
  memoryScope({ tenantId, userId: "v", sessionId: "s" }),
  memoryScope({ tenantId, agent: "a" }),
  memoryScope({ tenantId, userId: "u", sessionId: "s", agent: "a" }),
]);
const filters = [undefined, {}, { topic: ["x"] }, { topic: ["y", 1], other: [true] }];

const requests = scopes.flatMap((scope, n) =>
  filters.flatMap((filter) =>
    (["exact", "under"] as const).flatMap((reach) =>
      [undefined, 0.5 + n / 100].map(
        (minScore): NearestRequest => ({
          ...{ scope, reach, filter, minScore, asOf: 1_000 + n, limit: 5 + n, embedding: [n, 1, 2] },
        }),
      ),
    ),
  ),
);

const made = (isPartitioned: boolean, dimensions: number) => {
  const place = { extension: "public", isPartitioned, records: 0, graphs: new Graphs("semantic", []) };
  return new SearchStatements("memory.semantic", place, { dimensions, metric: "l2" });
};

describe("a kept text", () => {
  it.each([
    [false, 3],
    [true, 3],
    [false, 1_100],
  ])("is what would be made anew (partitions: %s, dimensions: %d)", (isPartitioned, dimensions) => {
    const kept = made(isPartitioned, dimensions);
    const ask = (statements: SearchStatements, request: NearestRequest, depth: number) => {
      const isFiltered = Object.keys(request.filter ?? {}).length > 0;
      return [
        statements.ranked(request, depth),
        statements.exact(request),
        statements.size(request, depth),
        statements.byGraph(request, undefined, 20),
        statements.byGraph(request, undefined, 50),
        statements.byGraph(request, request.scope, 20),
        ...(isFiltered ? [statements.filtered(request, true), statements.filtered(request, false)] : []),
      ];
    };
    for (let turn = 0; turn < 2; turn += 1) {
      for (const [index, request] of requests.entries()) {
        const anew = ask(made(isPartitioned, dimensions), request, 30 + index);
        expect(ask(kept, request, 30 + index)).toEqual(anew);
        for (const { text, params } of anew) {
          // Every parameter has its placeholder, and the other way round.
          const named = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
          expect([...named].sort((a, b) => a - b)).toEqual(params.map((_, place) => place + 1));
        }
      }
    }
  });

  it("holds a scope only where a graph is that scope's own", () => {
    const statements = made(false, 3);
    for (const request of requests) {
      const { scope } = request;
      for (const { text } of [statements.ranked(request, 9), statements.exact(request), statements.size(request, 9)]) {
        expect(text).not.toMatch(/acme|it's/);
      }
      const own = statements.byGraph(request, scope, 20).text;
      expect(own.includes("'acme'")).toBe(scope.tenantId === "acme");
      expect(own.includes("it''s")).toBe(scope.tenantId !== "acme");
    }
  });
});
