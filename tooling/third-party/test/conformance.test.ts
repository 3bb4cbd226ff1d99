// Every promise of the protocol, over a file.

import { after, describe, test } from "node:test";
import { memoryStoreConformance } from "@memory/testing";
import { makeFile, targetOver } from "./target.ts";

const file = makeFile();
after(() => file[Symbol.dispose]());

memoryStoreConformance({ describe, test }, targetOver(file));
