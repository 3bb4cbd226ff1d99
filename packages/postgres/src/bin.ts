#!/usr/bin/env node
// `memory-postgres-schema [--schema NAME] [--partitions N] [--row-security]`: prints the schema, for a migration tool.

import { parseArgs } from "node:util";
import { isMemoryError } from "@memory/core";
import { schemaSql } from "./schema.ts";

const USAGE = "memory-postgres-schema [--schema NAME] [--partitions N] [--row-security]\n";

try {
  const { values } = parseArgs({
    options: {
      schema: { type: "string" },
      partitions: { type: "string" },
      "row-security": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  const { schema, partitions, "row-security": rowSecurity, help } = values;
  process.stdout.write(
    help
      ? USAGE
      : schemaSql({ schema, partitions: partitions === undefined ? undefined : Number(partitions), rowSecurity }),
  );
} catch (error) {
  const isUsage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isUsage && !isMemoryError(error)) throw error;
  process.stderr.write(`${error instanceof Error ? error.message : ""}\n${USAGE}`);
  process.exitCode = 2;
}
