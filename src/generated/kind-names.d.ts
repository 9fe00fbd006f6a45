/**
 * The names of the kinds in `spec/kinds/`.
 *
 * @module
 */

/** The names in alphabetical order. */
export const KIND_NAMES: readonly string[];

/** The kind that is meant, by the name of a program or network that people may give instead. */
export const KIND_ALIASES: Readonly<Record<string, string>>;
