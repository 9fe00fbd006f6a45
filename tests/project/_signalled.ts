/**
 * A process that installs the signal handlers and sends SIGTERM to itself. Without the signal, it would run forever.
 */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
