/**
 * Where a node's description is.
 *
 * @module
 */

/** Where a node's description is: a file's path or URL, or the text itself. */
export type DescriptionPlace =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined };
