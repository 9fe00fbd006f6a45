/**
 * Nodeface as a library: a node's REST interface as one `fetch` function.
 *
 * @module
 */
import { createApp, type Nodeface } from "./app.ts";
import { checkOptions } from "./options-schema.ts";
import type { NodefaceOptions } from "./options.ts";

export type { Nodeface } from "./app.ts";
export * from "./host-operations/operation.ts";
export { nativeProblem as problem } from "./http/response.ts";
export type {
  DescriptionDocument,
  DescriptionWithBase,
  NodefaceOptions,
  NodeOptions,
  PageSettings,
} from "./options.ts";
export type { Closeable } from "./closeable.ts";
export type { Cors } from "./http/response.ts";
export type { Hosts } from "./http/request.ts";
export type { HostInfo } from "./info/query-plan.ts";
export type { Info, LastSeen, Service } from "./info/info.ts";
export type {
  CallEvent,
  CallRecord,
  DescriptionEvent,
  ErrorEvent,
  Log,
  LogCalls,
  LogEvent,
} from "./log.ts";
export type {
  IdentityEvent,
  KindEvent,
  Level,
  NodeEvent,
  RemarkEvent,
  StatusEvent,
  Topic,
} from "./info/state-log.ts";
export type { FailureCode } from "./node/failures.ts";
export type { Status, StatusCode } from "./info/status.ts";
export type { EventSettings, InfoSettings, NodeSettings } from "./info/settings.ts";
export type { AuthVariable, SecretPlace } from "./node/secrets.ts";
export type * from "./kinds/kind.ts";
export type {
  Access,
  ContentDescriptor,
  JsonSchema,
  KindInterface,
  Method,
  MethodExample,
  NamedValue,
  OpenApiPart,
  OpenRpcPart,
  OperationMarks,
  ParamStructure,
  RestOperation,
} from "./kinds/interface.ts";
export type { Forward, ForwardSettings } from "./gateway/policy.ts";
export type { Diagnostic } from "./openapi/diagnostics.ts";
export type { View } from "./explorer/page-settings.ts";
export type { DescriptionPlace } from "./description/watch.ts";

/**
 * Creates a service. The service loads nothing until its first request or a call to `ready`.
 *
 * @throws {TypeError} if options are invalid; the message lists every error
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
