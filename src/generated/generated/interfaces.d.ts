/**
 * What the known kinds of node offer to be called, each a module of its own, so that a kind that is not used
 * takes no memory. `description/known-interface.ts` unpacks them.
 *
 * @module
 */
import type { PackedContent } from "../http/build-time-content.ts";

/** A `KindInterface` as JSON, by the name of the kind; some have none. */
export const INTERFACES: Readonly<Record<string, () => Promise<PackedContent>>>;
