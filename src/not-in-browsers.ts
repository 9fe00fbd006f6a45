/**
 * Replaces the library in browser bundles. Importing this module throws an error.
 *
 * @module
 */
const refuse = (): never => {
  throw new Error("nodeface runs in servers and workers; do not import it in pages");
};
export const createNodeface: never = refuse();
export const defineOperation: never = refuse();
export const problem: never = refuse();
