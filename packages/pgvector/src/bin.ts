#!/usr/bin/env node
// `memory-pgvector-schema --dimensions N [--metric cosine|l2|inner] ...`: prints the schema, for a migration tool.

import { parseArgs } from "node:util";
import { isMemoryError, MemorySettingsError, type Metric } from "@memory/core";
import { isMetric } from "./metric.ts";
import { schemaSql } from "./schema.ts";

const USAGE =
  "memory-pgvector-schema --dimensions N [--metric cosine|l2|inner] [--collection NAME] [--schema NAME] [--embedder NAME@VERSION] [--index hnsw] [--partitions N] [--row-security]\n";

try {
  const { values } = parseArgs({
    options: {
      dimensions: { type: "string" },
      metric: { type: "string", default: "cosine" },
      collection: { type: "string" },
      schema: { type: "string" },
      embedder: { type: "string" },
      index: { type: "string" },
      partitions: { type: "string" },
      "row-security": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  const { dimensions, metric, index, partitions, "row-security": rowSecurity, help, ...names } = values;
  if (help) process.stdout.write(USAGE);
  else {
    process.stdout.write(
      schemaSql({
        ...names,
        dimensions: Number(dimensions),
        metric: parseMetric(metric),
        index: parseIndex(index),
        partitions: partitions === undefined ? undefined : Number(partitions),
        rowSecurity,
      }),
    );
  }
} catch (error) {
  const isUsage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isUsage && !isMemoryError(error)) throw error;
  process.stderr.write(`${error instanceof Error ? error.message : ""}\n${USAGE}`);
  process.exitCode = 2;
}

function parseMetric(text: string): Metric {
  if (isMetric(text)) return text;
  throw new MemorySettingsError("metric must be cosine, l2 or inner", { setting: "metric" });
}

function parseIndex(text: string | undefined): "hnsw" | undefined {
  if (text === undefined || text === "hnsw") return text;
  throw new MemorySettingsError("index must be hnsw", { setting: "index" });
}
