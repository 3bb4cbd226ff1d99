// What a store can do is what its driver holds; what it cannot do is refused, at the check at start-up and, for whoever
// skipped that, at run time: never an empty list, never zero rows.

import assert from "node:assert/strict";
import { type MemoryNeeds, requireMemory } from "@memory/core";
import { about } from "../about.ts";
import type { ConformanceCase } from "../case.ts";
import { CAPABILITIES, KINDS, kindAccess, record, refused } from "../kinds.ts";
import { operations } from "../operations.ts";
import { untyped } from "../untyped.ts";

/** Cases about capabilities. */
export const capabilityCases: readonly ConformanceCase[] = [
  {
    id: "capabilities/are-whole",
    promise:
      "`store.capabilities` names every capability, with the width of a vector (or `null`) and the largest value.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const { capabilities } = store;
      for (const name of CAPABILITIES) assert.equal(typeof capabilities[name], "boolean", name);
      assert.ok(Number.isSafeInteger(capabilities.maxValueBytes) && capabilities.maxValueBytes > 0);
      assert.equal(capabilities.embeddingDimensions !== null, capabilities.semantic);
      assert.ok(typeof store.name === "string" && store.name.trim() !== "");
      assert.deepEqual(
        Object.keys(capabilities).sort(),
        [...CAPABILITIES, "embeddingDimensions", "maxValueBytes"].sort(),
      );
    },
  },
  {
    id: "capabilities/finer-flags-need-their-kind",
    promise: "A finer capability is a member of a kind's section: it is never there without the kind.",
    needs: {},
    async run(context) {
      const {
        profile,
        asOf,
        knownAt,
        supersession,
        erasure,
        erasureNarrowing,
        filter,
        episodic,
        semantic,
        reach,
        working,
      } = (await context.open()).capabilities;
      assert.ok(profile || !(asOf || knownAt || supersession));
      assert.ok(erasure || !erasureNarrowing);
      assert.ok(episodic || semantic || !filter);
      assert.ok(working || profile || episodic || semantic || !reach);
    },
  },
  {
    id: "capabilities/what-is-there-passes-the-check",
    promise: "`requireMemory` passes for everything that the store can do.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const { embeddingDimensions, maxValueBytes } = store.capabilities;
      const flags = CAPABILITIES.filter((name) => store.capabilities[name]).map((name) => [name, true] as const);
      const needs: MemoryNeeds = {
        ...Object.fromEntries(flags),
        minValueBytes: maxValueBytes,
        ...(embeddingDimensions === null ? {} : { embeddingDimensions }),
      };
      requireMemory(store, needs);
    },
  },
  {
    id: "capabilities/one-error-names-all-that-is-missing",
    promise: "`requireMemory` throws one `CapabilityError` that names the adapter and every missing capability.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const all = Object.fromEntries(CAPABILITIES.map((name) => [name, true]));
      const { embeddingDimensions, maxValueBytes } = store.capabilities;
      const needs = { ...all, embeddingDimensions: (embeddingDimensions ?? 0) + 1, minValueBytes: maxValueBytes + 1 };
      const missing = CAPABILITIES.filter((name) => !store.capabilities[name]);
      await context.rejects(
        Promise.resolve().then(() => requireMemory(store, needs)),
        "MEMORY_CAPABILITY",
        {
          adapter: store.name,
          missing: [...missing, "embeddingDimensions", "minValueBytes"],
        },
      );
    },
  },
  {
    id: "capabilities/unknown-needs-are-refused",
    promise: "`requireMemory` refuses a need that it does not know, so that a misspelt one never passes.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const needs of [
        { workng: true },
        { working: 1 },
        { embeddingDimensions: 0 },
        { minValueBytes: "1" },
        null,
      ]) {
        await context.rejects(
          Promise.resolve().then(() => requireMemory(store, untyped(needs))),
          "MEMORY_RECORD",
        );
      }
    },
  },
  {
    id: "capabilities/missing-operations-refuse",
    promise:
      "Every operation of a kind that the store does not hold rejects with `CapabilityError`, never with an empty answer.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const operation of operations(context)) {
        if (operation.needs === null || context.capabilities[operation.needs]) continue;
        await refused(context, store, operation.call(store, context.scope())).catch(about(operation.name));
      }
    },
  },
  {
    id: "capabilities/largest-value-is-taken",
    promise: "The store takes a value of exactly `maxValueBytes`, as it says, in every kind.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const size = store.capabilities.maxValueBytes;
      const value = "x ".repeat(Math.ceil(size / 2)).slice(0, size - 2);
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        await put(store, context.scope(), record("k", value));
        assert.ok((await get(store, context.scope(), "k"))?.value === value, kind);
        await context.rejects(put(store, context.scope(), record("k2", `${value}x`)), "MEMORY_LIMIT", {
          what: "value",
          limit: size,
          size: size + 1,
        });
      }
    },
  },
];
