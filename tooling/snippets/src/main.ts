// Writes the pages that are generated: today the one of deprecations.

import { writeFileSync } from "node:fs";
import { deprecationsPage, deprecationsPath } from "./deprecations.ts";

writeFileSync(deprecationsPath, deprecationsPage());
console.log("docs/deprecations.md is written");
