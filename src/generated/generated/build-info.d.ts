/**
 * Which release this is. `npm run assets` writes the modules of this folder.
 *
 * @module
 */

/** The version of this package. */
export const VERSION: string;

/** The commit it was built from, in short; `undefined` where it is not known. */
export const COMMIT: string | undefined;
