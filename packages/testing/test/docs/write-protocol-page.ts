// Writes docs/protocol.md anew, formatted. To be run in this package after a case was added or a promise reworded:
// `node --conditions=@memory/source test/docs/write-protocol-page.ts`.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { protocolPage } from "./protocol-page.ts";

const path = fileURLToPath(new URL("../../../../docs/protocol.md", import.meta.url));
writeFileSync(path, protocolPage());
const { status } = spawnSync("biome", ["format", "--write", path], { stdio: "inherit" });
if (status !== 0) console.warn("the page is written, but not formatted: run the formatter on it");
