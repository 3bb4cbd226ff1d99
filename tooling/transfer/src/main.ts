// `npm run transfer`: hands over the arguments, and stops in order when it is asked to.

import { transfer } from "./transfer.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(new Error(signal)));

process.exitCode = await transfer(process.argv.slice(2), {
  environment: process.env,
  say: (text) => console.error(text),
  signal: stop.signal,
});
