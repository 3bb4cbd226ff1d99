// The demo's arguments: what they may be, and how a person is told.

import { parseArgs } from "node:util";
import type { EngineOptions } from "./engine.ts";

const DEFAULT_EMBEDDED = 100;

/** What `--help` says, and what follows the refusal of an argument. */
export const HELP = `npm run demo                        a walk through what memory does, on a few short conversations
npm run demo -- --input FILE        replays the conversations of FILE and checks every answer

  --input FILE    one conversation a line, as JSON:
                  { id, services, turns: [{ speaker: "user" | "system", text, state? }] }
                  \`state\` is what is annotated to hold after the turn: { service: { slot: value } }
  --embed N|all   how many user turns of FILE are embedded, from the first on (default ${DEFAULT_EMBEDDED}; 10 to 20 ms each)
  --data DIR      where all but working memory is kept, by PostgreSQL in this process (default .memory)
  --postgres DSN  or on this server, with pgvector; the tables are made in a schema of their own, memory_demo, and kept
  --redis URL     where working memory is kept (default: in this process); keys begin with memory-demo and last a day
  --help          this

Exit code 1 when an answer differs from what it has to be, or an argument, FILE or a server cannot be used.
`;

/** What was asked for. */
export interface Arguments extends Omit<EngineOptions, "embedder"> {
  readonly help: boolean;
  readonly input: string | undefined;
  /** The most user turns to embed. */
  readonly embed: number;
}

/** An argument cannot be used; the message says which. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

/** Reads them. @throws {ArgumentError} One is unknown, of a wrong form, or does not go with another. */
export function parseArguments(args: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean" },
        input: { type: "string" },
        embed: { type: "string" },
        data: { type: "string" },
        postgres: { type: "string" },
        redis: { type: "string" },
      },
    });
    const { help = false, input, embed, ...places } = values;
    if (places.data !== undefined && places.postgres !== undefined) {
      throw new ArgumentError("--data and --postgres are two places for the same");
    }
    return { help, input, embed: parseEmbed(embed), ...places };
  } catch (error) {
    if (error instanceof TypeError) throw new ArgumentError(error.message);
    throw error;
  }
}

function parseEmbed(text: string | undefined): number {
  if (text === undefined) return DEFAULT_EMBEDDED;
  if (text === "all") return Number.POSITIVE_INFINITY;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ArgumentError('--embed takes a whole number, or "all"');
}
