// A driver that does as it is told: each call of a working method plays the next step of its script.

import type { DriverCall, MemoryDriver, WorkingSection } from "../src/model/driver.ts";
import { MemoryCorruptionError, MemorySchemaError } from "../src/model/errors.ts";

/** What a call does: succeed, fail in a certain way, or leave its caller waiting until it is let go. */
export type Step = "ok" | "transient" | "clean" | "fatal" | "exhausted" | "own" | "narrow" | "throw" | "hang";

/** A failure, which the driver knows by its name. */
class Fault extends Error {
  readonly step: Step;
  constructor(step: Step) {
    super(`row data: ${step}`);
    this.step = step;
  }
}

/** A call that hangs. */
export interface Hanging {
  readonly call: DriverCall;
  answer(): void;
  fail(step: Step): void;
}

/** A driver with a working section only, and what happened to it. */
export interface FaultyDriver extends MemoryDriver {
  readonly working: WorkingSection;
  readonly calls: DriverCall[];
  readonly hanging: Hanging[];
  readonly closes: number;
}

/** Plays `script`, and "ok" after its end (or for ever its last step, when `isLoop`). */
export function faultyDriver(
  script: readonly Step[],
  options: {
    readonly isLoop?: boolean;
    readonly concurrency?: number;
    readonly client?: object;
    readonly close?: () => Promise<void>;
  } = {},
): FaultyDriver {
  const calls: DriverCall[] = [];
  const hanging: Hanging[] = [];
  let closes = 0;
  const play = <R>(value: R, call: DriverCall): Promise<R> => {
    const last = options.isLoop ? script.at(-1) : undefined;
    const step = script[calls.length] ?? last ?? "ok";
    calls.push(call);
    if (step === "throw") throw new Fault("fatal");
    if (step === "ok") return Promise.resolve(value);
    if (step !== "hang") return Promise.reject(faultOf(step));
    return new Promise((resolve, reject) => {
      hanging.push({ call, answer: () => resolve(value), fail: (late) => reject(faultOf(late)) });
    });
  };
  const is = (error: unknown, ...steps: readonly Step[]) => error instanceof Fault && steps.includes(error.step);
  return {
    name: "faulty",
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.client === undefined ? {} : { client: options.client }),
    calls,
    hanging,
    get closes() {
      return closes;
    },
    working: {
      put: (_request, call) => play(undefined, call),
      get: (_request, call) => play(null, call),
      append: (_request, call) => play({ outcome: "appended", length: 1 }, call),
      expire: (_request, call) => play(true, call),
      keys: (_request, call) => play([], call),
    },
    isTransient: (error) => is(error, "transient", "clean"),
    isExhausted: (error) => is(error, "exhausted"),
    hadNoEffect: (error) => is(error, "clean"),
    toMemoryError: (error) =>
      is(error, "narrow") ? new MemorySchemaError("no table", { findings: ["no table"] }) : undefined,
    close: () => {
      closes += 1;
      return options.close?.() ?? Promise.resolve();
    },
  };
}

/** A failure of that kind, as a call rejects with. */
export function faultOf(step: Step): Error {
  return step === "own" ? new MemoryCorruptionError("damaged", { id: null, payload: null }) : new Fault(step);
}
