// A client process lives no longer than the process that started it.

/** From now on the end of the parent, by whatever way, ends this process. */
export function followParent(): void {
  process.on("disconnect", end);
}

/** Parts from the parent; from now on this process ends when nothing keeps it busy. */
export function partFromParent(): void {
  process.off("disconnect", end);
  process.disconnect();
}

function end(): void {
  process.exit(0);
}
