// The callers of one store: each chooses its next operation by the seed, says in the history what it is about to do, does
// it, and says what came of it. Errors and events are searched for the canary where they arise.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { DerivedIndex, MemoryEvent, MemoryStore } from "@memory/core";
import { findCanary } from "./canary.ts";
import { Dice } from "./dice.ts";
import { type CallArgs, monotonicMs, type Recorder } from "./history.ts";
import { OPERATIONS, operationNamed } from "./operations/all.ts";
import { artefactOf, partialAnswer } from "./operations/erasure.ts";
import { type Caller, isOffered, type Operation } from "./operations/operation.ts";
import { endingOf, GivenUp, INDEX } from "./outcome.ts";
import type { World } from "./world.ts";

/** What the callers of a store are made of. */
export interface WorkloadPlan {
  readonly seed: number;
  /** The store's name in the table of stores. */
  readonly name: string;
  /** The client process and its life, which begins the ids of its calls. */
  readonly client: string;
  readonly world: World;
  readonly callers: number;
  /** A caller waits between 0 and twice this between two calls. */
  readonly thinkMs: number;
  readonly record: Recorder;
  /** Told of each call that settled: its operation, how long it took, and whether it was acknowledged. */
  readonly onSettled?: (op: string, tookMs: number, isOk: boolean) => void;
}

/** A derived index in which nothing is, and that can be out of reach. */
export interface RemoteIndex {
  isDown: boolean;
}

// Which call an event belongs to: events come in the asynchronous context of their operation.
const current = new AsyncLocalStorage<{ attempts: number }>();

/** The callers of one store. */
export class Workload {
  /** Calls that have not settled, by id. */
  readonly pending: Set<string> = new Set();
  readonly #plan: WorkloadPlan;
  #count = 0;
  #isOver = false;

  constructor(plan: WorkloadPlan) {
    this.#plan = plan;
  }

  /** What a store of this workload is opened with. */
  optionsFor(index: RemoteIndex): {
    readonly onEvent: (event: MemoryEvent) => void;
    readonly derivedIndices: readonly DerivedIndex[];
  } {
    const { world, record, name } = this.#plan;
    const purge = async (_scope: unknown, ids: readonly string[]): Promise<void> => {
      if (index.isDown) throw new Error(`the derived index of ${world.canary} is out of reach`);
      const artefacts = ids.map((id) => artefactOf(world.canary, id));
      record({ line: "purge", at: monotonicMs(), store: name, artefacts });
    };
    return { onEvent: (event) => this.#hear(event), derivedIndices: [{ name: INDEX, purge }] };
  }

  /** Calls until told to stop. Resolves when every call has settled. */
  async run(store: MemoryStore): Promise<void> {
    const { seed, name, client, callers } = this.#plan;
    const each = Array.from({ length: callers }, (_, number) =>
      this.#work({
        store,
        world: this.#plan.world,
        dice: Dice.of(seed, `${client} ${name} ${number}`),
        known: new Map(),
        logged: [],
      }),
    );
    await Promise.all(each);
  }

  /** Lets every caller end with the call that it is in. */
  stop(): void {
    this.#isOver = true;
  }

  /** Makes one call and records it. */
  async call(caller: Caller, operation: Operation, given?: CallArgs): Promise<void> {
    const { client, name, record, onSettled } = this.#plan;
    this.#count += 1;
    const id = `${client}.${name}.${this.#count}`;
    const args = given ?? operation.draw(caller, id);
    if (args === undefined) return;
    const abort = new AbortController();
    const timer =
      args.abortMs === undefined ? undefined : setTimeout(() => abort.abort(new GivenUp("given up")), args.abortMs);
    const at = monotonicMs();
    record({ line: "call", id, at, store: name, op: operation.name, args });
    this.pending.add(id);
    const count = { attempts: 0 };
    const options = args.abortMs === undefined ? {} : { signal: abort.signal };
    try {
      const answer = await current.run(count, () => operation.perform(caller, id, args, options));
      record({ line: "end", id, at: monotonicMs(), outcome: "ok", attempts: count.attempts, answer });
      onSettled?.(operation.name, monotonicMs() - at, true);
    } catch (error) {
      const answer = partialAnswer(error);
      const ending = { ...endingOf(error), attempts: count.attempts, ...(answer === undefined ? {} : { answer }) };
      record({ line: "end", id, at: monotonicMs(), ...ending });
      onSettled?.(operation.name, monotonicMs() - at, false);
      this.#search("error", error, ending.code);
    } finally {
      clearTimeout(timer);
      this.pending.delete(id);
    }
  }

  async #work(caller: Caller): Promise<void> {
    const { thinkMs } = this.#plan;
    const offered = OPERATIONS.filter((one) => isOffered(caller, one)).map((one) => [one.weight, one.name] as const);
    while (!this.#isOver) {
      // So that no kind of memory is a sideline of a store that holds several.
      const operation = operationNamed(caller.dice.weighted(offered));
      const giveUp = caller.dice.chance(0.03) ? caller.dice.between(0, 40) : undefined;
      const drawn = giveUp === undefined ? operation : givenUp(operation, giveUp);
      await this.call(caller, drawn);
      await pause(caller.dice.next() * 2 * thinkMs);
    }
  }

  #hear(event: MemoryEvent): void {
    const count = current.getStore();
    if (count !== undefined && event.name === "adk.memory.operation") count.attempts += event.attempts;
    this.#search("event", event, event.name);
  }

  #search(what: string, where: unknown, name: string): void {
    const found = findCanary(this.#plan.world.canary, where);
    if (found === undefined) return;
    this.#plan.record({ line: "flaw", at: monotonicMs(), what: "leak", detail: `${what} ${name}, in its ${found}` });
  }
}

function givenUp(operation: Operation, abortMs: number): Operation {
  return {
    ...operation,
    draw: (caller, id) => {
      const args = operation.draw(caller, id);
      return args && { ...args, abortMs };
    },
  };
}
