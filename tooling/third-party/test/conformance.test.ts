// Every promise of the protocol over a file, by every metric, and random sequences of operations beside the in-memory
// reference. A store without vectors is held to what it has, and has to refuse the rest.

import { after, describe, test } from "node:test";
import type { Metric } from "@memory/core";
import { memoryStoreConformance } from "@memory/testing";
import { makeFile, targetOver } from "./target.ts";

const targets: readonly (readonly [metric: Metric | undefined, sequences: number])[] = [
  ["cosine", 40],
  ["l2", 10],
  ["inner", 10],
  [undefined, 10],
];

for (const [metric, sequences] of targets) {
  const random = { sequences, ...(metric === undefined ? {} : { metric }) };
  memoryStoreConformance({ describe, test }, targetOver(makeFile({ after }, metric), metric), { random });
}
