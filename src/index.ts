/**
 * Nodeface as a library: a node's REST face as one `fetch` function.
 *
 * @module
 */
export { createNodeface, type Nodeface, type NodefaceOptions, type Operation } from "./app.ts";
export type { Platform } from "./platform.ts";
