// What the person sees: one line a step, with what it took, and at the end of a failed one what it said.

import { CommandError } from "./command.ts";

let failed = 0;

/** Does a step and says how it went; its result, or `undefined` where it failed. */
export async function attempt<Result>(name: string, act: () => Promise<Result>): Promise<Result | undefined> {
  const began = performance.now();
  const took = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  try {
    const result = await act();
    console.log(`passed  ${name} (${took()})`);
    return result;
  } catch (error) {
    failed += 1;
    const says =
      error instanceof CommandError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
    console.log(`failed  ${name} (${took()})\n${says.replaceAll(/^/gm, "        ")}`);
    return undefined;
  }
}

/** The same for a step without which the rest makes no sense. @throws {StepError} It failed. */
export async function need<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
  let result: { readonly value: Result } | undefined;
  await attempt(name, async () => {
    result = { value: await act() };
  });
  if (result === undefined) throw new StepError(name);
  return result.value;
}

/** Does steps side by side, each to its end, whatever becomes of the others. @throws {StepError} One of them failed. */
export async function needAll(steps: readonly (readonly [name: string, act: () => Promise<void>])[]): Promise<void> {
  const before = failed;
  await Promise.all(steps.map(([name, act]) => attempt(name, act)));
  if (failed > before) throw new StepError(steps.map(([name]) => name).join(", "));
}

/** How many steps failed so far. */
export function failures(): number {
  return failed;
}

/** A step failed on which the rest depends; it has been told of. */
export class StepError extends Error {
  override readonly name = "StepError";
}
