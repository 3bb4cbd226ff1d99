// Which stores the demo binds, and nothing else: everything beside this file and those that it imports is written against
// `MemoryStore`. A place that is named takes the place of the one in this process; the rest of the demo is the same.

import { resolve } from "node:path";
import type { MemoryStore } from "@memory/core";
import { InMemoryMemoryStore, type InMemorySection } from "@memory/core/in-memory";
import { type RoutedMembers, RoutedMemoryStore } from "@memory/routed";
import type { Database, Model, StoreWishes } from "./database.ts";
import { startEmbedded } from "./embedded.ts";
import { onPostgres, onRedis, type Scratch } from "./servers.ts";

/** Stores that were bound. */
export interface Bound {
  /** The one that closes them all. */
  readonly store: MemoryStore;
  readonly members: RoutedMembers;
}

/** Something that stores can be bound on. */
export interface Engine {
  /** What a person is told of each member. */
  readonly places: Readonly<Record<keyof RoutedMembers, string>>;
  /** What to do to begin anew; `undefined` where nothing is kept. */
  readonly startOver?: string | undefined;
  open(wishes: StoreWishes): Bound;
  /** Stops what the engine started, after its stores were closed. */
  close(): Promise<void>;
}

/** Where things are kept; in this process, for as long as it lasts, where nothing is named. */
export interface EngineOptions {
  /** A folder for profiles, episodes and vectors: PostgreSQL runs in this process and keeps its data there. */
  readonly data?: string | undefined;
  /** A server for them instead: its connection string. */
  readonly postgres?: string | undefined;
  /** A server for working memory: its connection string. */
  readonly redis?: string | undefined;
  readonly embedder: Model;
}

/**
 * Starts the engine that is asked for.
 *
 * @throws {EngineError} A place that was named cannot be used.
 * @throws {MemorySettingsError} A connection string is none.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const scratch = options.redis === undefined ? HERE : onRedis(options.redis);
  const database = await openDatabase(options);
  const { where, startOver } = database;
  return {
    places: { working: scratch.where, durable: where, semantic: where },
    startOver,
    open: (wishes) => {
      const members = { working: scratch.open(wishes.clock), ...database.open(wishes) };
      return { members, store: new RoutedMemoryStore(members) };
    },
    close: () => database.close(),
  };
}

async function openDatabase({ data, postgres, embedder }: EngineOptions): Promise<Database> {
  if (postgres !== undefined) return await onPostgres(postgres, embedder);
  if (data !== undefined) return await startEmbedded(resolve(data), embedder);
  return {
    where: HERE.where,
    open: ({ clock, ...rules }) => ({
      durable: new InMemoryMemoryStore({ clock, without: without("profile", "episodic"), ...rules }),
      semantic: new InMemoryMemoryStore({
        clock,
        without: without("semantic"),
        embeddingDimensions: embedder.dimensions,
      }),
    }),
    close: async () => {},
  };
}

const KINDS: readonly InMemorySection[] = ["working", "profile", "episodic", "semantic"];

function without(...held: readonly InMemorySection[]): readonly InMemorySection[] {
  return KINDS.filter((kind) => !held.includes(kind));
}

const HERE: Scratch = {
  where: "in this process",
  open: (clock) => new InMemoryMemoryStore({ clock, without: without("working") }),
};
