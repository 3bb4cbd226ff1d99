// The statements of a transaction, in order, whatever of them fails.

import { expect, it } from "vitest";
import type { Row, Step } from "../sql/executor.ts";
import { sequence } from "./send.ts";

const WORK = { text: "UPDATE t", params: [] };

/** What a server of which these statements fail was sent, and what the caller was told. */
async function sent(failures: Readonly<Record<string, readonly Error[]>>): Promise<readonly string[]> {
  const left = new Map(Object.entries(failures).map(([text, errors]) => [text, [...errors]]));
  const texts: string[] = [];
  const step: Step = async ({ text }): Promise<readonly Row[]> => {
    const [word = ""] = text.split(" ");
    texts.push(word);
    const error = left.get(word)?.shift();
    if (error !== undefined) throw error;
    return [];
  };
  const told = await sequence(step, (run) => run(WORK)).then(
    () => "done",
    (error: Error) => error.message,
  );
  return [...texts, told];
}

const cancelled = (): Error => Object.assign(new Error("57014"), { name: "PostgresError", code: "57014" });
const closed = (): Error => Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" });

it.each([
  ["goes through", {}, ["BEGIN", "UPDATE", "COMMIT", "done"]],
  ["fails", { UPDATE: [cancelled()] }, ["BEGIN", "UPDATE", "ROLLBACK", "57014"]],
  ["fails to commit", { COMMIT: [cancelled()] }, ["BEGIN", "UPDATE", "COMMIT", "ROLLBACK", "57014"]],
  ["loses its connection", { UPDATE: [closed()] }, ["BEGIN", "UPDATE", "closed"]],
  [
    "is cancelled once more as it is taken back",
    { UPDATE: [cancelled()], ROLLBACK: [cancelled()] },
    ["BEGIN", "UPDATE", "ROLLBACK", "ROLLBACK", "57014"],
  ],
])("a transaction that %s leaves none open", async (_, failures, texts) => {
  expect(await sent(failures)).toEqual(texts);
});
