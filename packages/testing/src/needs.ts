// What of a case's needs a store lacks, by the one check that applications make too.

import { isMemoryError, type MemoryCapabilities, type MemoryNeeds, requireMemory } from "@memory/core";

/** The names of the needs that are not met; empty where all are. */
export function missingNeeds(name: string, capabilities: MemoryCapabilities, needs: MemoryNeeds): readonly string[] {
  try {
    requireMemory({ name, capabilities }, needs);
    return [];
  } catch (error) {
    if (isMemoryError(error, "MEMORY_CAPABILITY")) return error.missing;
    throw error;
  }
}
