// What a store tells its operator: one event for each operation, whatever came of it, and never a word of content.

import assert from "node:assert/strict";
import type { MemoryEvent, MemoryOperationEvent, MemoryScope } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { KINDS, kindAccess, record } from "../kinds.ts";
import { offered } from "../operations.ts";
import { untyped } from "../untyped.ts";

const MARK = "unmistakable";

const KIND_OF: Readonly<Record<string, readonly string[]>> = {
  working: ["write", "read", "append", "expire", "keys"],
  profile: ["upsert", "supersede", "profile", "belief", "beliefs", "history"],
  episodic: ["log", "logAll", "episodes", "page"],
  semantic: ["index", "indexAll", "recall", "search"],
};

function kindOf(operation: string): string | null {
  return Object.keys(KIND_OF).find((kind) => KIND_OF[kind]?.includes(operation)) ?? null;
}

function operationEvents(events: readonly MemoryEvent[]): readonly MemoryOperationEvent[] {
  return events.filter((event) => event.name === "adk.memory.operation");
}

/** Cases about events. */
export const eventCases: readonly ConformanceCase[] = [
  {
    id: "events/one-for-each-operation",
    promise:
      "`onEvent` gets one event for each operation that succeeds: kind, operation, duration, attempts and the outcome `ok`.",
    needs: {},
    async run(context) {
      const events: MemoryEvent[] = [];
      const store = await context.open({ onEvent: (event) => events.push(event) });
      for (const operation of offered(context)) {
        events.length = 0;
        await operation.call(store, context.scope({ userId: operation.name }));
        const [event, ...more] = operationEvents(events);
        assert.ok(event !== undefined, `${operation.name} told nothing`);
        assert.deepEqual(more, [], operation.name);
        const { durationMs, attempts, ...rest } = event;
        assert.deepEqual(rest, {
          name: "adk.memory.operation",
          store: store.name,
          kind: kindOf(operation.name),
          operation: operation.name,
          outcome: "ok",
        });
        assert.ok(Number.isSafeInteger(durationMs) && durationMs >= 0, operation.name);
        assert.ok(Number.isSafeInteger(attempts) && attempts >= (operation.name === "verify" ? 0 : 1), operation.name);
      }
    },
  },
  {
    id: "events/refusals-are-told",
    promise:
      "An operation that is refused before any I/O tells one event, with the error's code as its outcome and no attempts.",
    needs: {},
    async run(context) {
      const events: MemoryEvent[] = [];
      const store = await context.open({ onEvent: (event) => events.push(event) });
      for (const operation of offered(context).filter(({ scoped }) => scoped)) {
        events.length = 0;
        await context.rejects(operation.call(store, untyped<MemoryScope>({})), "MEMORY_SCOPE");
        const found = events.map((event) => [
          event.name,
          "operation" in event && [event.operation, event.outcome, event.attempts],
        ]);
        assert.deepEqual(found, [["adk.memory.operation", [operation.name, "MEMORY_SCOPE", 0]]]);
      }
    },
  },
  {
    id: "events/aborts-are-told",
    promise: "An operation that its caller aborted tells one event with the outcome `aborted`.",
    needs: {},
    async run(context) {
      const events: MemoryEvent[] = [];
      const store = await context.open({ onEvent: (event) => events.push(event) });
      for (const operation of offered(context)) {
        events.length = 0;
        const call = operation.call(store, context.scope(), { signal: AbortSignal.abort(new Error("enough")) });
        await assert.rejects(call, { message: "enough" });
        assert.deepEqual(
          operationEvents(events).map(({ operation: name, outcome }) => [name, outcome]),
          [[operation.name, "aborted"]],
        );
      }
    },
  },
  {
    id: "events/hold-no-content",
    promise: "No event holds a value, a key, an id or a scope part.",
    needs: {},
    async run(context) {
      const events: MemoryEvent[] = [];
      const store = await context.open({ onEvent: (event) => events.push(event) });
      const scope = context.scope({ userId: MARK, sessionId: MARK, agent: MARK });
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get, list } = kindAccess(context, kind);
        await put(store, scope, {
          ...record(MARK, MARK),
          id: MARK,
          subject: MARK,
          metadata: { [MARK]: MARK },
          source: MARK,
        });
        await get(store, scope, MARK);
        await list(store, scope);
        await put(store, scope, {
          ...record(
            MARK,
            untyped(() => MARK),
          ),
          id: MARK,
        }).catch(() => undefined);
      }
      if (context.capabilities.erasure) {
        await store.derived(scope, { artefactId: MARK, sourceKind: "profile", sourceId: MARK, adapter: "index" });
      }
      assert.ok(events.length > 0);
      const told = JSON.stringify(events);
      assert.ok(!told.includes(MARK) && !told.includes(context.tenant), "an event holds content");
    },
  },
  {
    id: "events/observers-change-nothing",
    promise: "What `onEvent` throws is ignored: the operation ends as it would without it.",
    needs: {},
    async run(context) {
      const store = await context.open({
        onEvent: () => {
          throw new Error("an observer's own fault");
        },
      });
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        await put(store, context.scope(), record("k"));
        assert.equal((await get(store, context.scope(), "k"))?.value, 1);
        await context.rejects(put(store, context.scope(), record("")), "MEMORY_RECORD");
      }
    },
  },
];
