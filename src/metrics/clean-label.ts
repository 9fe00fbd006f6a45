/**
 * Values of labels, some of which a node or a description has written.
 *
 * @module
 */
import { printable, startOf } from "../untrusted-text.ts";

/** The longest value of a label, in UTF-16 code units. */
const LENGTH_MAX = 128;

/** A value of a label as it is shown: short, and without what a parser may stop at, such as a NUL. */
export function labelOf(text: string): string {
  return printable(startOf(text, LENGTH_MAX)).replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
