/** A process that would run forever, but sends SIGTERM to itself as soon as it handles signals. */
import process from "node:process";
import "../../src/cli/signals.ts";

setInterval(() => {}, 1000);
process.kill(process.pid, "SIGTERM");
