/**
 * The form of the parts of what `nodeface check` prints.
 *
 * @module
 */

/** One part of what is printed. */
export interface Section {
  title: string;
  /** Lines, with a break after each. */
  text: string;
  /** What is wrong, for the verdict. */
  troubles: readonly string[];
  /** What is worth knowing, though nothing is wrong: lines that `text` has as well. */
  notes?: readonly string[];
  /** The same for `--json`: keys of the one object. */
  data?: Readonly<Record<string, unknown>>;
}
