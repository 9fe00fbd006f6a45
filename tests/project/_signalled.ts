/** A process that gets a signal to stop as soon as it handles signals, and would otherwise run on. */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
