/**
 * For `npm start`: ends the process with exit code 0 if a signal arrives while tsx is loading.
 * `signals.ts` takes over.
 *
 * @module
 */
import process from "node:process";

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
