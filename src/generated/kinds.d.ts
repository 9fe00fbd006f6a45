/**
 * The known kinds of node, from the files in `spec/kinds/`.
 *
 * @module
 */
import type { Kind } from "../kinds/kind.ts";

/** The kinds by name, in alphabetical order. */
export const KINDS: Readonly<Record<string, Kind>>;
