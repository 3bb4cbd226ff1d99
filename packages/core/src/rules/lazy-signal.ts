// An abort signal made cheaply: one costs more than a whole keyed operation in memory, and most drivers never ask for
// it, so it comes into being when it is first looked at.

/** An abort signal that is made when it is first read, already aborted if it was aborted before. */
export class LazySignal {
  #controller: AbortController | undefined = undefined;
  #isAborted = false;
  #reason: unknown = undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Aborts; only the first reason counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
