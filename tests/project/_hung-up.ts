/** A process whose terminal is closed while it starts, before it handles the SIGHUP that follows. */
import { once } from "node:events";
import process from "node:process";
import { handleSignals } from "../../src/cli/signals.ts";

// A pending signal does not keep Node running.
setInterval(() => {}, 1000);
const hungUp = once(process, "SIGHUP");
process.kill(process.pid, "SIGHUP");
await hungUp;
handleSignals({ stop() {}, hangUp: () => process.exit(0) });
process.exit(1);
