// What a store is made of, once its options are checked, and how one operation runs: its call, its event, its refusals.
// The operations themselves stand beside this file, one file a kind.

import { type Clock, SystemClock } from "../clock.ts";
import { deriveCapabilities, type MemoryCapabilities, type MemoryCapability } from "../model/capabilities.ts";
import type { MemoryDriver } from "../model/driver.ts";
import type { DerivedIndex } from "../model/erasure.ts";
import { CapabilityError, isMemoryError, MemorySettingsError } from "../model/errors.ts";
import type { MemoryEvent, MemoryOperationEvent } from "../model/event.ts";
import type { CallOptions } from "../model/protocol.ts";
import { type OptionsName, type Parsed, parseOptions } from "../model/query.ts";
import { type EpochMs, MAX_INSTANT, type MemoryKind } from "../model/record.ts";
import type { MemoryReach } from "../model/scope.ts";
import { DEFAULT_MAX_VALUE_BYTES } from "../rules/admission.ts";
import { type ContradictionPolicy, SupersedeMatching } from "../rules/contradictions.ts";
import type { DecayPolicy } from "../rules/decay.ts";
import { type GuardedDriver, guardDriver, OperationCall } from "../rules/guard.ts";
import { closedError, InFlight } from "../rules/in-flight.ts";
import { outcomeOf } from "../rules/outcome.ts";
import { type MemoryRedactor, PatternRedactor } from "../rules/redaction.ts";
import { retryBudgetMs } from "../rules/retry.ts";
import type { WriteRules } from "../rules/write.ts";
import { type MemoryStoreSettings, type RuntimeSettings, runtimeSettings } from "../settings.ts";

/**
 * What every store takes.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface MemoryStoreOptions {
  /** Where the time comes from; default the machine's clock. */
  readonly clock?: Clock | undefined;
  /** What masks secrets before anything is stored or compared; default `new PatternRedactor()`; `null`: nothing does. */
  readonly redactor?: MemoryRedactor | null | undefined;
  /** The largest value, in UTF-8 JSON bytes; never above what the driver takes. */
  readonly maxValueBytes?: number | undefined;
  /** What an incoming fact does to what is held; default `new SupersedeMatching()`. */
  readonly contradictions?: ContradictionPolicy | undefined;
  /** How facts lose weight with age; default not at all. */
  readonly decay?: DecayPolicy | undefined;
  /** Where derived artefacts are kept; each name once. */
  readonly derivedIndices?: readonly DerivedIndex[] | undefined;
  /** Gets one content-free event per operation. What it throws is ignored. */
  readonly onEvent?: ((event: MemoryEvent) => void) | undefined;
  /** Random numbers in [0, 1) for the jitter of retries; default `Math.random`. */
  readonly entropy?: (() => number) | undefined;
  /** Retry, deadlines and the gate; defaults as in `memoryStoreSettings`. */
  readonly settings?: Partial<MemoryStoreSettings> | undefined;
}

/** What each option has to be, as a check and in words. */
const OPTION_TYPES: Readonly<Record<string, readonly [is: (value: unknown) => boolean, needed: string]>> = {
  clock: [(value) => hasMethods(value, "now", "sleep"), "a clock has now() and sleep(ms, signal)"],
  redactor: [
    (value) => value === null || hasMethods(value, "redact"),
    "a redactor has redact(text); null masks nothing",
  ],
  maxValueBytes: [
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
    "maxValueBytes is a whole number of 1 or more",
  ],
  contradictions: [(value) => hasMethods(value, "judge"), "a contradiction policy has judge(incoming, newest)"],
  decay: [(value) => hasMethods(value, "weigh"), "a decay policy has weigh(record, at)"],
  derivedIndices: [
    (value) => Array.isArray(value) && value.every((one) => hasMethods(one, "purge")),
    "derivedIndices is an array of indices, each with a name and purge(entries)",
  ],
  onEvent: [(value) => typeof value === "function", "onEvent is a function"],
  entropy: [(value) => typeof value === "function", "entropy is a function that gives numbers in [0, 1)"],
  settings: [
    (value) => typeof value === "object" && value !== null,
    "settings is an object, as memoryStoreSettings gives it",
  ],
};

/** A store's parts. */
export class StoreContext {
  readonly driver: GuardedDriver;
  /** What it was given, its settings and `maxValueBytes` filled in. */
  readonly options: MemoryStoreOptions;
  readonly capabilities: MemoryCapabilities;
  readonly rules: WriteRules;
  readonly policy: ContradictionPolicy;
  readonly decay: DecayPolicy | undefined;
  readonly indices: readonly DerivedIndex[];
  readonly settings: RuntimeSettings;
  readonly clock: Clock;
  readonly entropy: () => number;
  readonly budgetMs: number;
  readonly #onEvent: ((event: MemoryEvent) => void) | undefined;
  readonly #inFlight: InFlight = new InFlight();
  #closing: Promise<void> | undefined = undefined;

  /** @throws {MemorySettingsError} An option is unknown or of a wrong type. */
  constructor(driver: MemoryDriver, options: MemoryStoreOptions) {
    checkOptions(options);
    const largest = driver.maxValueBytes ?? DEFAULT_MAX_VALUE_BYTES;
    const maxValueBytes = Math.min(options.maxValueBytes ?? largest, largest);
    this.clock = options.clock ?? new SystemClock();
    this.entropy = options.entropy ?? Math.random;
    this.settings = runtimeSettings(options.settings);
    this.budgetMs = retryBudgetMs(this.settings);
    this.driver = guardDriver(driver, {
      clock: this.clock,
      entropy: this.entropy,
      settings: this.settings,
    });
    this.options = { ...options, maxValueBytes, settings: this.settings };
    this.capabilities = deriveCapabilities(driver, maxValueBytes);
    this.rules = {
      redactor: options.redactor === undefined ? new PatternRedactor() : options.redactor,
      maxValueBytes,
    };
    this.policy = options.contradictions ?? new SupersedeMatching();
    this.decay = options.decay;
    this.indices = options.derivedIndices ?? [];
    this.#onEvent = options.onEvent;
  }

