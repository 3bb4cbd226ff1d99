// The thread of a bystander: from "start" to "stop" it reads one key of another scope after another, by our store, and
// says how long each read took.

import { parentPort, workerData } from "node:worker_threads";
import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { RedisMemoryStore } from "@memory/redis";

const { url, scope } = workerData as { readonly url: string; readonly scope: MemoryScope };
const port = parentPort;
if (port === null) throw new Error("this is a thread of the benchmark");
const store = RedisMemoryStore.connect(memoryStoreSettings({ dsn: url }));
const own = memoryScope(scope);
let isReading = false;

async function readOn(): Promise<void> {
  const times: number[] = [];
  let n = 0;
  while (isReading) {
    n = (n + 1) % 100;
    const start = performance.now();
    const record = await store.read(own, `key-${n}`);
    times.push(performance.now() - start);
    if (record === null) throw new Error("a bystander's record is gone");
  }
  port?.postMessage(times);
}

for (let n = 0; n < 1_000; n += 1) await store.read(own, "key-0");
port.on("message", (message) => {
  isReading = message === "start";
  if (!isReading) return;
  port.postMessage("reading");
  void readOn();
});
port.postMessage("ready");
