// A conductor that does nothing but start one client, told by its path, and say which process that is.

import { fork } from "node:child_process";

const child = fork(process.argv[2] ?? "", { execArgv: ["--conditions=@memory/source"] });
child.once("spawn", () => process.send?.(child.pid));
