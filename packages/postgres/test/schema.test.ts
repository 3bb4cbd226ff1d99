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
    await expect(schemaSql()).toMatchFileSnapshot("../etc/schema.sql");
  });

  it("comments on every table and column", () => {
    const text = schemaSql();
    const columns = text.match(/^ {2}[a-z_]+ (?:text|bigint|integer|numeric|jsonb|boolean)/gm) ?? [];
    expect(text.match(/^COMMENT ON COLUMN /gm)).toHaveLength(columns.length);
    expect(text.match(/^COMMENT ON TABLE /gm)).toHaveLength(4);
  });

  it("begins every key and index with the tenant", () => {
    const keys = schemaSql({ partitions: 2 }).match(/(?:PRIMARY KEY|UNIQUE|USING btree) \((\w+)/g) ?? [];
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((key) => !key.endsWith("(tenant_id"))).toEqual([]);
  });

  it.each<[SchemaOptions, string]>([
    [{ schema: "" }, "schema"],
    [{ schema: "é".repeat(40) }, "schema"],
    [{ partitions: 1 }, "partitions"],
    [{ partitions: 2.5 }, "partitions"],
    [{ partitions: Number.NaN }, "partitions"],
  ])("refuses %o", (options, setting) => {
    const error = refusal(() => schemaSql(options));
    expect(isMemoryError(error, "MEMORY_SETTINGS") ? error.setting : error).toBe(setting);
  });

  it("has a step for every version that there was, and none for another", () => {
    expect(migrationSql(SCHEMA_VERSION)).toBe("");
    expect(
      isMemoryError(
        refusal(() => migrationSql(SCHEMA_VERSION + 1)),
        "MEMORY_SETTINGS",
      ),
    ).toBe(true);
  });
});

describe("memory-postgres-schema", () => {
  it("prints the same text", () => {
    expect(print()).toBe(schemaSql());
    expect(print("--schema", "other", "--partitions", "4", "--row-security")).toBe(
      schemaSql({ schema: "other", partitions: 4, rowSecurity: true }),
    );
  });

  it.each([["--schema", ""], ["--partitions", "many"], ["--nonsense"]])("refuses %s %s with its usage", (...args) => {
    const error = refusal(() => print(...args));
    expect(error).toMatchObject({ status: 2, stderr: expect.stringContaining("memory-postgres-schema [") });
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
