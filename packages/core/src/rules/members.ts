// What walking the members of an object takes: their names after masking, their paths, and setting one whatever its name.

/** The dotted path of these steps; dots and backslashes in member names are escaped by a backslash. */
export function joinPath(root: string, steps: readonly (string | number)[]): string {
  let path = root;
  for (const step of steps) path += `.${typeof step === "number" ? step : step.replace(/[.\\]/g, "\\$&")}`;
  return path;
}

/**
 * The names under which the members are kept: masked, and where a masked one meets another, told apart by a number
 * (`[redacted]`, `[redacted]_2`). Names that need no mask always keep theirs. Linear in the number of names.
 *
 * @returns `names` itself where nothing was masked.
 */
export function memberNames(names: readonly string[], mask: (name: string) => string): readonly string[] {
  let masked: string[] | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const shown = mask(name);
    if (shown === name) continue;
    masked ??= [...names];
    masked[index] = shown;
  }
  return masked === undefined ? names : tellApart(names, masked);
}

/** Sets an own member of any name, `__proto__` too. */
export function setMember<V>(target: Record<string, V>, name: string, value: V): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

function tellApart(names: readonly string[], masked: readonly string[]): readonly string[] {
  const taken = new Set(names.filter((name, index) => masked[index] === name));
  const counts = new Map<string, number>();
  return masked.map((shown, index) => {
    if (shown === names[index]) return shown;
    let count = counts.get(shown) ?? 1;
    let name = count === 1 ? shown : `${shown}_${count}`;
    while (taken.has(name)) {
      count += 1;
      name = `${shown}_${count}`;
    }
    taken.add(name);
    counts.set(shown, count);
    return name;
  });
}
