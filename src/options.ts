/**
 * The options of a service, and their defaults.
 *
 * @module
 */
import type { DescriptionPlace, DescriptionReport } from "./description/watch.ts";
import type { View } from "./explorer/page-settings.ts";
import type { Forward, ResolvedForward } from "./gateway/policy.ts";
import type { Cors } from "./http/response.ts";
import type { Hosts } from "./http/request.ts";
import { NodeMemory } from "./info/state-log.ts";
import type { EventSettings, InfoSettings, NodeSettings } from "./info/settings.ts";
import type { HostInfo } from "./info/query-plan.ts";
import { consoleLog, describeError, type Log, type LogCalls } from "./log.ts";
import { withoutKeys } from "./untrusted-text.ts";
import type { Kind } from "./kinds/kind.ts";
import { Meters } from "./metrics/metrics.ts";
import type { DocumentOptions, Operation } from "./host-operations/operation.ts";

/** The options of a service. */
export interface NodefaceOptions<Paths extends readonly string[] = readonly string[]> {
  /**
   * The host names that are served besides loopback names and IP literals; `"*"` for any. Others are refused with 421,
   * since a page on another site could make its own name resolve to this service. @default []
   */
  hosts?: Hosts | undefined;
  /**
   * The origins whose pages may read the responses; `"*"` for any, `[]` for none. Credentials are never allowed. A list
   * applies to the operations of the host as well; `"*"` does not, see {@linkcode Operation.cors}. @default "*"
   */
  cors?: Cors | undefined;
  /** The path of the service for clients, such as `/deep/node`. A router may remove it from a request. @default "" */
  prefix?: string | undefined;
  /**
   * The node's own OpenAPI description: the path or URL of a file, its text, or the document, which is copied; `"none"`
   * for this service's operations alone. With `node.url`, its top-level servers stand for the node;
   * `{ from, servers: "keep" }` leaves them unchanged. @default where nodes of its kind describe themselves
   */
  description?: DescriptionPlace | DescriptionDocument | DescriptionWithServers | undefined;
  /** Further operations, which the description and the explorer also show. @default [] */
  operations?: { readonly [Index in keyof Paths]: Operation<Paths[Index]> } | undefined;
  /**
   * The other parts of the description: `info`, `tags`, `externalDocs`, and `components` for the host's operations.
   * @default those of the node's description, or this service's own
   */
  document?: DocumentOptions | undefined;
  /** Kinds of node by name, in the form of `spec/kinds/`. Each replaces a known kind of its name. @default {} */
  kinds?: Readonly<Record<string, Kind>> | undefined;
  /** The title, logo and first view of the page. @default the name of the node and its first letter */
  page?: PageSettings | undefined;
  /** The node: its URL, or the `node` part of the configuration file. */
  node?: string | URL | NodeOptions | undefined;
  /** The calls that are forwarded to the node, like `forward` in the configuration file. @default "off" */
  forward?: Forward | undefined;
  /** If true, `/v1/metrics` is served, for Prometheus. @default false */
  metrics?: boolean | undefined;
  /** The limits of `/v1/events`. */
  events?: EventSettings | undefined;
  /**
   * The `info` part of the configuration file; or a function that returns the info, called when its last result is a
   * second old. The result is read as JSON within the limits of a node's response. `synced: false` means that the node is
   * syncing. If the function throws, rejects or takes longer than `node.timeout`, the node is `unreachable`.
   * @default the info of its kind
   */
  info?: InfoSettings | HostInfo | undefined;
  /**
   * A function that takes messages for the operator: when a failure of the node begins or ends, each time its
   * description is read, and for each error that becomes a 500. @default console.error
   */
  log?: Log | undefined;
  /** The calls to the node that are logged: failed calls, all, or none. @default "failed" */
  logCalls?: LogCalls | undefined;
  /** When the service started. @default now */
  startedAt?: Date | undefined;
}

