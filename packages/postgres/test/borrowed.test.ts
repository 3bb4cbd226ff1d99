// Which clients a store borrows. None of them connects: it is told from their options.

import postgres from "postgres";
import { expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";

const DSN = "postgres://localhost/none";
const refused = expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "sql" });
const typed = (to: number, serialize: (value: unknown) => unknown) =>
  postgres(DSN, { types: { own: { to, from: [], serialize, parse: (text: string) => text } } });

it("borrows a client whose types and transforms leave texts, numbers and booleans as they are sent", () => {
  const clients = [
    postgres(DSN, { types: { bigint: postgres.BigInt }, transform: { ...postgres.camel, undefined: null } }),
    typed(3802, (value) => JSON.stringify({ wrapped: value })),
    typed(25, (value) => value),
  ];
  for (const sql of clients) expect(new PostgresMemoryStore(sql)).toBeInstanceOf(PostgresMemoryStore);
});

it.each([
  ["trims texts", typed(25, (value) => `${value}`.trim())],
  ["wants texts to be of its own", typed(25, (value) => Reflect.get(Object(value), "own").text)],
  ["says numbers its way", typed(20, (value) => `0x${value}`)],
  ["says booleans its way", typed(16, (value) => (value === true ? "no" : "yes"))],
  ["never gives a reserved connection", postgres(DSN, { fetch_types: false })],
])("refuses a client that %s", (_name, sql) => {
  expect(() => new PostgresMemoryStore(sql)).toThrow(refused);
});
