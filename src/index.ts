/**
 * Nodeface as a library: a node's REST face as one `fetch` function.
 *
 * @module
 */
export { createNodeface, type Nodeface } from "./app.ts";
export type { InfoSettings, NodeSettings } from "./info/settings.ts";
export type { OwnInfo } from "./info/subject.ts";
export type { NodefaceOptions, Operation } from "./options.ts";
export type { Platform } from "./platform.ts";
