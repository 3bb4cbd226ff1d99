// An erasure whose derived indices fail or are stopped: what each of them is asked, and what the caller hears.

import { expect, test } from "vitest";
import { inMemoryDriver } from "../in-memory/driver.ts";
import { InMemoryMemoryStore } from "../in-memory.ts";
import type { ErasureTarget } from "../model/driver.ts";
import type { DerivedIndex } from "../model/erasure.ts";
import type { MemoryErasedEvent } from "../model/event.ts";
import type { MemoryScope } from "../model/scope.ts";
import { createMemoryStore } from "../store.ts";

const acme: MemoryScope = { tenantId: "acme" };
const users: readonly MemoryScope[] = ["u1", "u2", "u3"].map((userId) => ({ ...acme, userId }));

function index(name: string, purge: DerivedIndex["purge"]) {
  const asked: MemoryScope[] = [];
  const made: DerivedIndex = {
    name,
    purge: (scope, ids, options) => {
      asked.push(scope);
      return purge(scope, ids, options);
    },
  };
  return { made, asked };
}

async function filled(indices: readonly DerivedIndex[], events: MemoryErasedEvent[] = []) {
  const store = new InMemoryMemoryStore({
    derivedIndices: indices,
    onEvent: (event) => {
      if (event.name === "adk.memory.erased") events.push(event);
    },
  });
  for (const scope of users) {
    for (const adapter of ["b", "a"]) {
      await store.derived(scope, { artefactId: "x", sourceKind: "working", sourceId: "w", adapter });
    }
  }
  return store;
}

test("an index that has failed is not asked again, the others are asked for every scope, and one event tells of it", async () => {
  const broken = index("a", () => Promise.reject(new Error("unreachable")));
  const sound = index("b", async () => undefined);
  const events: MemoryErasedEvent[] = [];
  const store = await filled([broken.made, sound.made], events);
  await expect(store.erase(acme)).rejects.toMatchObject({
    code: "PARTIAL_ERASURE",
    adapter: "a",
    receipt: { artefacts: 1, outstanding: ["a"], adapters: ["a", "b"], complete: false, completedAt: null },
  });
  expect(broken.asked).toHaveLength(1);
  expect(sound.asked).toEqual(users);
  expect(events).toMatchObject([{ complete: false, outstanding: ["a"], artefacts: 1 }]);
});

test("indices that fail are outstanding in byte order, and what stopped the first is the cause", async () => {
  const failing = ["b", "a"].map((name) => index(name, () => Promise.reject(new RangeError(name))).made);
  const store = await filled(failing);
  const error = await store.erase(acme).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ adapter: "a", receipt: { outstanding: ["a", "b"] }, cause: { name: "RangeError" } });
});

test("a caller who stops it hears the reason, not of an index, and the erasure is finished by running it again", async () => {
  const controller = new AbortController();
  const stopped = index("a", () => {
    if (controller.signal.aborted) return Promise.resolve();
    controller.abort(new RangeError("stop"));
    return new Promise(() => undefined);
  });
  const store = await filled([stopped.made, index("b", async () => undefined).made]);
  await expect(store.erase(acme, { signal: controller.signal })).rejects.toThrow(RangeError);
  expect(await store.erase(acme)).toMatchObject({ artefacts: 2, complete: true });
});

test("kinds and keys that are named twice go down once", async () => {
  const inner = inMemoryDriver();
  const { erasure } = inner;
  if (erasure === undefined) throw new Error("the section is missing");
  const targets: ErasureTarget[] = [];
  const tombstone: typeof erasure.tombstone = (target, call) => {
    targets.push(target);
    return erasure.tombstone(target, call);
  };
  const store = createMemoryStore({ ...inner, erasure: { ...erasure, tombstone } });
  await store.erase(acme, { kinds: ["profile", "working", "profile"], keys: ["a", "b", "a"] });
  expect(targets).toEqual([{ scope: acme, reach: "under", kinds: ["profile", "working"], keys: ["a", "b"] }]);
});
