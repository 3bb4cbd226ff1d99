// Wrongs about records and the edges of every operation: values changed on their way, checks left out, masks, sizes,
// corruption, cursors, events, signals.

import { isMemoryError, type JsonValue, type MemoryRecordInput, type MemoryStore } from "@memory/core";
import type { StoredRecord } from "@memory/core/driver";
import { untyped } from "../../src/untyped.ts";
import { above, episodic, everywhere, profile, type Sabotage, semantic, stored, working } from "./sabotage.ts";

const values = (change: (value: JsonValue) => JsonValue) =>
  stored((record) => ({ ...record, value: JSON.stringify(change(JSON.parse(record.value))) }));
const texts = (change: (text: string) => string) =>
  stored((record) => {
    const value: unknown = JSON.parse(record.value, (_, one: unknown) => (typeof one === "string" ? change(one) : one));
    return { ...record, value: JSON.stringify(value) };
  });
const isJson = (record: Pick<StoredRecord, "value">): boolean => {
  try {
    JSON.parse(record.value);
    return true;
  } catch {
    return false;
  }
};
// Every write of one record, its input changed.
const writes = (change: (record: MemoryRecordInput) => MemoryRecordInput) =>
  above((store: MemoryStore) => ({
    write: async (scope, record, options) => store.write(scope, change(record), options),
    upsert: async (scope, record, options) => store.upsert(scope, change(record), options),
    log: async (scope, record, options) => store.log(scope, change(record), options),
    index: async (scope, record, options) => store.index(scope, change(record), options),
  }));

export const recordSabotages: readonly Sabotage[] = [
  {
    name: "a member named __proto__ is lost",
    fails: [
      "json/working-values-come-back",
      "json/profile-values-come-back",
      "json/episodic-values-come-back",
      "json/semantic-values-come-back",
    ],
    ...values((value) => mapMembers(value, (name) => name !== "__proto__")),
  },
  {
    name: "a member without a name is lost",
    fails: [
      "json/working-values-come-back",
      "json/profile-values-come-back",
      "json/episodic-values-come-back",
      "json/semantic-values-come-back",
    ],
    ...values((value) => mapMembers(value, (name) => name !== "")),
  },
  {
    name: "an empty array becomes an object",
    fails: ["json/profile-values-come-back", "json/episodic-values-come-back", "json/semantic-values-come-back"],
    ...stored((record) => ({ ...record, value: record.value.replaceAll("[]", "{}") })),
  },
  {
    name: "large numbers lose digits",
    fails: [
      "json/working-values-come-back",
      "json/profile-values-come-back",
      "json/episodic-values-come-back",
      "json/semantic-values-come-back",
    ],
    ...stored((record) => ({ ...record, value: record.value.replaceAll("9007199254740991", "9.0071992547410e15") })),
  },
  {
    name: "lone surrogates are replaced",
    fails: [
      "json/working-values-come-back",
      "json/profile-values-come-back",
      "json/episodic-values-come-back",
      "json/semantic-values-come-back",
    ],
    ...stored((record) => ({ ...record, value: record.value.replace(/\\ud[89a-f][0-9a-f]{2}/gi, "\ufffd") })),
  },
  {
    name: "NUL cuts a text short",
    fails: [
      "json/working-values-come-back",
      "json/profile-values-come-back",
      "json/episodic-values-come-back",
      "json/semantic-values-come-back",
    ],
    ...texts((text) => text.replaceAll("\u0000", "")),
  },
  {
    name: "zero comes back negative",
    fails: [
      "json/working-negative-zero-is-zero",
      "json/profile-negative-zero-is-zero",
      "json/episodic-negative-zero-is-zero",
      "json/semantic-negative-zero-is-zero",
    ],
    ...stored((record) => ({
      ...record,
      value: record.value === "0" ? "-0" : record.value.replace(/(?<=[[:,])0(?=[\],}])/g, "-0"),
    })),
  },
  {
    name: "what is not JSON is coerced",
    fails: [
      "json/working-refuses-what-is-not-json",
      "json/profile-refuses-what-is-not-json",
      "json/episodic-refuses-what-is-not-json",
      "json/semantic-refuses-what-is-not-json",
    ],
    ...writes((record) => ({ ...record, value: untyped(JSON.parse(JSON.stringify(record.value) ?? "null")) })),
  },
  {
    name: "metadata is lost",
    fails: ["record/profile-comes-back-whole", "record/episodic-comes-back-whole", "record/semantic-comes-back-whole"],
    ...stored((record) => ({ ...record, metadata: undefined })),
  },
  {
    name: "subjects are lost",
    fails: ["record/profile-comes-back-whole"],
    ...stored((record) => ({ ...record, subject: undefined })),
  },
  {
    name: "confidence is rounded",
    fails: ["record/profile-comes-back-whole", "record/episodic-comes-back-whole", "record/semantic-comes-back-whole"],
    ...stored((record) => ({ ...record, confidence: Math.round(record.confidence) })),
  },
  {
    name: "instants are kept in seconds",
    fails: ["record/profile-takes-dates", "record/episodic-takes-dates"],
    ...stored((record) => ({
      ...record,
      validTo: record.validTo === undefined ? undefined : Math.floor(record.validTo / 1_000) * 1_000,
    })),
  },
  {
    name: "ids are replaced",
    fails: ["record/episodic-comes-back-whole"],
    ...episodic((section) => ({
      page: async (request, call) => (await section.page(request, call)).map((one) => ({ ...one, id: `x${one.id}` })),
    })),
  },
  {
    name: "nothing is masked",
    fails: [
      "redaction/working-masks-before-it-stores",
      "redaction/profile-masks-before-it-stores",
      "redaction/episodic-masks-before-it-stores",
      "redaction/semantic-masks-before-it-stores",
    ],
    options: (options) => ({ ...options, redactor: null }),
  },
  {
    name: "values are measured in characters",
    fails: [
      "record/working-measures-values",
      "record/profile-measures-values",
      "record/episodic-measures-values",
      "record/semantic-measures-values",
    ],
    options: (options) => ({
      ...options,
      ...(options.maxValueBytes === undefined ? {} : { maxValueBytes: options.maxValueBytes * 3 }),
    }),
  },
  {
    name: "a corrupt working record reads as absent",
    fails: ["record/working-corruption-is-raised"],
    ...working((section) => ({
      async get(request, call) {
        const entry = await section.get(request, call);
        return entry?.content.value !== undefined && !isJson({ value: entry.content.value }) ? null : entry;
      },
    })),
  },
  {
    name: "a corrupt version is skipped",
    fails: ["record/profile-corruption-is-raised"],
    ...profile((section) => ({
      async history(request, call) {
        return (await section.history(request, call)).filter((row) => isJson(row.record));
      },
      async versions(request, call) {
        const state = await section.versions(request, call);
        return state === null ? null : { ...state, versions: state.versions.filter((row) => isJson(row.record)) };
      },
    })),
  },
  {
    name: "a corrupt episode is skipped",
    fails: ["record/episodic-corruption-is-raised"],
    ...episodic((section) => ({
      async page(request, call) {
        return (await section.page(request, call)).filter(isJson);
      },
    })),
  },
  {
    name: "a corrupt semantic record is skipped",
    fails: ["record/semantic-corruption-is-raised"],
    ...semantic((section) => ({
      async nearest(request, call) {
        return (await section.nearest(request, call)).filter((row) => isJson(row.record));
      },
    })),
  },
  {
    name: "keys are compared without case",
    fails: ["scope/working-key-is-exact"],
    ...everywhere(lowerKeys, (answer, request) => raiseKeys(answer, request)),
  },
  {
    name: "an unknown property of a record is dropped",
    fails: ["record/working-refuses-what-is-malformed", "record/profile-refuses-what-is-malformed"],
    ...writes((record) => untyped(Object.fromEntries(Object.entries(record).filter(([name]) => KNOWN.includes(name))))),
  },
  {
    name: "a cursor that is refused starts over",
    fails: ["cursors/page-refuses-a-foreign-cursor", "cursors/page-refuses-a-damaged-cursor"],
    ...above((store) => ({
      page: (scope, query, options) =>
        store.page(scope, query, options).catch((error: unknown) => {
          if (isMemoryError(error, "MEMORY_CURSOR")) return store.page(scope, query);
          throw error;
        }),
    })),
  },
  {
    name: "no event is told",
    fails: ["events/one-for-each-operation"],
    options: ({ onEvent: _onEvent, ...rest }) => rest,
  },
  leakingEvents(),
  {
    name: "a signal is ignored",
    fails: ["availability/aborted-before-it-begins"],
    ...above((store) => ({
      write: (scope, record) => store.write(scope, record),
      read: (scope, key) => store.read(scope, key),
      history: (scope, key) => store.history(scope, key),
    })),
  },
  {
    name: "closing does nothing",
    fails: ["availability/closed-stores-refuse"],
    ...above(() => ({ close: async () => undefined })),
  },
  {
    name: "errors quote what they refuse",
    fails: ["errors/hold-no-content"],
    ...above((store) => ({
      write: async (scope, record, options) => {
        try {
          return await store.write(scope, record, options);
        } catch (error) {
          if (error instanceof Error)
            error.message += ` (${JSON.stringify(scope)} ${String(record?.key)} ${JSON.stringify(record?.value) ?? ""})`;
          throw error;
        }
      },
    })),
  },
];

