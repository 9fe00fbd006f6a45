/** A process that is told to stop as soon as signals are handled, and would run on. */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
