/**
 * Simulates a terminal that is closed during the start, so that SIGHUP arrives before the process
 * can handle signals.
 */
import { once } from "node:events";
import process from "node:process";
import { signals } from "../../src/cli/signals.ts";

// Without the timer, Node would exit, even though a signal handler is installed.
setInterval(() => {}, 1000);
const hungUp = once(process, "SIGHUP");
process.kill(process.pid, "SIGHUP");
await hungUp;
signals.onHangUp(() => process.exit(0));
process.exit(1);
