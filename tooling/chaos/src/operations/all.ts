// Every operation of the protocol that a worker performs. A new member of `MemoryStore` is added here.

import { episodicOperations } from "./episodic.ts";
import { erasureOperations } from "./erasure.ts";
import type { Operation } from "./operation.ts";
import { profileOperations } from "./profile.ts";
import { semanticOperations } from "./semantic.ts";
import { workingOperations } from "./working.ts";

/** All of them. */
export const OPERATIONS: readonly Operation[] = [
  ...workingOperations,
  ...profileOperations,
  ...episodicOperations,
  ...semanticOperations,
  ...erasureOperations,
];

/** The operation of this name. @throws {RangeError} There is none. */
export function operationNamed(name: string): Operation {
  const found = OPERATIONS.find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`no operation is called ${name}`);
  return found;
}
