// What the packages' sources say of deprecations, in both places: the `@deprecated` tag that editors show, and the notice,
// `deprecate({ ... })`, that warns at run time. The two have to say the same, so that the page made of them
// (docs/deprecations.md) can neither forget one nor tell of one that is gone. Only a type needs no notice: nothing runs.

import type { ESTree } from "vite";
import { parseSync } from "vite";
import { isPublished, type Member, type SourceFile } from "./repository.ts";

const FIELDS = ["code", "subject", "replacement", "since", "removal"] as const;

/** What one `deprecate({ ... })` says. */
export type Notice = Readonly<Record<(typeof FIELDS)[number], string>>;

/** What one `@deprecated` tag says of the declaration under it. */
export interface Tag extends Omit<Notice, "code"> {
  /** A type, or a member of one: nothing of it is there at run time. */
  readonly isType: boolean;
}

/** What the sources say, and what is wrong with it (each problem begins with its file). */
export interface Deprecations {
  readonly notices: readonly Notice[];
  readonly tags: readonly Tag[];
  readonly problems: readonly string[];
}

/** Reads the sources of the published packages, tests left out. */
export function readDeprecations(members: readonly Member[]): Deprecations {
  const sources = members
    .filter(isPublished)
    .flatMap((member) => member.sources.filter(({ path }) => path.startsWith(`${member.folder}/src/`)))
    .filter(({ path }) => !path.endsWith(".test.ts"));
  const read = sources.filter(({ text }) => /\bdeprecate\(|@deprecated\b/.test(text)).map(readSource);
  const notices = read.flatMap((one) => one.notices);
  const tags = read.flatMap((one) => one.tags);
  const version = members.find(isPublished)?.manifest.version ?? "0.0.0";
  return {
    notices,
    tags,
    problems: [
      ...read.flatMap((one) => one.problems),
      ...findDisagreements(notices, tags),
      ...findLate(notices, tags, version),
    ],
  };
}

/** Reads one source file. */
export function readSource({ path, text }: SourceFile): Deprecations {
  const { program, comments } = parseSync(path, text);
  const notices: Notice[] = [];
  const tags: Tag[] = [];
  const problems: string[] = [];
  const declarations = new Map<number, Declared>();
  visit(program, [], (node, parents) => {
    if (isCallOf(node, "deprecate")) {
      const notice = readNotice(node);
      if (typeof notice === "string") problems.push(`${path}: ${notice}`);
      else notices.push(notice);
    }
    const declared = declaredBy(node, parents);
    // Of an exported declaration the statement and what it exports: the first that begins there is the outermost.
    if (declared !== undefined && !declarations.has(node.start)) declarations.set(node.start, declared);
  });
  for (const comment of comments) {
    if (comment.type !== "Block" || !/@deprecated\b/.test(comment.value)) continue;
    const start = comment.end + (/^\s*/.exec(text.slice(comment.end))?.[0].length ?? 0);
    const declared = declarations.get(start);
    const said = /@deprecated\s+since\s+(\S+),\s+use\s+(.+?),\s+removed\s+in\s+(\d+\.\d+\.\d+)/s.exec(
      unwrap(comment.value),
    );
    if (declared === undefined) problems.push(`${path}: a @deprecated tag stands over no declaration that has a name`);
    else if (said === null) {
      problems.push(
        `${path}: the tag of ${declared.name} does not read "@deprecated since a.b.c, use x, removed in a.b.c"`,
      );
    } else {
      const [, since = "", replacement = "", removal = ""] = said;
      tags.push({ subject: declared.name, isType: declared.isType, since, replacement: bare(replacement), removal });
    }
  }
  return { notices, tags, problems };
}

/** Every place where the tags and the notices do not say the same, or a code is given twice. */
function findDisagreements(notices: readonly Notice[], tags: readonly Tag[]): readonly string[] {
  const bySubject = new Map(notices.map((notice) => [bare(notice.subject), notice]));
  const codes = notices.map(({ code }) => code);
  return [
    ...[...new Set(codes.filter((code, index) => codes.indexOf(code) !== index))].map(
      (code) => `${code} is given twice`,
    ),
    ...notices
      .filter(({ subject }) => !tags.some((tag) => tag.subject === bare(subject)))
      .map(({ code, subject }) => `${code}: there is no @deprecated tag over ${subject}`),
    ...tags.flatMap((tag) => {
      const notice = bySubject.get(tag.subject);
      if (notice === undefined)
        return tag.isType ? [] : [`${tag.subject} has a @deprecated tag and no deprecate({ ... })`];
      const isSame =
        notice.since === tag.since && notice.removal === tag.removal && bare(notice.replacement) === tag.replacement;
      return isSame ? [] : [`${notice.code}: the tag of ${tag.subject} and its notice do not say the same`];
    }),
  ];
}

/** What should be gone in this version, or would be before a released minor could warn of it. */
function findLate(notices: readonly Notice[], tags: readonly Tag[], version: string): readonly string[] {
  return [...notices, ...tags].flatMap(({ subject, since, removal }) => [
    ...(compare(removal, version) <= 0 ? [`${subject} was to be removed in ${removal}, and this is ${version}`] : []),
    ...(compare(minorOf(removal), minorOf(since)) <= 0 ? [`${subject} would go in the minor that deprecates it`] : []),
  ]);
}

interface Declared {
  readonly name: string;
  readonly isType: boolean;
}

type Node = ESTree.Node;

function declaredBy(node: Node, parents: readonly Node[]): Declared | undefined {
  switch (node.type) {
    case "ExportNamedDeclaration":
      return node.declaration === null ? undefined : declaredBy(node.declaration, parents);
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSDeclareFunction":
      return node.id === null ? undefined : { name: node.id.name, isType: false };
    case "VariableDeclaration": {
      const [first] = node.declarations;
      return first?.id.type === "Identifier" ? { name: first.id.name, isType: false } : undefined;
    }
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return { name: node.id.name, isType: true };
    case "TSPropertySignature":
    case "TSMethodSignature":
    case "PropertyDefinition":
    case "MethodDefinition":
    case "AccessorProperty": {
      const owner = parents.findLast((parent) => declaredBy(parent, []) !== undefined);
      const named = owner === undefined ? undefined : declaredBy(owner, []);
      if (named === undefined || node.key.type !== "Identifier") return undefined;
      return { name: `${named.name}.${node.key.name}`, isType: node.type.startsWith("TS") };
    }
    default:
      return undefined;
  }
}

function readNotice(call: ESTree.CallExpression): Notice | string {
  const [object] = call.arguments;
  const found = new Map<string, string>();
  for (const property of object?.type === "ObjectExpression" ? object.properties : []) {
    if (property.type !== "Property" || property.key.type !== "Identifier") continue;
    if (property.value.type === "Literal" && typeof property.value.value === "string") {
      found.set(property.key.name, property.value.value);
    }
  }
  const [code, subject, replacement, since, removal] = FIELDS.map((field) => found.get(field));
  if (
    code !== undefined &&
    subject !== undefined &&
    replacement !== undefined &&
    since !== undefined &&
    removal !== undefined
  ) {
    return { code, subject, replacement, since, removal };
  }
  const missing = FIELDS.filter((field) => !found.has(field));
  return `deprecate({ ... }) has no ${missing.join(", ")} that is a plain text, which the page could show`;
}

function isCallOf(node: Node, name: string): node is ESTree.CallExpression {
  return node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === name;
}

function visit(node: Node, parents: readonly Node[], see: (node: Node, parents: readonly Node[]) => void): void {
  see(node, parents);
  const within = [...parents, node];
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, within, see);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

// A comment's text without the stars that begin its lines.
function unwrap(comment: string): string {
  return comment.replaceAll(/^[ \t]*\* ?/gm, "");
}

function bare(text: string): string {
  return text.replaceAll("`", "").replaceAll(/\s+/g, " ").trim();
}

function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

function compare(left: string, right: string): number {
  const other = right.split(".").map(Number);
  return left.split(".").reduce((found, part, index) => found || Number(part) - (other[index] ?? 0), 0);
}
