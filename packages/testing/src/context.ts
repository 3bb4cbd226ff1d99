// What a case is given to work with: stores over the target's servers, a tenant of its own, a clock, and the few things
// that every case would otherwise write again.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  isMemoryError,
  type MemoryCapabilities,
  type MemoryErrorClasses,
  type MemoryErrorCode,
  type MemoryKind,
  type MemoryScope,
  type MemoryStore,
  type MemoryStoreOptions,
  memoryScope,
} from "@memory/core";
import { assertionError } from "./about.ts";
import type { CaseHook } from "./case.ts";
import { FakeClock } from "./fake-clock.ts";

/** What a case may ask of a store: the options of every store, and those of a working store. */
export interface StoreOptions extends MemoryStoreOptions {
  /** The store's own TTL on working keys. */
  readonly ttlMs?: number;
  /** Whether a read re-arms it. */
  readonly sliding?: boolean;
  /** The most elements that a working sequence holds. */
  readonly maxElements?: number;
}

/** What is under test: a way to open stores over shared servers, and what can be done to these servers. */
export interface ConformanceTarget {
  /** The adapter's name, for the report. Where several targets are reported into one folder, each has its own. */
  readonly name: string;
  /** The adapter's version, for the report. Default: unknown. */
  readonly version?: string;
  /** The server and its version, for the report (`PostgreSQL 18.1`); asked once, before the first case. Default: unknown. */
  server?(): string | Promise<string>;
  /** Opens a store; all that it opens see the same data. It must pass every option on that it is given. */
  open(options: StoreOptions): MemoryStore | Promise<MemoryStore>;
  /** Lets the server's own expiry move on by `ms`; the store's clock is moved already. Nothing to do where core's is used. */
  elapse?(ms: number): void | Promise<void>;
  /** Damages the stored record (one version, if it has several) so that it no longer validates. */
  corrupt?(scope: MemoryScope, kind: MemoryKind, key: string): void | Promise<void>;
}

/** The parts of a scope below its tenant. */
export interface ScopeParts {
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly agent?: string | undefined;
}

/** What a case is given. */
export interface CaseContext {
  /** The clock of every store that the case opens; starts at the real now, rounded. */
  readonly clock: FakeClock;
  /** What the target's stores can do. */
  readonly capabilities: MemoryCapabilities;
  /** A random tenant, this case's own. */
  readonly tenant: string;
  /** A scope of this case's tenant. */
  scope(parts?: ScopeParts): MemoryScope;
  /** The same parts under another random tenant, always the same one in a case. */
  foreign(parts?: ScopeParts): MemoryScope;
  /** Opens a store over the target's servers, on this case's clock unless told otherwise; the harness closes it. */
  open(options?: StoreOptions): Promise<MemoryStore>;
  /** Moves the clock and, through the target, the server's expiry. Needs the hook `elapse`. */
  elapse(ms: number): Promise<void>;
  /** Damages a stored record. Needs the hook `corrupt`. */
  corrupt(scope: MemoryScope, kind: MemoryKind, key: string): Promise<void>;
  /** A unit vector as wide as the store's, the same for the same seed; vectors of near seeds are not near. */
  vector(seed: number): number[];
  /** A random key or id. */
  unique(prefix?: string): string;
  /** Asserts that the promise rejects with an error of that code whose fields equal those given; gives the error back. */
  rejects<C extends MemoryErrorCode>(
    promise: Promise<unknown>,
    code: C,
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<MemoryErrorClasses[C]>;
}

/** A context whose stores are still to be closed. */
export interface OpenContext extends CaseContext, AsyncDisposable {}

/** Makes a case's context; disposing it closes every store that the case opened. */
export function caseContext(target: ConformanceTarget, capabilities: MemoryCapabilities): OpenContext {
  const clock = new FakeClock();
  const tenant = `tenant-${randomUUID()}`;
  const other = `tenant-${randomUUID()}`;
  const opened: MemoryStore[] = [];
  return {
    clock,
    capabilities,
    tenant,
    scope: (parts) => memoryScope({ tenantId: tenant, ...parts }),
    foreign: (parts) => memoryScope({ tenantId: other, ...parts }),
    async open(options) {
      const store = await target.open({ clock, ...options });
      opened.push(store);
      return store;
    },
    async elapse(ms) {
      assert.ok(target.elapse !== undefined, "the target offers no `elapse`: name the hook in the case");
      clock.advance(ms);
      await target.elapse(ms);
    },
    async corrupt(scope, kind, key) {
      assert.ok(target.corrupt !== undefined, "the target offers no `corrupt`: name the hook in the case");
      await target.corrupt(scope, kind, key);
    },
    vector: (seed) => unitVector(capabilities.embeddingDimensions, seed),
    unique: (prefix = "k") => `${prefix}-${randomUUID()}`,
    rejects,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}

/** Which of the hooks the target does not offer. */
export function missingHooks(target: ConformanceTarget, hooks: readonly CaseHook[] | undefined): readonly CaseHook[] {
  return (hooks ?? []).filter((hook) => target[hook] === undefined);
}

async function rejects<C extends MemoryErrorCode>(
  promise: Promise<unknown>,
  code: C,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<MemoryErrorClasses[C]> {
  const error: unknown = await promise.then(
    (answer) => {
      const message = `expected a rejection with ${code}, but it resolved`;
      throw assertionError(message, answer, code, "rejects");
    },
    (reason: unknown) => reason,
  );
  if (!isMemoryError(error, code)) {
    const message = `expected a rejection with ${code}, but it was with ${describeError(error)}`;
    throw assertionError(message, error, code, "rejects");
  }
  for (const [name, expected] of Object.entries(fields)) {
    assert.deepEqual(Reflect.get(error, name), expected, `the error's ${name} is not as expected`);
  }
  return error;
}

function describeError(error: unknown): string {
  return isMemoryError(error) ? `${error.code} (${error.message})` : String(error);
}

function unitVector(dimensions: number | null, seed: number): number[] {
  assert.ok(dimensions !== null, "the store has no vectors: name `semantic` in the case's needs");
  const next = random(seed);
  const raw = Array.from({ length: dimensions }, () => next() - 0.5);
  const length = Math.hypot(...raw);
  return raw.map((component) => Math.fround(component / length));
}

// mulberry32 (public domain, T. Ettinger): small, seedable, and the same everywhere.
function random(seed: number): () => number {
  let state = (Math.imul(seed + 1, 0x9e3779b9) ^ 0x5bd1e995) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
