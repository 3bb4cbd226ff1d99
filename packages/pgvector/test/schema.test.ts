// The schema as text: what is reviewed is what is printed, and its options are checked.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isMemoryError } from "@memory/core";
import { describe, expect, it } from "vitest";
import { migrationSql, SCHEMA_VERSION, type SchemaOptions, schemaSql } from "../src/schema.ts";

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const print = (...args: readonly string[]) =>
  execFileSync(process.execPath, ["--conditions=@memory/source", bin, ...args], { encoding: "utf8", stdio: "pipe" });

describe("schemaSql", () => {
  it("is the text under review in etc/schema.sql", async () => {
    await expect(schemaSql({ dimensions: 1024 })).toMatchFileSnapshot("../etc/schema.sql");
  });

  it("comments on every table and column", () => {
    const text = schemaSql({ dimensions: 3 });
    const columns =
      text.match(/^ {2}[a-z_]+ (?:text|bigint|integer|numeric|jsonb|boolean|bit|vector|halfvec|double)/gm) ?? [];
    expect(text.match(/^COMMENT ON COLUMN /gm)).toHaveLength(columns.length);
    expect(text.match(/^COMMENT ON TABLE /gm)).toHaveLength(3);
  });

  it("begins every key and unique index with the tenant", () => {
    const keys = schemaSql({ dimensions: 3, partitions: 2 }).match(/(?:PRIMARY KEY|UNIQUE[^(]*) \((\w+)/g) ?? [];
    expect(keys.length).toBe(3);
    expect(keys.filter((key) => !key.endsWith("(tenant_id"))).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, "dimensions"],
    [{}, "dimensions"],
    [{ dimensions: 0 }, "dimensions"],
    [{ dimensions: 16_001 }, "dimensions"],
    [{ dimensions: 2.5 }, "dimensions"],
    [{ dimensions: "3" }, "dimensions"],
    [{ dimensions: 3, metric: "dot" }, "metric"],
    [{ dimensions: 3, metric: "toString" }, "metric"],
    [{ dimensions: 3, collection: "" }, "collection"],
    [{ dimensions: 3, collection: "c".repeat(42) }, "collection"],
    [{ dimensions: 3, schema: "é".repeat(40) }, "schema"],
    [{ dimensions: 3, embedder: "" }, "embedder"],
    [{ dimensions: 3, embedder: " m@1" }, "embedder"],
    [{ dimensions: 3, embedder: "m'@1" }, "embedder"],
    [{ dimensions: 3, embedder: "m\\@1" }, "embedder"],
    [{ dimensions: 3, embedder: "m\n@1" }, "embedder"],
    [{ dimensions: 3, embedder: 7 }, "embedder"],
    [{ dimensions: 3, index: "ivfflat" }, "index"],
    [{ dimensions: 3, index: { hnsw: "all" } }, "index"],
    [{ dimensions: 3, index: "hnsw", partitions: 2 }, "index"],
    [{ dimensions: 4_001, index: "hnsw" }, "index"],
    [{ dimensions: 3, partitions: 1 }, "partitions"],
    [{ dimensions: 3, rowSecurity: "yes" }, "rowSecurity"],
    [{ dimensions: 3, tables: 1 }, "tables"],
  ])("refuses %o", (options, setting) => {
    const untyped: (options: never) => string = schemaSql;
    const error = refusal(() => Reflect.apply(untyped, undefined, [options]));
    expect(isMemoryError(error, "MEMORY_SETTINGS") ? error.setting : error).toBe(setting);
  });

  it("takes names as long as they may be", () => {
    const collection = "c".repeat(41);
    const names = schemaSql({ dimensions: 3, collection, partitions: 1_024 }).match(/"c{41}\w*"/g) ?? [];
    expect(Math.max(...names.map((name) => name.length - 2))).toBe(63);
  });

  it("has a step for every version that there was, and none for another", () => {
    const options: SchemaOptions = { dimensions: 3 };
    expect(migrationSql(SCHEMA_VERSION, options)).toBe("");
    const error = refusal(() => migrationSql(SCHEMA_VERSION + 1, options));
    expect(isMemoryError(error, "MEMORY_SETTINGS")).toBe(true);
  });
});

describe("memory-pgvector-schema", () => {
  it("prints the same text", () => {
    expect(print("--dimensions", "1024")).toBe(schemaSql({ dimensions: 1024 }));
    const names = { metric: "l2", collection: "notes", schema: "other", embedder: "m@1" } as const;
    const flags = Object.entries(names).flatMap(([name, value]) => [`--${name}`, value]);
    expect(print("--dimensions", "3", ...flags, "--partitions", "4", "--row-security")).toBe(
      schemaSql({ dimensions: 3, ...names, partitions: 4, rowSecurity: true }),
    );
  });

  it.each([
    [],
    ["--dimensions", "many"],
    ["--dimensions", "3", "--metric", "dot"],
    ["--dimensions", "3", "--partitions", "many"],
    ["--dimensions", "3", "--index", "ivfflat"],
    ["--dimensions", "3", "--nonsense"],
  ])("refuses %s %s %s with its usage", (...args) => {
    const error = refusal(() => print(...args));
    expect(error).toMatchObject({ status: 2, stderr: expect.stringContaining("memory-pgvector-schema --dimensions") });
  });
});

function refusal(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}
