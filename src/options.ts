/**
 * The options of a service, and their defaults.
 *
 * @module
 */
import type { DescriptionReport } from "./description/description.ts";
import type { DescriptionPlace, LastFile } from "./description/source.ts";
import type { Forward, ResolvedForward } from "./gateway/policy.ts";
import type { Cors } from "./http/common-headers.ts";
import type { Hosts } from "./http/host-trust.ts";
import { NodeMemory } from "./info/node-memory.ts";
import type {
  EventSettings,
  InfoSettings,
  NodeOptions,
  NodeSettings,
  PageSettings,
} from "./setting-types.ts";
import type { HostInfo } from "./info/query-plan.ts";
import { consoleLog, describeError, type Log, type LogCalls } from "./log.ts";
import { withoutKeys } from "./untrusted-text.ts";
import type { Kind } from "./kinds/kind.ts";
import { Meters } from "./metrics/metrics.ts";
import type { DocumentOptions, Operation } from "./host-operations/operation.ts";

/** The options of a service: see [Embedding](../docs/embedding.md#the-options). */
export interface NodefaceOptions<Paths extends readonly string[] = readonly string[]> {
  /**
   * The host names to serve besides loopback names and IP literals; `"*"` allows any name. As a
   * protection against DNS rebinding, calls, events, history, metrics and the host's operations get
   * 421 under any other host name; with a `cors` other than `"*"`, so does every request. @default
   * []
   */
  hosts?: Hosts | undefined;
  /**
   * The origins whose pages may read the responses; `"*"` for any, `[]` for none. CORS requests
   * with credentials are never allowed. A list of origins also applies to the host's operations,
   * but `"*"` does not (see {@linkcode Operation.cors}). @default "*"
   */
  cors?: Cors | undefined;
  /**
   * The path prefix under which clients reach the service, such as `/deep/node`. A router in front
   * of the service may strip this prefix from requests. @default ""
   */
  prefix?: string | undefined;
  /**
   * The node's own OpenAPI description: a path, a URL, an object with `text`, or the document.
   * Later changes to the document have no effect. `"none"` shows only this service's operations. If
   * `node.url` is set, one server below `./v1/node` replaces the top-level servers, so that calls
   * go through this service.
   * @default taken from the node or its kind
   */
  description?: DescriptionPlace | DescriptionDocument | DescriptionWithBase | undefined;
  /** The host's own operations, which the description and the explorer also show. @default [] */
  operations?: { readonly [Index in keyof Paths]: Operation<Paths[Index]> } | undefined;
  /**
   * The parts of the description other than operations: `info`, `tags`, `externalDocs` and
   * `components`. The host's operations may refer to `components`.
   * @default taken from the node's description, or from this service's own description
   */
  document?: DocumentOptions | undefined;
  /**
   * Kinds of node by name, as in `spec/kinds/`. A built-in kind of the same name is replaced.
   * @default {}
   */
  kinds?: Readonly<Record<string, Kind>> | undefined;
  /**
   * The title, logo and default view of the page. @default the node's name, and its first letter as
   * the logo
   */
  page?: PageSettings | undefined;
  /** The node's URL, or settings as under `node` in the configuration file. */
  node?: string | URL | NodeOptions | undefined;
  /**
   * The calls to forward to the node, written like `forward` in the configuration file. @default
   * "off"
   */
  forward?: Forward | undefined;
  /** If true, `/v1/metrics` serves Prometheus metrics. @default false */
  metrics?: boolean | undefined;
  /** The limits of `/v1/events`. */
  events?: EventSettings | undefined;
  /**
   * Settings as under `info` in the configuration file, or a function that returns the info. The
   * service caches each result for a second. Results have the same limits as responses from the
   * node. `synced: false` means that the node is syncing. If the function throws, rejects, exceeds
   * `node.timeout` or returns no object, the `status` is `degraded`, the `status_code` is
   * `bad_answer`, and `log` receives the reason.
   * @default the info that nodes of this kind report
   */
  info?: InfoSettings | HostInfo | undefined;
  /**
   * Called with a message when the node fails or recovers, when the description is read, and when
   * an error causes a 500 response. @default console.error
   */
  log?: Log | undefined;
  /** The calls to log: failed calls, all calls, or none. @default "failed" */
  logCalls?: LogCalls | undefined;
  /** The time at which the service started. @default now */
  startedAt?: Date | undefined;
}

