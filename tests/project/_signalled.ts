/** A process that installs the signal handlers, sends SIGTERM to itself, and would otherwise run forever. */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
