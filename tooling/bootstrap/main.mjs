// Every script of the root comes through here, so that a fresh clone needs nothing but Node 20 and npm: find or fetch
// the toolchain, install the workspace, run the task. Plain JavaScript, because Node 20 has to read it before anything
// is installed. What is fetched goes to .toolchain/ beside this file and is used again the next time.

import { callerFolder, childEnvironment, root } from "./environment.mjs";
import { Failure, runStep, say, sayFailure } from "./steps.mjs";
import { taskNames, tasks } from "./tasks.mjs";
import { findToolchain } from "./toolchain.mjs";
import { installWorkspace } from "./workspace.mjs";

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  sayFailure(error);
  process.exitCode = 1;
}

async function main([name, ...rest]) {
  if (name === undefined) throw new Failure("No task is named.", `name one of: ${taskNames()}.`);
  if (!Object.hasOwn(tasks, name)) {
    throw new Failure(`There is no task "${name}".`, `name one of: ${taskNames()}.`);
  }
  const task = tasks[name];
  const args = rest[0] === "--" ? rest.slice(1) : rest;

  const toolchain = await findToolchain();
  const env = childEnvironment(toolchain);
  await installWorkspace(env);
  for (const step of task(args)) {
    const command = step.command === "node" ? toolchain.node : step.command;
    const viaPnpm = step.command === "node" ? [] : ["exec"];
    say(step.says);
    const code = await runStep(
      viaPnpm.length > 0 ? toolchain.pnpm : command,
      [...(viaPnpm.length > 0 ? ["exec", command] : []), ...step.args],
      {
        cwd: step.fromCaller === true ? callerFolder : root,
        env: { ...env, ...step.env },
      },
    );
    if (code !== 0)
      throw new Failure(`"${name}" did not pass: ${step.says.toLowerCase()} ended with code ${code}.`, step.advice);
  }
  say("Done");
  return 0;
}
