/**
 * Installs the signal handlers and sends SIGTERM to its own process. Without the signal, the
 * process would run forever.
 */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
