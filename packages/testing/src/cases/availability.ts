// Closing, aborting, and many at once, as far as any store shows them. What takes a failing server to see (retries, lost
// replies, exhaustion) is proven over faulty drivers, in this package's tests and in the adapters' live tests.

import assert from "node:assert/strict";

import { about } from "../about.ts";
import type { ConformanceCase } from "../case.ts";
import { KINDS, kindAccess, record } from "../kinds.ts";
import { offered } from "../operations.ts";

/** Cases about availability. */
export const availabilityCases: readonly ConformanceCase[] = [
  {
    id: "availability/verify-passes",
    promise: "`verify()` resolves where everything is there and as it must be.",
    needs: {},
    async run(context) {
      const store = await context.open();
      assert.equal(await store.verify(), undefined);
    },
  },
  {
    id: "availability/close-is-idempotent",
    promise: "`close()` is idempotent, also when called twice at once.",
    needs: {},
    async run(context) {
      const store = await context.open();
      await Promise.all([store.close(), store.close()]);
      await store.close();
    },
  },
  {
    id: "availability/closed-stores-refuse",
    promise: "After `close()` every operation rejects with `MemoryUnavailableError` (no attempt made, not applied).",
    needs: {},
    async run(context) {
      const store = await context.open();
      await store.close();
      for (const operation of offered(context)) {
        await context
          .rejects(operation.call(store, context.scope()), "MEMORY_UNAVAILABLE", {
            store: store.name,
            attempts: 0,
            outcome: "not-applied",
          })
          .catch(about(operation.name));
      }
    },
  },
  {
    id: "availability/close-waits",
    promise: "`close()` waits for what is in flight: operations begun before it are carried out.",
    needs: {},
    async run(context) {
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const store = await context.open();
        const { put } = kindAccess(context, kind);
        const writes = Array.from({ length: 5 }, (_, index) => put(store, context.scope(), record(`k${index}`)));
        await store.close();
        await Promise.all(writes);
        const other = await context.open();
        assert.equal((await kindAccess(context, kind).list(other, context.scope())).length, 5, kind);
      }
    },
  },
  {
    id: "availability/await-using-closes",
    promise: "`await using` closes a store at the end of its block.",
    needs: {},
    async run(context) {
      const opened = await context.open();
      {
        await using store = opened;
        await store.verify();
      }
      await context.rejects(opened.verify(), "MEMORY_UNAVAILABLE", { attempts: 0 });
    },
  },
  {
    id: "availability/closing-one-leaves-others",
    promise: "Closing one store leaves what others over the same servers hold and do.",
    needs: {},
    async run(context) {
      const [one, other] = [await context.open(), await context.open()];
      for (const kind of KINDS.filter((held) => context.capabilities[held])) {
        await kindAccess(context, kind).put(one, context.scope(), record("k"));
      }
      await one.close();
      for (const kind of KINDS.filter((held) => context.capabilities[held])) {
        const { get, put } = kindAccess(context, kind);
        assert.equal((await get(other, context.scope(), "k"))?.value, 1, kind);
        await put(other, context.scope(), record("k2"));
      }
    },
  },
  {
    id: "availability/aborted-before-it-begins",
    promise: "An operation whose signal has aborted already rejects with its reason, and nothing is stored.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const reason = new Error("enough");
      for (const operation of offered(context)) {
        const call = operation.call(store, context.scope(), { signal: AbortSignal.abort(reason) });
        await assert.rejects(call, (error) => error === reason, operation.name);
      }
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        assert.deepEqual(await kindAccess(context, kind).list(store, context.scope()), [], kind);
      }
    },
  },
  {
    id: "availability/aborted-on-the-way",
    promise:
      "`{ signal }` stops the wait and rejects with its reason; the effect may or may not have happened, and the store goes on.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const operation of offered(context)) {
        const scope = context.scope({ userId: operation.name });
        const controller = new AbortController();
        const reason = new Error("enough");
        const call = operation.call(store, scope, { signal: controller.signal });
        controller.abort(reason);
        const settled = await call.then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.ok(settled === undefined || settled === reason, `${operation.name} rejected with ${String(settled)}`);
      }
      for (const operation of offered(context)) {
        await operation.call(store, context.scope({ userId: operation.name }));
      }
    },
  },
  {
    id: "availability/aborted-writes-are-never-half",
    promise: "An aborted batch has happened wholly or not at all.",
    needs: { episodic: true },
    async run(context) {
      const store = await context.open();
      for (let round = 0; round < 5; round++) {
        const scope = context.scope({ userId: `u${round}` });
        const controller = new AbortController();
        const records = Array.from({ length: 50 }, (_, index) => record(`k${index}`));
        const call = store.logAll(scope, records, { signal: controller.signal });
        setImmediate(() => controller.abort(new Error("enough")));
        await call.catch(() => undefined);
        // Whatever was still under way is done once a later write of the scope is.
        await store.log(scope, { ...record("after"), id: "after" });
        const found = await store.episodes(scope, { limit: 100 });
        assert.ok(found.length === 1 || found.length === 51, `${found.length - 1} of 50 were stored`);
      }
    },
  },
  {
    id: "availability/signals-are-released",
    promise:
      "A signal that never aborts may be shared by any number of operations, and aborting it later harms none of them.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const controller = new AbortController();
      const { signal } = controller;
      for (const operation of offered(context)) {
        await operation.call(store, context.scope({ userId: operation.name }), { signal });
      }
      controller.abort(new Error("too late"));
      await store.verify();
    },
  },
  {
    id: "availability/many-at-once-all-settle",
    promise: "Many operations at once all settle, and each with its own answer.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        const answers = await Promise.all(
          Array.from({ length: 200 }, async (_, index) => {
            await put(store, context.scope(), record(`k${index}`, index));
            return (await get(store, context.scope(), `k${index}`))?.value;
          }),
        );
        assert.deepEqual(
          answers,
          Array.from({ length: 200 }, (_, index) => index),
          kind,
        );
      }
    },
  },
];
