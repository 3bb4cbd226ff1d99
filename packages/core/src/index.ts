// The callers' door: what an application imports.

export { type Clock, SystemClock } from "./clock.ts";
export { eachEpisode, eachVersion, exportScope, type MemoryExport } from "./export.ts";
export { type ImportReceipt, importRecords } from "./import.ts";
export type { Belief, BeliefPage, Contradiction, Supersession } from "./model/belief.ts";
export {
  type Capable,
  type MemoryCapabilities,
  type MemoryCapability,
  type MemoryNeeds,
  requireMemory,
} from "./model/capabilities.ts";
export type { Metric } from "./model/driver.ts";
export type { Derivation, DerivationPage, DerivedIndex, ErasureReceipt } from "./model/erasure.ts";
export {
  CapabilityError,
  EmbeddingDimensionError,
  isMemoryError,
  MemoryConflictError,
  MemoryContradictionError,
  MemoryCorruptionError,
  MemoryCursorError,
  MemoryError,
  type MemoryErrorClasses,
  type MemoryErrorCode,
  MemoryLimitError,
  MemoryRecordError,
  MemorySchemaError,
  MemoryScopeError,
  MemorySettingsError,
  MemoryUnavailableError,
  PartialErasureError,
  PoolExhaustedError,
} from "./model/errors.ts";
export type { MemoryErasedEvent, MemoryEvent, MemoryOperationEvent, MemoryWarningEvent } from "./model/event.ts";
export type { JsonValue, Scalar } from "./model/json.ts";
export type {
  CallOptions,
  DerivedInput,
  EraseOptions,
  KeyPageOptions,
  MemoryKey,
  MemoryKeyPage,
  MemoryStore,
  ProfileOptions,
} from "./model/protocol.ts";
export type { MemoryHit, MemoryPage, MemoryQuery } from "./model/query.ts";
export type { EpochMs, MemoryKind, MemoryRecord, MemoryRecordInput } from "./model/record.ts";
export { type MemoryReach, type MemoryScope, memoryScope } from "./model/scope.ts";
export { type ContradictionPolicy, type ContradictionVerdict, SupersedeMatching } from "./rules/contradictions.ts";
export { ConfidenceFloor, type DecayPolicy, HalfLife } from "./rules/decay.ts";
export { type DeprecationNotice, deprecate } from "./rules/deprecate.ts";
export { type MemoryRedactor, PatternRedactor, type PatternRedactorOptions, redact } from "./rules/redaction.ts";
export { memoryRecord } from "./rules/write.ts";
export { SecretString } from "./secret.ts";
export {
  type MemoryStoreSettings,
  type MemoryStoreSettingsInput,
  memoryStoreSettings,
  type RuntimeSettingsInput,
} from "./settings.ts";
export type { MemoryStoreOptions } from "./store/context.ts";
