// Whose statements run: with row security the tenant is named in the same transaction, and one lock is a tenant's alone.

import { expect, test } from "vitest";
import type { DriverCall } from "../model/driver.ts";
import type { Executor, Statement } from "./executor.ts";
import { scopedExecutor, tenantLock, tenantStatement } from "./tenant.ts";

const call: DriverCall = { now: 0, attempt: 1, budgetMs: 0, signal: new AbortController().signal };
const scope = { tenantId: "t" };
const one: Statement = { text: "SELECT 1", params: [] };
const named = tenantStatement("t");

// Writes down what runs together, and answers each statement with its own text.
function recorder(): { readonly executor: Executor; readonly ran: (readonly Statement[])[] } {
  const ran: (readonly Statement[])[] = [];
  const batch: Executor["batch"] = async (statements) => {
    ran.push(statements);
    return statements.map(({ text }) => [[text]]);
  };
  const executor: Executor = {
    client: ran,
    concurrency: 1,
    run: async (statement, patience) => (await batch([statement], patience))[0] ?? [],
    batch,
    transaction: async (body) => {
      const steps: Statement[] = [];
      ran.push(steps);
      return await body(async (statement) => {
        steps.push(statement);
        return [[statement.text]];
      });
    },
    isStray: () => false,
    close: async () => {},
  };
  return { executor, ran };
}

test.each([
  [true, [named]],
  [false, []],
])(
  "with row security %s, every way of running begins with %j and answers for its own statements",
  async (on, first) => {
    const { executor, ran } = recorder();
    const scoped = scopedExecutor(executor, on);
    expect(await scoped.run(scope, one, call)).toEqual([["SELECT 1"]]);
    expect(await scoped.batch(scope, [one, one], call)).toEqual([[["SELECT 1"]], [["SELECT 1"]]]);
    expect(await scoped.transaction(scope, (step) => step(one), call)).toEqual([["SELECT 1"]]);
    expect(ran).toEqual([
      [...first, one],
      [...first, one, one],
      [...first, one],
    ]);
  },
);

test("locks of other tenants, and of other tables, are other locks", () => {
  const names = [tenantLock("a"), tenantLock("b")].flatMap((lock) =>
    ["x", "y"].map((tenantId) => lock.param({ tenantId })),
  );
  expect(new Set(names).size).toBe(4);
  expect(tenantLock("a").alone({ tenantId: "x" }).params).toEqual([names[0]]);
});
