/**
 * What the kinds of `spec/kinds/` are called; `build/generated-modules.ts` writes it.
 *
 * @module
 */

/** The names of the kinds, in alphabetical order. */
export const KIND_NAMES: readonly string[];

/** Names of programs and networks that people give in place of a kind, by the kind they mean. */
export const KIND_ALIASES: Readonly<Record<string, string>>;
