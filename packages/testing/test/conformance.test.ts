// The suite over the executable reference, bound to Vitest as a third party would bind it.

import { describe, test } from "vitest";
import { memoryStoreConformance } from "../src/conformance.ts";
import { inMemoryTarget } from "./in-memory-target.ts";

memoryStoreConformance({ describe, test }, inMemoryTarget());
