// One of several processes: appends to one sequence and writes versions of one fact. Arguments: file, name, how many.

import { SqliteMemoryStore } from "../src/index.ts";

const [path = "", name = "", writes = "0"] = process.argv.slice(2);
const scope = { tenantId: "acme", userId: "ada" };

const store = SqliteMemoryStore.open(path);
for (let index = 0; index < Number(writes); index += 1) {
  await store.append(scope, "turns", `${name}-${index}`);
  await store.upsert(scope, { kind: "profile", scope, key: "count", value: index, source: name });
}
await store.close();
