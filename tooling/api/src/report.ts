// One API Extractor run: declarations in, one report out. API Extractor reads them with a TypeScript of its own, so
// the settings are given here and not taken from the package.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from "@microsoft/api-extractor";
import type { Door } from "./doors.ts";

/**
 * What one run found: whether the report changed, which types the door shows without exporting them, and what the
 * declarations did wrong.
 */
export interface ReportOutcome {
  readonly isChanged: boolean;
  readonly unexported: readonly string[];
  readonly problems: readonly string[];
}

/** Writes the report of `door`, or only compares it when `isCheck`. */
export function reportDoor(folder: string, door: Door, isCheck: boolean): ReportOutcome {
  const entry = join(folder, door.types);
  if (!existsSync(entry)) return { isChanged: false, unexported: [], problems: [`${door.types} is not built`] };
  for (const name of ["etc", join("reports", "api")]) mkdirSync(join(folder, name), { recursive: true });

  const problems: string[] = [];
  const unexported: string[] = [];
  const result = Extractor.invoke(
    ExtractorConfig.prepare({
      configObject: settingsOf(folder, door),
      configObjectFullPath: undefined,
      packageJsonFullPath: join(folder, "package.json"),
    }),
    {
      localBuild: !isCheck,
      messageCallback: (message) => {
        message.handled = true;
        const symbol = /The symbol "([^"]+)"/.exec(message.text)?.[1];
        if (message.messageId === "ae-forgotten-export" && symbol !== undefined) unexported.push(symbol);
        if (message.logLevel === ExtractorLogLevel.Error || message.messageId.startsWith("TS")) {
          problems.push(message.formatMessageWithLocation(folder));
        }
      },
    },
  );
  return { isChanged: result.apiReportChanged, unexported, problems };
}

function settingsOf(folder: string, door: Door): IConfigFile {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return {
    projectFolder: folder,
    mainEntryPointFilePath: join(folder, door.types),
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: "es2023",
          lib: ["es2023", "esnext.disposable"],
          module: "nodenext",
          moduleDetection: "force",
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
          types: ["node"],
        },
        files: [join(folder, door.types)],
      },
    },
    apiReport: {
      enabled: true,
      reportFileName: `${door.name}.api.md`,
      reportFolder: join(folder, "etc"),
      reportTempFolder: join(folder, "reports", "api"),
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: "lf",
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      extractorMessageReporting: { ...silent, "ae-forgotten-export": { logLevel: ExtractorLogLevel.Warning } },
      tsdocMessageReporting: silent,
    },
  };
}