  /** The store's clock, in whole milliseconds. @throws {MemorySettingsError} It gives something else than an instant. */
  now(): EpochMs {
    const now: unknown = this.clock.now();
    if (typeof now === "number" && Math.abs(now) <= MAX_INSTANT) return Math.trunc(now) + 0;
    throw new MemorySettingsError("the clock gives something else than an instant", { setting: "clock" });
  }

  /** A section of the driver. @throws {CapabilityError} The driver does not hold it. */
  section<Name extends MemoryKind | "erasure">(name: Name): NonNullable<MemoryDriver[Name]> {
    const section: MemoryDriver[Name] = this.driver[name];
    if (section === undefined) throw this.refusal([name]);
    return section;
  }

  /** Refuses what a section does not offer. @throws {CapabilityError} */
  need(capability: MemoryCapability, offered: true | undefined): void {
    if (offered !== true) throw this.refusal([capability]);
  }

  /** Refuses `reach: "under"` where the section does not offer it. @throws {CapabilityError} */
  needReach(reach: MemoryReach, offered: true | undefined): MemoryReach {
    if (reach === "under") this.need("reach", offered);
    return reach;
  }

  refusal(missing: readonly string[]): CapabilityError {
    return new CapabilityError(`the store ${this.driver.name} lacks: ${missing.join(", ")}`, {
      adapter: this.driver.name,
      missing,
    });
  }

  /**
   * Runs one operation: its options are checked, its call is made, and however it ends one event tells of it. Rejects,
   * and never throws, whatever is wrong with its input.
   */
  async operate<Name extends OptionsName, T>(
    kind: MemoryKind | null,
    operation: string,
    name: Name,
    options: CallOptions | undefined,
    body: (call: OperationCall, options: Parsed<Name>) => T | Promise<T>,
  ): Promise<T> {
    const started = this.now();
    let call: OperationCall | undefined;
    this.#inFlight.enter();
    try {
      if (this.#closing !== undefined) throw closedError(this.driver.name);
      const parsed: Parsed<Name> = parseOptions(name, options);
      const signal = options?.signal;
      call = new OperationCall({ now: started, budgetMs: this.budgetMs, signal });
      signal?.throwIfAborted();
      const answer = await body(call, parsed);
      this.#report(kind, operation, started, call, "ok");
      return answer;
    } catch (reason) {
      const error = call === undefined ? reason : outcomeOf(reason, call);
      const outcome = isMemoryError(error) ? error.code : options?.signal?.aborted ? "aborted" : "failed";
      this.#report(kind, operation, started, call, outcome);
      throw error;
    } finally {
      this.#inFlight.leave();
    }
  }

  /**
   * Refuses new operations, lets those in flight (which may take several calls into the driver) end, under the deadline of
   * one attempt, then closes the driver. Every call gives the same promise.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const isDrained = await this.#inFlight.drain(this.clock, this.settings.attemptTimeoutMs);
    // What did not end in this time has had its chance.
    await this.driver.close(isDrained ? undefined : 0);
  }

  /**
   * The call of something that is no single operation: an export, an import. It tells of itself by no event. `before`: the
   * call that it goes on after.
   */
  beginCall(signal: AbortSignal | undefined, before?: OperationCall): OperationCall {
    const { budgetMs } = this;
    return new OperationCall({ now: this.now(), budgetMs, signal, mayHaveEffect: before?.mayHaveEffect });
  }

  /** Hands an event to the operator; what that throws is theirs, and stops nothing. */
  emit(event: MemoryEvent): void {
    try {
      // An observer may be asynchronous, whatever its type says, and then rejects.
      const seen: unknown = this.#onEvent?.(event);
      if (seen instanceof Promise) seen.catch(() => undefined);
    } catch {
      // An observer must not change what it observes.
    }
  }

  #report(
    kind: MemoryKind | null,
    operation: string,
    started: EpochMs,
    call: OperationCall | undefined,
    outcome: MemoryOperationEvent["outcome"],
  ): void {
    if (this.#onEvent === undefined) return;
    this.emit({
      name: "adk.memory.operation",
      store: this.driver.name,
      kind,
      operation,
      durationMs: Math.max(0, this.now() - started),
      attempts: call?.attempts ?? 0,
      outcome,
    });
  }
}

function checkOptions(options: MemoryStoreOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new MemorySettingsError("a store's options are not an object", { setting: "options" });
  }
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(OPTION_TYPES, name) ? OPTION_TYPES[name] : undefined;
    if (type === undefined) {
      throw new MemorySettingsError("a store has an unknown option (its name is in `setting`)", { setting: name });
    }
    const [is, needed] = type;
    if (value !== undefined && !is(value)) {
      throw new MemorySettingsError(`the option ${name} is not what it must be: ${needed}`, { setting: name });
    }
  }
  const names = (options.derivedIndices ?? []).map((index) => index.name);
  if (new Set(names).size !== names.length || names.some((name) => typeof name !== "string" || name === "")) {
    throw new MemorySettingsError("every derived index needs a name of its own", { setting: "derivedIndices" });
  }
}

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")
  );
}
