// An erasure whose derived indices fail or are stopped: what each of them is asked, and what the caller hears.

import { expect, test } from "vitest";
import { untyped } from "../../test/untyped.ts";
import { inMemoryDriver } from "../in-memory/driver.ts";
import { InMemoryMemoryStore } from "../in-memory.ts";
import type { DriverMember, ErasureTarget } from "../model/driver.ts";
import type { DerivedIndex } from "../model/erasure.ts";
import { MemoryConflictError } from "../model/errors.ts";
import type { MemoryErasedEvent } from "../model/event.ts";
import { MEMORY_KINDS } from "../model/record.ts";
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

test("members of one name do not stand for each other, nor does an index of that name", async () => {
  const kinds = ["working", "profile"] as const;
  const parts = kinds.map((kind) => inMemoryDriver({ without: MEMORY_KINDS.filter((one) => one !== kind) }));
  const members = parts.flatMap(({ erasure }) => (erasure === undefined ? [] : [{ name: "same", erasure }]));
  const [down, keeper] = members;
  if (down === undefined || keeper === undefined) throw new Error("the section is missing");
  const composed = { ...inMemoryDriver(), ...parts[0], profile: parts[1]?.profile, erasure: keeper.erasure };
  const open = (first: DriverMember, purge: DerivedIndex["purge"]) =>
    createMemoryStore(untyped({ ...composed, members: [first, keeper] }), {
      derivedIndices: [index("same", purge).made],
    });
  const store = open(down, async () => undefined);
  for (const scope of users) await store.write(scope, { key: "k", value: 1, source: "s" });
  await store.upsert(acme, { key: "k", value: 1, source: "s" });
  await store.derived(acme, { artefactId: "x", sourceKind: "profile", sourceId: "w", adapter: "same" });
  const failing = { ...down.erasure, tombstone: () => Promise.reject(new MemoryConflictError("member", {})) };
  const partial = open({ name: "same", erasure: failing }, () => Promise.reject(new RangeError("index")));
  await expect(partial.erase(acme)).rejects.toMatchObject({
    receipt: { counts: { profile: 1 }, outstanding: ["same"], artefacts: 0, complete: false },
    cause: { code: "MEMORY_CONFLICT" },
  });
  expect(await store.erase(acme)).toMatchObject({ counts: { working: 3 }, artefacts: 1, complete: true });
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
