// What a store tells its operator: one content-free event per operation, fit for metrics and spans. No event ever holds
// a value, a key, an id or a scope part.

import type { MemoryErrorCode } from "./errors.ts";
import type { MemoryKind } from "./record.ts";

/** What `onEvent` gets. */
export type MemoryEvent = MemoryOperationEvent | MemoryErasedEvent | MemoryWarningEvent;

/** One operation has settled. */
export interface MemoryOperationEvent {
  readonly name: "adk.memory.operation";
  /** The adapter's name. */
  readonly store: string;
  /** The kind it was about; `null` for operations over several (`erase`, `verify`). */
  readonly kind: MemoryKind | null;
  /** The method's name: `append`, `supersede`, `search`. */
  readonly operation: string;
  /** Milliseconds by the store's clock, waiting for the gate and retries included. */
  readonly durationMs: number;
  /** Calls into the driver, repeated ones included; 0 when it was refused before the first. */
  readonly attempts: number;
  /**
   * `ok`; the code of the error that it rejected with; `aborted` by the caller's signal; `failed` where what the caller
   * brought (a redactor, a policy) threw.
   */
  readonly outcome: "ok" | "aborted" | "failed" | MemoryErrorCode;
}

/** An erasure has been carried out (never for a dry run). */
export interface MemoryErasedEvent {
  readonly name: "adk.memory.erased";
  readonly store: string;
  readonly counts: Readonly<Partial<Record<MemoryKind, number>>>;
  readonly records: number;
  readonly artefacts: number;
  readonly sharedArtefacts: number;
  readonly adapters: readonly string[];
  readonly outstanding: readonly string[];
  readonly complete: boolean;
}

/** `verify()` found something unwise. */
export interface MemoryWarningEvent {
  readonly name: "adk.memory.warning";
  readonly store: string;
  /** A stable code, for example `redis-eviction`. */
  readonly code: string;
  readonly message: string;
}
