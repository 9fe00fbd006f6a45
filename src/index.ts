/**
 * Nodeface as a library: a node's REST face as one `fetch` function.
 *
 * @module
 */
export { createNodeface } from "./create-nodeface.ts";
export type { Nodeface } from "./nodeface.ts";
export type { Log, NodefaceOptions, NodeOptions, Operation } from "./options.ts";
export type { Cors } from "./http/cors.ts";
export type { Hosts } from "./http/host-guard.ts";
export type { Answer, Awaitable, RequestHead } from "./http/message.ts";
export type { OwnInfo } from "./info/node-or-host.ts";
export type { AuthVariable, InfoSettings, NodeSettings } from "./info/settings.ts";
export type {
  AuthFile,
  CommandSource,
  Conversion,
  Duration,
  Field,
  FieldOptions,
  FileSource,
  GetSource,
  JsonRpcSource,
  PostSource,
  Reference,
  Source,
} from "./kinds/kind.ts";
export type { Finding } from "./openapi/diagnostics.ts";
export type { DescribedOperation } from "./openapi/operations-of-host.ts";
export type { DescriptionPlace, DescriptionReport } from "./openapi/watch.ts";