/** An OpenAPI document that holds only JSON values. */
export type DescriptionDocument =
  | WithOtherKeys<{ readonly openapi: string }>
  | WithOtherKeys<{ readonly swagger: string }>;

/** The types of other packages may not declare further keys; literals may have any. */
type WithOtherKeys<T> = T | (T & { readonly [key: string]: unknown });

/** A description and the base path of its operations. */
export interface DescriptionWithBase {
  readonly from: DescriptionPlace | DescriptionDocument;
  /**
   * The path below `node.url` with which the paths of all operations begin, such as `/v1`.
   * @default the path in the description's server URLs
   */
  readonly base?: string | undefined;
}

/** Validated options, each in one normalized form. */
export interface CheckedOptions extends Omit<NodefaceOptions, "node" | "description" | "forward"> {
  readonly node?: NodeSettings | undefined;
  readonly description?: DescriptionPlace | undefined;
  readonly base?: string | undefined;
  /** Called whenever the service has read the node's description. */
  readonly onDescription?: ((report: DescriptionReport) => void) | undefined;
  readonly forward?: ResolvedForward | undefined;
  /** True for a service of its own, not in a host's server. @default false */
  readonly isStandalone?: boolean | undefined;
  /** True if the service listens on more than loopback addresses. @default false */
  readonly isInNetwork?: boolean | undefined;
  /**
   * The meters of the previous service, so that a reload does not reset the counters of
   * `/v1/metrics`.
   */
  readonly meters?: Meters | undefined;
  /**
   * The data that the previous service collected about the node, or `undefined` if the node has
   * changed.
   */
  readonly memory?: NodeMemory | undefined;
  /** The file of the description that the previous service read last. */
  readonly lastFile?: LastFile | undefined;
}

type Optional = "description" | "base" | "forward" | "lastFile" | "meters" | "onDescription";

/** The options, with defaults filled in. The callbacks `log` and `onError` never throw. */
export type ResolvedOptions =
  & {
    readonly [Key in Exclude<keyof CheckedOptions, Optional | "metrics">]-?: NonNullable<
      CheckedOptions[Key]
    >;
  }
  & Readonly<Pick<CheckedOptions, Optional>>
  & {
    readonly onError: (error: unknown, request?: string) => void;
  };

export function withDefaults(options: CheckedOptions): ResolvedOptions {
  const write = options.log ?? consoleLog;
  const log: Log = (message, event) => {
    try {
      void Promise.resolve(write(withoutKeys(message), event)).catch(() => {});
    } catch {
      // There is nowhere else to report the error.
    }
  };
  const { description, base, forward, lastFile } = options;
  return {
    hosts: options.hosts ?? [],
    cors: options.cors ?? "*",
    isStandalone: options.isStandalone ?? false,
    isInNetwork: options.isInNetwork ?? false,
    prefix: options.prefix ?? "",
    description,
    base,
    forward,
    lastFile,
    operations: options.operations ?? [],
    document: options.document ?? {},
    kinds: options.kinds ?? {},
    page: options.page ?? {},
    node: options.node ?? {},
    meters: options.metrics ? options.meters ?? new Meters() : undefined,
    memory: options.memory ?? new NodeMemory(),
    events: options.events ?? {},
    info: options.info ?? {},
    startedAt: options.startedAt ?? new Date(),
    log,
    logCalls: options.logCalls ?? "failed",
    onError: (error, request) =>
      log(describeError(error, request), { code: "error", level: "error", error }),
    onDescription: options.onDescription,
  };
}
