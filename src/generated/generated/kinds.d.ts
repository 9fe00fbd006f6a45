/**
 * The kinds of node that are known: the files of `spec/kinds/`, which
 * `build/generated-modules.ts` reads.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";

/** The kinds by name, in alphabetical order. */
export const KINDS: Readonly<Record<string, Kind>>;
