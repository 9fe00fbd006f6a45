/**
 * A stand-in that a bundle for browsers gets in place of the library: its exports, and one sentence.
 *
 * @module
 */
export const createNodeface: never = refuse();
export const defineOperation: never = refuse();
export const problem: never = refuse();

function refuse(): never {
  throw new Error("nodeface runs in servers and workers, not in pages: do not import it there");
}
