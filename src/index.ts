/**
 * Nodeface as a library: a node's REST face as one `fetch` function.
 *
 * @module
 */
export { createNodeface, type Nodeface } from "./nodeface.ts";
export type { InfoSettings, NodeSettings } from "./info/settings.ts";
export type { OwnInfo } from "./info/query-target.ts";
export type { Finding } from "./openapi/diagnostics.ts";
export type { Answer, Awaitable, RequestHead } from "./http/message.ts";
export type { DescriptionPlace, DescriptionReport } from "./openapi/watch.ts";
export type { NodefaceOptions, Operation } from "./options.ts";
