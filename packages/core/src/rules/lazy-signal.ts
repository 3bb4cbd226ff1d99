// An abort signal made cheaply: one costs more than a whole keyed operation in memory, and what only wants to be told of an
// abort needs none, so it comes into being when it is first looked at.

/** What brings a signal along. */
interface WithSignal {
  readonly signal: AbortSignal;
}

/** A call of ours: to listen to it makes no signal. */
export interface Quiet extends WithSignal {
  /** See {@link onAbort}. */
  onAbort(stop: () => void): () => void;
}

const noop = (): void => {};

/** Calls `stop` once when the call is given up, at once if it is already; what comes back ends that. */
export function onAbort(call: WithSignal, stop: () => void): () => void {
  if (isQuiet(call)) return call.onAbort(stop);
  const { signal } = call;
  if (signal.aborted) {
    stop();
    return noop;
  }
  signal.addEventListener("abort", stop, { once: true });
  return () => signal.removeEventListener("abort", stop);
}

/** An abort signal that is made when it is first read, already aborted if it was aborted before. */
export class LazySignal {
  #controller: AbortController | undefined = undefined;
  #listeners: Set<() => void> | undefined = undefined;
  #isAborted = false;
  #reason: unknown = undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** See {@link onAbort}. */
  onAbort(stop: () => void): () => void {
    if (this.#isAborted) {
      stop();
      return noop;
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(stop);
    return () => listeners.delete(stop);
  }

  /** Aborts; only the first reason counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const stop of this.#listeners ?? []) stop();
    this.#listeners = undefined;
  }
}

function isQuiet(call: WithSignal): call is Quiet {
  return "onAbort" in call;
}
