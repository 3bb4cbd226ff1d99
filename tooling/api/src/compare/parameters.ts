// The parameters of a signature as a caller sees them.

import ts from "typescript-6";
import { partsOf } from "./comparison.ts";

/** One parameter: `parts` are the alternatives of its type, without the `undefined` of one that may be left out. */
export interface Parameter {
  readonly name: string;
  readonly isOptional: boolean;
  readonly isRest: boolean;
  readonly parts: readonly ts.Type[];
  /** Its type as it is written; `undefined` where the compiler made it. */
  readonly node: ts.TypeNode | undefined;
}

/** Reads the parameters of a signature; of a rest parameter the type is that of one argument. */
export function parametersOf(checker: ts.TypeChecker, signature: ts.Signature): readonly Parameter[] {
  return signature.parameters.map((symbol) => {
    const declaration = symbol.valueDeclaration;
    const written = declaration !== undefined && ts.isParameter(declaration) ? declaration : undefined;
    const isRest = written?.dotDotDotToken !== undefined;
    const isOptional = isRest || (written !== undefined && checker.isOptionalParameter(written));
    const type = checker.getTypeOfSymbol(symbol);
    const one = isRest && checker.isArrayType(type) ? (checker.getIndexInfosOfType(type)[0]?.type ?? type) : type;
    const parts = partsOf(one).filter((part) => isRest || !isOptional || !(part.flags & ts.TypeFlags.Undefined));
    return { name: symbol.name, isOptional, isRest, parts, node: written?.type };
  });
}
