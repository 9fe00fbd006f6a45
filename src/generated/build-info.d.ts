/**
 * The version and the commit of this build. `npm run assets` writes the modules of this folder.
 *
 * @module
 */

export const VERSION: string;

/** The abbreviated commit; `undefined` if it is unknown. */
export const COMMIT: string | undefined;
