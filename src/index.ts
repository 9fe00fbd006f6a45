/**
 * Nodeface as a library: a node's REST face as one `fetch` function.
 *
 * @module
 */
export { createNodeface, type Nodeface, type NodefaceOptions } from "./app.ts";
export type { Finding } from "./description/finding.ts";
export type { DescriptionPlace, DescriptionReport } from "./description/live.ts";
export type { Disk, Platform } from "./platform.ts";
