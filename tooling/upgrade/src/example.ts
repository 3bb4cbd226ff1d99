// The change that is carried through: a function of the callers' door gets a better name. In the first minor the old one is a
// shim that warns, and the suite gets a case for an old promise; in the second the shim goes.

import type { Family } from "./family.ts";

/** The name that goes. */
export const OLD_NAME = "eachVersion";
/** The name that comes. */
export const NEW_NAME = "eachProfileVersion";
/** Not one that a release has given. */
export const CODE = "MEMORY_DEP9901";
/** The case that comes. */
export const CASE = "scope/order-of-parts-is-nothing";

const SOURCE = "packages/core/src/export.ts";
const DOOR = "packages/core/src/index.ts";
const CASES = "packages/testing/src/cases/scope.ts";

/** Renames the function and leaves the old name as a shim, with its changeset. */
export function deprecateOldName(family: Family, since: string, removal: string): void {
  rename(family);
  family.replace(DOOR, `${NEW_NAME},`, `${NEW_NAME}, ${OLD_NAME},`);
  family.write(SOURCE, `${withImport(family.read(SOURCE))}\n${shimText(since, removal)}`);
  addCase(family, since);
  family.write(
    ".changeset/better-name.md",
    `---
"@memory/core": minor
"@memory/testing": minor
---

\`${OLD_NAME}\` is now \`${NEW_NAME}\`. The old name works, warns once a process (\`${CODE}\`), and goes in ${removal}.
`,
  );
}

/** Takes the shim away. What announces it is the caller's affair. */
export function removeOldName(family: Family, since: string, removal: string): void {
  family.replace(DOOR, `${NEW_NAME}, ${OLD_NAME},`, `${NEW_NAME},`);
  family.replace(SOURCE, `\n${shimText(since, removal)}`, "");
  family.replace(SOURCE, /import \{ deprecate \} from "\.\/rules\/deprecate\.ts";\n/g, "");
}

/** What no package of ours but core uses. */
export const UNANNOUNCED = "SupersedeMatching";

/** Takes it away from the door: a removal of what nobody was told of. */
export function removeUnannounced(family: Family): void {
  family.replace(DOOR, `, ${UNANNOUNCED} }`, " }");
}

/** A changeset for core of a size. */
export function changeset(size: "patch" | "minor" | "major", text: string): string {
  return `---\n"@memory/core": ${size}\n---\n\n${text}\n`;
}

function rename(family: Family): void {
  const name = new RegExp(`\\b${OLD_NAME}\\b`, "g");
  for (const path of [SOURCE, DOOR, "packages/testing/src/cases/beliefs.ts"]) family.replace(path, name, NEW_NAME);
}

function withImport(source: string): string {
  return source.replace(/^import /m, 'import { deprecate } from "./rules/deprecate.ts";\nimport ');
}

function shimText(since: string, removal: string): string {
  return `const warnOldName: () => void = deprecate({
  code: "${CODE}",
  subject: "${OLD_NAME}",
  replacement: "${NEW_NAME}",
  since: "${since}",
  removal: "${removal}",
});

/**
 * The old name of \`${NEW_NAME}\`.
 *
 * @deprecated since ${since}, use \`${NEW_NAME}\`, removed in ${removal}
 */
export function ${OLD_NAME}(
  store: MemoryStore,
  scope: MemoryScope,
  options: CallOptions & { readonly key?: string | undefined; readonly reach?: MemoryReach | undefined } = {},
): AsyncGenerator<MemoryRecord, void, undefined> {
  warnOldName();
  return ${NEW_NAME}(store, scope, options);
}
`;
}

function addCase(family: Family, since: string): void {
  family.replace(
    CASES,
    "  ...perKind,\n];",
    `  ...perKind,
  {
    id: "${CASE}",
    promise: "The order in which a scope's parts are written means nothing.",
    since: "${since}",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        await put(store, { tenantId: context.tenant, userId: "u", sessionId: "s" }, record("k"));
        const found = await get(store, { sessionId: "s", userId: "u", tenantId: context.tenant }, "k");
        assert.equal(found?.key, "k", kind);
      }
    },
  },
];`,
  );
}
