// The suite bound to `node:test`, as a third party without a test framework would bind it. It also stands alone: the
// test of the bindings runs it in a process of its own and counts what the runner reports.

import { describe, test } from "node:test";
import { memoryStoreConformance } from "../src/conformance.ts";
import { inMemoryTarget, SMALL_VALUES } from "./in-memory-target.ts";

const without = process.env["MEMORY_WITHOUT"];

memoryStoreConformance(
  { describe, test },
  inMemoryTarget(without === "semantic" ? { ...SMALL_VALUES, without: [without] } : SMALL_VALUES),
);
