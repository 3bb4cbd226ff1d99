// The suite is tested by sabotage: small wrongs done to the reference store, each of which the cases named with it must
// catch by an assertion, while the same cases pass over the store as it is.

import { AssertionError } from "node:assert";
import { isMemoryError } from "@memory/core";
import { beforeAll, describe, expect, it } from "vitest";
import type { ConformanceCase } from "../src/case.ts";
import { conformanceCases } from "../src/cases.ts";
import { promiseBroken } from "../src/failure.ts";
import { type CaseResult, capabilitiesOf, runCase } from "../src/report.ts";
import { inMemoryTarget } from "./in-memory-target.ts";
import { episodicSabotages } from "./sabotage/episodic.ts";
import { erasureSabotages } from "./sabotage/erasure.ts";
import { profileSabotages } from "./sabotage/profile.ts";
import { recordSabotages } from "./sabotage/record.ts";
import { type Sabotage, sabotaged } from "./sabotage/sabotage.ts";
import { scopeSabotages } from "./sabotage/scope.ts";
import { semanticSabotages } from "./sabotage/semantic.ts";
import { workingSabotages } from "./sabotage/working.ts";

const groups: readonly [string, readonly Sabotage[]][] = [
  ["scope", scopeSabotages],
  ["record", recordSabotages],
  ["working", workingSabotages],
  ["profile", profileSabotages],
  ["episodic", episodicSabotages],
  ["semantic", semanticSabotages],
  ["erasure", erasureSabotages],
];
const everySabotage = groups.flatMap(([, list]) => list);
const sound = new Map<string, CaseResult>();

describe("the reference store", () => {
  beforeAll(async () => {
    const target = inMemoryTarget();
    const capabilities = await capabilitiesOf(target);
    for (const id of new Set(everySabotage.flatMap(({ fails }) => fails))) {
      const one = caseOf(id);
      if (one !== undefined) sound.set(id, await runCase(target, one, capabilities));
    }
  });

  it("passes, unharmed, every case that a sabotage names", () => {
    const named = [...new Set(everySabotage.flatMap(({ fails }) => fails))];
    expect(named.filter((id) => sound.get(id)?.outcome !== "passed")).toEqual([]);
  });

  it("is sabotaged in at least forty ways, each of its own name", () => {
    expect(new Set(everySabotage.map(({ name }) => name)).size).toBe(everySabotage.length);
    expect(everySabotage.length).toBeGreaterThanOrEqual(40);
    expect(everySabotage.filter(({ fails }) => fails.length === 0)).toEqual([]);
  });
});

describe.each(groups)("a sabotage of %s is caught where", (_, sabotages) => {
  it.each(sabotages.map((one): [string, Sabotage] => [one.name, one]))("%s", async (_name, sabotage) => {
    const target = sabotaged(sabotage);
    const capabilities = await capabilitiesOf(target);
    for (const id of sabotage.fails) {
      const one = caseOf(id);
      if (one === undefined) throw new Error(`no case is called ${id}`);
      const result = await runCase(target, one, capabilities);
      const { outcome, error } = result;
      expect({ id, outcome }).toEqual({ id, outcome: "failed" });
      expect({ id, error: kindOf(error) }).toEqual({ id, error: sabotage.noticedAs ?? "assertion" });
      const told = promiseBroken(target.name, result, null).message;
      const [, observed, expected] = /^ {2}observed: (.*?)\n {2}expected: (.*?)\n {2}\w/ms.exec(told) ?? [];
      expect(told).toContain(one.promise);
      expect(observed, told).toMatch(/\S/);
      expect(expected, told).toMatch(/\S/);
      expect(observed, told).not.toBe(expected);
    }
  });
});

function caseOf(id: string): ConformanceCase | undefined {
  return conformanceCases.find((one) => one.id === id);
}

// What a case failed with: an assertion, or the code of an error of ours; anything else in its own words.
function kindOf(error: unknown): string {
  if (error instanceof AssertionError) return "assertion";
  return isMemoryError(error) ? error.code : String(error);
}
