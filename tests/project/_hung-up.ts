/** A process whose terminal is closed while the process starts, before it can handle the resulting SIGHUP. */
import { once } from "node:events";
import process from "node:process";
import { handleSignals } from "../../src/cli/signals.ts";

// The signal handler alone does not keep Node running.
setInterval(() => {}, 1000);
const hungUp = once(process, "SIGHUP");
process.kill(process.pid, "SIGHUP");
await hungUp;
handleSignals({ stop() {}, hangUp: () => process.exit(0) });
process.exit(1);
