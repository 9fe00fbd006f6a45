/**
 * The program of the thread that prepares a description, `description/thread-program.ts`, as one script.
 *
 * @module
 */

/** JavaScript without imports. */
export const PROGRAM: string;