/** The parts of the page that a host or an operator may change. */
export interface PageSettings {
  /** The heading and title: one line, at most 80 characters. @default the name of the node */
  readonly title?: string | undefined;
  /** An image, which is the icon as well: PNG, SVG, JPEG, WebP, GIF or ICO, at most 256 KiB. */
  readonly logo?: Uint8Array | undefined;
  /** The page at `/v1/spec`; both are also at `/v1/spec/reference` and `/v1/spec/simple`. @default "reference" */
  readonly view?: View | undefined;
}

/** An OpenAPI document that contains only JSON values. */
export type DescriptionDocument = { readonly openapi: string } | { readonly swagger: string };

/** A description, and how its top-level servers are used. */
export interface DescriptionWithServers {
  readonly from: DescriptionPlace | DescriptionDocument;
  /**
   * `"keep"` leaves the servers unchanged; a path, such as `/v1`, replaces them and is put before every path.
   * @default with `node.url`, they stand for the node, and only their path is used
   */
  readonly servers?: string | undefined;
}

/** The settings of the node; its URLs may also be `URL` objects. */
export interface NodeOptions extends Omit<NodeSettings, "url" | "public_url"> {
  /** Its URL, `http:` or `https:`. */
  url?: string | URL | undefined;
  /** Its URL for pages, which replaces the servers of its description. */
  public_url?: string | URL | undefined;
}

/** Checked options, each in one form. */
export interface CheckedOptions extends Omit<NodefaceOptions, "node" | "description" | "forward"> {
  readonly node?: NodeSettings | undefined;
  readonly description?: DescriptionPlace | undefined;
  readonly servers?: string | undefined;
  /** Called each time the description is read. */
  readonly onDescription?: ((report: DescriptionReport) => void) | undefined;
  readonly forward?: ResolvedForward | undefined;
  /** The meters of the service that this one replaces. */
  readonly meters?: Meters | undefined;
  /** The memory of the service that this one replaces, for the same node. */
  readonly memory?: NodeMemory | undefined;
}

type Optional = "description" | "servers" | "forward" | "meters";

/** The options with all defaults. Its callbacks never throw. */
export type ResolvedOptions =
  & {
    readonly [Key in Exclude<keyof CheckedOptions, Optional | "page" | "metrics">]-?: NonNullable<
      CheckedOptions[Key]
    >;
  }
  & Readonly<Pick<CheckedOptions, Optional>>
  & {
    readonly page: PageSettings & { readonly view: View };
    /** Logs an unexpected error. */
    readonly onError: (error: unknown) => void;
  };

/** Adds defaults, and makes the callbacks safe to call. */
export function withDefaults(options: CheckedOptions): ResolvedOptions {
  const write = options.log ?? consoleLog;
  const log = harmless<Parameters<Log>>((message, event) => write(withoutKeys(message), event));
  const { description, servers, forward } = options;
  return {
    hosts: options.hosts ?? [],
    cors: options.cors ?? "*",
    prefix: options.prefix ?? "",
    ...{ description, servers, forward },
    operations: options.operations ?? [],
    document: options.document ?? {},
    kinds: options.kinds ?? {},
    page: { ...options.page, view: options.page?.view ?? "reference" },
    node: options.node ?? {},
    meters: options.metrics ? options.meters ?? new Meters() : undefined,
    memory: options.memory ?? new NodeMemory(),
    events: options.events ?? {},
    info: options.info ?? {},
    startedAt: options.startedAt ?? new Date(),
    log,
    logCalls: options.logCalls ?? "failed",
    onError: (error) => log(describeError(error), { code: "error", level: "error", error }),
    onDescription: harmless(options.onDescription ?? (() => {})),
  };
}

/** Ignores the errors of a host's callback. */
function harmless<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    try {
      void Promise.resolve(callback(...args)).catch(() => {});
    } catch {
      // There is nowhere else to report it.
    }
  };
}
