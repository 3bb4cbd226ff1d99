// Every case of the protocol, joined. The order is that of the page docs/protocol.md.

import type { ConformanceCase } from "./case.ts";
import { availabilityCases } from "./cases/availability.ts";
import { beliefsCases } from "./cases/beliefs.ts";
import { capabilityCases } from "./cases/capabilities.ts";
import { cursorCases } from "./cases/cursors.ts";
import { derivationsCases } from "./cases/derivations.ts";
import { episodicCases } from "./cases/episodic.ts";
import { erasureCases } from "./cases/erasure.ts";
import { errorCases } from "./cases/errors.ts";
import { eventCases } from "./cases/events.ts";
import { jsonCases } from "./cases/json.ts";
import { portabilityCases } from "./cases/portability.ts";
import { profileCases } from "./cases/profile.ts";
import { recordCases } from "./cases/record.ts";
import { redactionCases } from "./cases/redaction.ts";
import { scopeCases } from "./cases/scope.ts";
import { semanticCases } from "./cases/semantic.ts";
import { workingCases } from "./cases/working.ts";

/** Every case of the protocol. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...scopeCases,
  ...recordCases,
  ...jsonCases,
  ...workingCases,
  ...profileCases,
  ...beliefsCases,
  ...episodicCases,
  ...semanticCases,
  ...redactionCases,
  ...erasureCases,
  ...derivationsCases,
  ...portabilityCases,
  ...cursorCases,
  ...capabilityCases,
  ...errorCases,
  ...eventCases,
  ...availabilityCases,
];
