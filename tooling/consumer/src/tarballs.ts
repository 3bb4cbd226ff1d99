// Judges a tarball by two tools: publint (is the manifest right?) and arethetypeswrong (do the types resolve as the
// code does?). The packages are ESM only, so what arethetypeswrong says of Node 10 and of `require` of ESM is expected.

import { readFileSync } from "node:fs";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { Packed } from "./pack.ts";

/** Names every finding about a tarball. */
export async function judgeTarball(packed: Packed): Promise<readonly string[]> {
  return [...(await askPublint(packed)), ...(await askAreTheTypesWrong(packed))];
}

async function askPublint({ tarball }: Packed): Promise<readonly string[]> {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true, level: "warning" });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`);
}

async function askAreTheTypesWrong({ tarball }: Packed): Promise<readonly string[]> {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (result.types === false) return ["arethetypeswrong: no types"];
  return result.problems
    .filter((problem) => problem.kind !== "CJSResolvesToESM")
    .filter((problem) => !("resolutionKind" in problem && problem.resolutionKind === "node10"))
    .map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`);
}
