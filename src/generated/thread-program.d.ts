/**
 * `description/thread-program.ts` as one script, which prepares a description in a thread.
 *
 * @module
 */

/** JavaScript that imports only `node:` modules. */
export const PROGRAM: string;
