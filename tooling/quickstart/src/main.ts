// `npm run demo`: reads the arguments and hands over.

import { runDemo } from "./demo.ts";
import { sentenceEmbedder } from "./embed.ts";
import { startEngine } from "./engine.ts";

// Who reads only the beginning (`| head`) has seen enough.
process.stdout.on("error", (error) => {
  if (!("code" in error && error.code === "EPIPE")) throw error;
  process.exit(1);
});

process.exitCode = await runDemo(process.argv.slice(2), {
  output: process.stdout,
  complaints: process.stderr,
  environment: process.env,
  startEngine: ({ data = ".memory", ...options }) =>
    startEngine(options.postgres === undefined ? { data, ...options } : options),
  embedder: sentenceEmbedder(),
  elapsedMs: () => performance.now(),
});
