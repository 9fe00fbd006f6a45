/**
 * Ends the process with 0 at a signal that comes while tsx is still loading, as `npm start` needs.
 * `signals.ts` takes over.
 *
 * @module
 */
import process from "node:process";

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
