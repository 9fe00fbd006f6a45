/**
 * What the known kinds of node offer to be called, each a module of its own, so that a kind that is not used
 * takes no memory.
 *
 * @module
 */
import type { KindInterface } from "../kinds/interface.ts";

/** By the name of the kind; some have none. */
export const INTERFACES: Readonly<Record<string, () => Promise<KindInterface>>>;
