// A process that erases a user over real servers and stops at the call that it is told, to be killed there. Says what it
// purged, and when it stands still.

import { bind } from "./in-memory-target.ts";
import { mortal } from "./mortal.ts";
import { driversOn } from "./servers.ts";

const [redis = "", postgres = "", vectors = "", at = "", when = ""] = process.argv.slice(2);
const drivers = driversOn({ redis, postgres, vectors });
const life = mortal(drivers, { at: Number(at), when: when === "after" ? "after" : "before" });
const store = bind(life.drivers, {
  derivedIndices: [
    {
      name: "summaries",
      purge: async (_scope, artefactIds) => {
        for (const id of artefactIds) process.stdout.write(`purged ${id}\n`);
      },
    },
  ],
});

// Holds the process while it stands still.
setInterval(() => undefined, 1_000);
void life.died.then(() => process.stdout.write(`died ${life.done.join(" ")}\n`));
void store.erase({ tenantId: "acme", userId: "ann" });
