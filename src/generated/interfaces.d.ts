/**
 * The interfaces of the known kinds, each in its own module, so that an unused interface takes no
 * memory.
 *
 * @module
 */
import type { PackedContent } from "../http/content-coding.ts";

/** The `KindInterface` of each kind, as JSON. A kind may have none. */
export const INTERFACES: Readonly<Record<string, () => Promise<PackedContent>>>;
