// One TypeScript program over the doors of several families. It is TypeScript 6 by name: the compiler as a library. What
// is a third party's is resolved once, from the newest family, and so is the same type on both sides.

import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript-6";
import { type Family, FamilyError, type FamilyPackage } from "./families.ts";

/** A program over the declarations of all families, and whose file is whose. */
export interface Surface {
  readonly program: ts.Program;
  readonly checker: ts.TypeChecker;
  /** The package that a file of a family belongs to; `undefined` for a third party's. */
  packageOf(path: string): FamilyPackage | undefined;
}

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  types: ["node"],
};

/**
 * Reads the declarations of `families`, the newest last. Texts of `overlay` (absolute path to text) stand for files.
 * One program serves any number of families: making it costs about a second, most of it for the libraries.
 *
 * @throws {FamilyError} A declaration does not compile, or imports what is not there: it would count as `any`.
 */
export function readSurface(families: readonly Family[], overlay: ReadonlyMap<string, string> = new Map()): Surface {
  const owners = new Map(families.flatMap((family) => family.map((member) => [member, family])));
  const byLength = [...owners.keys()].sort((a, b) => b.folder.length - a.folder.length);
  const known = new Map<string, FamilyPackage | undefined>();
  const packageOf = (path: string) => {
    if (!known.has(path)) {
      known.set(
        path,
        byLength.find(({ folder }) => isIn(folder, path)),
      );
    }
    return known.get(path);
  };
  const host = hostOf(overlay, packageOf, owners);
  const roots = [...owners.keys()].flatMap(({ doors }) => doors.map(({ path }) => path));
  const program = ts.createProgram(roots, options, host);
  const files = program.getSourceFiles().filter(({ fileName }) => packageOf(fileName) !== undefined);
  const errors = files.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  if (errors.length > 0) throw new FamilyError(errors.map(sayDiagnostic));
  return { program, checker: program.getTypeChecker(), packageOf };
}

function hostOf(
  overlay: ReadonlyMap<string, string>,
  packageOf: Surface["packageOf"],
  owners: ReadonlyMap<FamilyPackage, Family>,
): ts.CompilerHost {
  const disk = ts.createCompilerHost(options, true);
  const newestFirst = [...owners.keys()].reverse();
  const host: ts.CompilerHost = {
    ...disk,
    // Where @types/node is found.
    getCurrentDirectory: () => join(dirname(fileURLToPath(import.meta.url)), ".."),
    fileExists: (path) => overlay.has(path) || disk.fileExists(path),
    readFile: (path) => overlay.get(path) ?? disk.readFile(path),
    getSourceFile: (path, languageVersion) => {
      const text = overlay.get(path) ?? disk.readFile(path);
      if (text === undefined) return undefined;
      // A private member makes a class of one program unlike the same class of another; to callers it is nothing.
      const shown = packageOf(path) === undefined ? text : text.replace(/^\s*#private;$/gm, "");
      return ts.createSourceFile(path, shown, languageVersion, true);
    },
    resolveModuleNameLiterals: (literals, path, redirected, settings, file) =>
      literals.map((literal) => {
        const owner = packageOf(path);
        const name = literal.text;
        const own = owner === undefined ? undefined : doorOf(owners.get(owner) ?? [], name);
        if (own !== undefined) return { resolvedModule: { resolvedFileName: own, extension: ".d.ts" } };
        const mode = ts.getModeForUsageLocation(file, literal, settings);
        const resolve = (from: string) => ts.resolveModuleName(name, from, settings, host, undefined, redirected, mode);
        if (owner === undefined || name.startsWith(".")) return resolve(path);
        const places = newestFirst.filter((member) => member.name === owner.name);
        for (const { folder } of places) {
          const found = resolve(join(folder, "index.d.ts"));
          if (found.resolvedModule !== undefined) return found;
        }
        return resolve(path);
      }),
  };
  return host;
}

function doorOf(family: Family, specifier: string): string | undefined {
  const member = family.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (member === undefined) return undefined;
  const door = specifier === member.name ? "index" : specifier.slice(member.name.length + 1);
  return member.doors.find(({ name }) => name === door)?.path;
}

function isIn(folder: string, path: string): boolean {
  const plain = path.replaceAll("/", sep);
  return plain.startsWith(folder + sep);
}

function sayDiagnostic({ file, start = 0, messageText }: ts.Diagnostic): string {
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
  return `${file?.fileName ?? ""}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
}
