// What keeps a process busy, before and after.

/** Everything that is open, by name; without the pipes by which the process talks to its parent. */
export function openHandles(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== "PipeWrap")
    .sort();
}

/** What is in the first list and not, as often, in the second. */
export function surplus(now: readonly string[], before: readonly string[]): readonly string[] {
  const rest = [...before];
  return now.filter((name) => {
    const at = rest.indexOf(name);
    if (at !== -1) rest.splice(at, 1);
    return at === -1;
  });
}
