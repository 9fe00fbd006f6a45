/**
 * Ends the process with exit code 0 on a signal that arrives while tsx is still loading, for `npm start`.
 * `signals.ts` takes over.
 *
 * @module
 */
import process from "node:process";

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
