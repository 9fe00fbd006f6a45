/**
 * Nodeface as a library: a node's REST interface as one `fetch` function.
 *
 * @module
 */
import { createApp } from "./app.ts";
import type { Nodeface } from "./nodeface.ts";
import { checkOptions } from "./options-schema.ts";
import type { NodefaceOptions } from "./options.ts";

export type { Nodeface } from "./nodeface.ts";
export { defineOperation } from "./host-operations/operation.ts";
export type {
  DocumentOptions,
  Operation,
  OperationObject,
  PathParameters,
} from "./host-operations/operation.ts";
export { problem } from "./http/problem.ts";
export type { Cors } from "./http/common-headers.ts";
export type { Hosts } from "./http/host-trust.ts";
export type { HostInfo } from "./info/query-plan.ts";
export type { Info } from "./info/info.ts";
export type { Status, StatusCode } from "./info/status.ts";
export type { Method, RestOperation } from "./kinds/interface.ts";
export type { Field, Kind, Source } from "./kinds/kind.ts";
export type { Forward } from "./gateway/policy.ts";
export type { Log, LogCalls, LogEvent } from "./log.ts";
export type { NodefaceOptions } from "./options.ts";
export type {
  EventSettings,
  ForwardSettings,
  InfoSettings,
  NodeOptions,
  PageSettings,
} from "./setting-types.ts";
export type { Duration } from "./units.ts";

/**
 * Creates a service. The service loads nothing until its first request or a call to `ready`.
 *
 * @throws {TypeError} if options are invalid; the message lists the errors
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 *
 * // Deno, Bun and workers serve an object that has `fetch`.
 * export default createNodeface();
 * ```
 */
export function createNodeface<const Paths extends readonly string[] = readonly string[]>(
  options: NodefaceOptions<Paths> = {},
): Nodeface {
  return createApp(checkOptions(options as NodefaceOptions));
}
