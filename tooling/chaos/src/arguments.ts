// What the command is asked for.

import { parseArgs } from "node:util";
import { defaultStores, storeNamed } from "./stores.ts";

/** Seeded runs. */
export interface RunsWish {
  readonly runs: number;
  readonly ms: number;
  readonly seed: number;
  readonly stores: readonly string[];
  readonly parallel: number;
  /** Keeps every history, not only those with violations. */
  readonly keeps: boolean;
}

/** One long run at a steady load. */
export interface SoakWish {
  readonly ms: number;
  readonly callers: number;
  readonly failoverEveryMs: number;
  readonly stores: readonly string[];
  readonly seed: number;
}

/** Either. */
export type Wish = { readonly runs: RunsWish } | { readonly soak: SoakWish };

/** Reads the arguments. @throws {RangeError} They ask for something that is not. */
export function readArguments(args: readonly string[]): Wish {
  const { values } = parseArgs({
    args: args.filter((argument) => argument !== "--"),
    options: {
      runs: { type: "string", default: "1" },
      seconds: { type: "string", default: "20" },
      seed: { type: "string" },
      replay: { type: "string" },
      only: { type: "string" },
      parallel: { type: "string", default: "1" },
      keep: { type: "boolean", default: false },
      soak: { type: "string" },
      callers: { type: "string", default: "64" },
      "failover-every": { type: "string", default: "30s" },
    },
  });
  const stores = values.only?.split(",") ?? defaultStores();
  for (const name of stores) storeNamed(name);
  const seed = wholeNumber("seed", values.replay ?? values.seed ?? `${Math.floor(Math.random() * 1_000_000) * 1_000}`);
  if (values.soak !== undefined) {
    const callers = wholeNumber("callers", values.callers);
    const failoverEveryMs = milliseconds("failover-every", values["failover-every"]);
    return { soak: { ms: milliseconds("soak", values.soak), callers, failoverEveryMs, stores, seed } };
  }
  return {
    runs: {
      runs: values.replay === undefined ? wholeNumber("runs", values.runs) : 1,
      ms: wholeNumber("seconds", values.seconds) * 1_000,
      seed,
      stores,
      parallel: wholeNumber("parallel", values.parallel),
      keeps: values.keep || values.replay !== undefined,
    },
  };
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new RangeError(`--${name} is no whole number: ${text}`);
  return number;
}

function milliseconds(name: string, text: string): number {
  const [, count = "", unit = ""] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  const scale = { ms: 1, s: 1_000, m: 60_000 }[unit];
  if (scale === undefined) throw new RangeError(`--${name} is no duration such as 30s or 15m: ${text}`);
  return Number(count) * scale;
}
