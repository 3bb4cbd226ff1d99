// The demo's surroundings in a test: what it writes is kept, the time taken is nothing, and the sentence model is the
// real one, loaded once a file.

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryStore } from "@memory/core";
import { runDemo } from "../src/demo.ts";
import { type Embedder, sentenceEmbedder } from "../src/embed.ts";
import { type Engine, type EngineOptions, startEngine } from "../src/engine.ts";

/** What a run left. */
export interface Run {
  readonly code: number;
  readonly output: string;
  readonly complaints: string;
  /** Whether a store was opened at all. */
  readonly wasOpened: boolean;
}

/** How a run differs from a plain one. */
export interface Twist {
  /** Stands between the demo and its store. */
  readonly wrap?: (store: MemoryStore) => MemoryStore;
  /** Starts the engine that the arguments ask for; by default the in-memory one, whatever they ask for. */
  readonly startEngine?: (options: EngineOptions) => Promise<Engine>;
  readonly isTTY?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

const embedder: Embedder = sentenceEmbedder();

/** Runs the demo. */
export async function run(args: readonly string[], twist: Twist = {}): Promise<Run> {
  const {
    wrap = (store) => store,
    startEngine: start = () => startEngine({ embedder }),
    isTTY = false,
    environment = {},
  } = twist;
  const output: string[] = [];
  const complaints: string[] = [];
  let wasOpened = false;
  const code = await runDemo(args, {
    output: { isTTY, write: (text) => output.push(text) },
    complaints: { write: (text) => complaints.push(text) },
    environment,
    startEngine: async (options) => {
      const engine = await start(options);
      wasOpened = true;
      const open: Engine["open"] = (wishes) => {
        const bound = engine.open(wishes);
        return { ...bound, store: wrap(bound.store) };
      };
      return { ...engine, open };
    },
    embedder,
    elapsedMs: () => 0,
  });
  return { code, output: output.join(""), complaints: complaints.join(""), wasOpened };
}

/** The same store with some operations replaced. */
export function withOperations(store: MemoryStore, replaced: Partial<MemoryStore>): MemoryStore {
  return new Proxy(store, {
    get: (target, name) => {
      const found: unknown = Reflect.get(Object.hasOwn(replaced, name) ? replaced : target, name, target);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

/** A file with this text, in a folder of its own. */
export async function fileOf(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "quickstart-")), "conversations.jsonl");
  await writeFile(file, text);
  return file;
}
