// Listening to a call, whoever made it: no signal of ours is made for it, and it is told once.

import { expect, it } from "vitest";
import { LazySignal, onAbort } from "./lazy-signal.ts";

/** A call of ours, and one of another make. */
const kinds = ["ours", "another's"] as const;

function callOf(kind: (typeof kinds)[number]) {
  const lazy = new LazySignal();
  const controller = new AbortController();
  const ours = {
    get signal() {
      return lazy.signal;
    },
    onAbort: (stop: () => void) => lazy.onAbort(stop),
  };
  return kind === "ours"
    ? { call: ours, abort: (reason: unknown) => lazy.abort(reason) }
    : { call: { signal: controller.signal }, abort: (reason: unknown) => controller.abort(reason) };
}

for (const kind of kinds) {
  it(`who listens to a call of ${kind} hears of its end once`, () => {
    const { call, abort } = callOf(kind);
    let heard = 0;
    onAbort(call, () => {
      heard += 1;
    });
    expect(heard).toBe(0);
    abort("first");
    abort("second");
    expect(heard).toBe(1);
    expect(call.signal.reason).toBe("first");
  });

  it(`who comes late to a call of ${kind} hears at once`, () => {
    const { call, abort } = callOf(kind);
    abort("over");
    let heard = 0;
    const release = onAbort(call, () => {
      heard += 1;
    });
    release();
    expect(heard).toBe(1);
  });

  it(`who has left a call of ${kind} hears nothing, and the others do`, () => {
    const { call, abort } = callOf(kind);
    const heard: string[] = [];
    const release = onAbort(call, () => heard.push("left"));
    onAbort(call, () => heard.push("stayed"));
    release();
    abort("over");
    expect(heard).toEqual(["stayed"]);
  });
}

it("a signal that was read before and one that is read after tell of the same end", () => {
  const lazy = new LazySignal();
  const { signal } = lazy;
  lazy.abort("over");
  expect(signal.aborted).toBe(true);
  expect(lazy.signal.reason).toBe("over");
});