const KNOWN = [
  "id",
  "kind",
  "scope",
  "key",
  "value",
  "source",
  "confidence",
  "validFrom",
  "validTo",
  "embedding",
  "subject",
  "predicate",
  "metadata",
  "recordedAt",
  "version",
  "supersededBy",
  "redacted",
];

function mapMembers(value: JsonValue, keep: (name: string) => boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => mapMembers(one, keep));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => keep(name));
  return Object.fromEntries(members.map(([name, one]) => [name, mapMembers(one, keep)]));
}

function lowerKeys(request: unknown): unknown {
  if (Array.isArray(request)) return request.map(lowerKeys);
  if (typeof request !== "object" || request === null) return request;
  const entries = Object.entries(request).map(([name, one]: [string, unknown]) => [
    name,
    name === "key" && typeof one === "string"
      ? one.toLowerCase()
      : name === "head" || name === "record"
        ? lowerKeys(one)
        : one,
  ]);
  return Object.fromEntries(entries);
}

function raiseKeys(answer: unknown, request: unknown): unknown {
  const asked: unknown = typeof request === "object" && request !== null ? Reflect.get(request, "key") : undefined;
  if (typeof asked !== "string" || typeof answer !== "object" || answer === null || Array.isArray(answer))
    return answer;
  const entries = Object.entries(answer).map(([name, one]: [string, unknown]) => [
    name,
    name === "key" ? asked : name === "head" || name === "record" ? raiseKeys(one, request) : one,
  ]);
  return Object.fromEntries(entries);
}

// Events that name the key that was written last.
function leakingEvents(): Sabotage {
  let key = "";
  return {
    name: "events hold the key",
    fails: ["events/hold-no-content"],
    options: (options) => ({
      ...options,
      ...(options.onEvent === undefined ? {} : { onEvent: (event) => options.onEvent?.(untyped({ ...event, key })) }),
    }),
    ...above((store) => ({
      write(scope, record, options) {
        key = record.key;
        return store.write(scope, record, options);
      },
    })),
  };
}
