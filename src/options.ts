/**
 * The options of a service, and their defaults.
 *
 * @module
 */
import type { DescriptionPlace, DescriptionReport } from "./description/watch.ts";
import type { View } from "./explorer/page-settings.ts";
import type { Forward, ResolvedForward } from "./gateway/policy.ts";
import type { Cors } from "./http/common-headers.ts";
import type { Hosts } from "./http/hosts.ts";
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
   * The host names that are served besides loopback names and IP literals; `"*"` for any. Others are
   * refused with 421, since a page on another site could make its own name resolve to this service.
   *
   * @default []
   */
  hosts?: Hosts | undefined;
  /**
   * The origins whose pages may read the responses; `"*"` for any, `[]` for none. Credentials are never
   * allowed. A list is for the operations of the host as well; `"*"` is not, see {@linkcode Operation.cors}.
   *
   * @default "*"
   */
  cors?: Cors | undefined;
  /**
   * The path of the service as clients see it, such as `/deep/node`. A host's router may take it off
   * before the request comes here, or leave it. Routers of Fetch that take it off need it said here, or
   * the redirect from the mount itself is wrong.
   *
   * @default ""
   */
  prefix?: string | undefined;
  /**
   * The node's own OpenAPI description, to which this service's operations are added: the path or
   * the URL of a file, its text, or the document itself, of which a copy is taken; `"none"` for this
   * service's operations alone. The servers at its top stand for `node.url`; `{ from, servers: "keep" }`
   * leaves them as they are. `node.public_url` takes their place.
   *
   * @default where nodes of its kind describe themselves
   */
  description?: DescriptionPlace | DescriptionDocument | DescriptionWithServers | undefined;
  /** Further operations, which the description and the explorer show as well. @default [] */
  operations?: { readonly [Index in keyof Paths]: Operation<Paths[Index]> } | undefined;
  /**
   * The parts of the description besides its operations: `info`, `tags`, `externalDocs`, and the `components`
   * that the host's operations refer to, as OpenAPI writes them.
   *
   * @default what the node's description says, or this service's own
   */
  document?: DocumentOptions | undefined;
  /**
   * Kinds of node of the host's own, by name, in the form of the files in `spec/kinds/`. They win over
   * known ones of the same name.
   *
   * @default {}
   */
  kinds?: Readonly<Record<string, Kind>> | undefined;
  /**
   * The title of the page, its logo, and the document that it begins with.
   *
   * @default the name of the node and its first letter
   */
  page?: PageSettings | undefined;
  /** The node to show: its URL, or the `node` part of the configuration file. */
  node?: string | URL | NodeOptions | undefined;
  /**
   * The calls that are forwarded to the node by this service: `"off"`, `"reads"`, or the `forward` part of the
   * configuration file.
   *
   * @default "off"
   */
  forward?: Forward | undefined;
  /** If true, `/v1/metrics` is served: the node's numbers and the service's own, for Prometheus. @default false */
  metrics?: boolean | undefined;
  /** Who may listen to `/v1/events`. */
  events?: EventSettings | undefined;
  /**
   * The info that is shown of it, as the `info` part of the configuration file; or a function that tells it
   * whenever its last result is a second old. What it returns is read as JSON, within the bounds of
   * a node's response: what is beyond is left out, and the log says so. `synced: false` means that the node
   * is syncing. If it throws, rejects or takes longer than `node.timeout`, the node is `unreachable`.
   *
   * @default what its kind says
   */
  info?: InfoSettings | HostInfo | undefined;
  /**
   * Is told what an operator should know, with a level and a code: what is wrong with the node, once when
   * it begins and once when it ends; what is wrong with its description, each time that it has been read;
   * and each error that becomes a 500, of which the client learns nothing.
   *
   * @default each message to console.error
   */
  log?: Log | undefined;
  /** The calls of the node that `log` is told of: those that failed, all, or none. @default "failed" */
  logCalls?: LogCalls | undefined;
  /** When the service started. @default now */
  startedAt?: Date | undefined;
}

/** The parts of the page that a host or an operator may change. */
export interface PageSettings {
  /** A text in place of the node's name as heading and title: one line, at most 80 characters. */
  readonly title?: string | undefined;
  /**
   * The bytes of an image: PNG, SVG, JPEG, WebP, GIF or ICO, at most 256 KiB. It is shown beside the title
   * and is the icon of the page.
   */
  readonly logo?: Uint8Array | undefined;
  /**
   * The document at `/v1/spec`: Scalar's reference, or the simple page. The other one stays at `/v1/spec/reference` or
   * `/v1/spec/simple`.
   *
   * @default "reference"
   */
  readonly view?: View | undefined;
}

/** An OpenAPI document as a value; only what JSON has a form for. */
export type DescriptionDocument = { readonly openapi: string } | { readonly swagger: string };

/** A description, with what becomes of the servers at its top. */
export interface DescriptionWithServers {
  readonly from: DescriptionPlace | DescriptionDocument;
  /**
   * `"keep"` leaves them as they are; a path, such as `/v1`, is the one before every path of the node.
   *
   * @default they stand for the node, where its URL is known: a path is taken of them, and no origin
   */
  readonly servers?: string | undefined;
}

/** The node, whose URLs may be objects as well. */
export interface NodeOptions extends Omit<NodeSettings, "url" | "public_url"> {
  /** Its address, `http:` or `https:`. */
  url?: string | URL | undefined;
  /** The address for pages; takes the place of the servers of its description. */
  public_url?: string | URL | undefined;
}

/** Options that have been checked: each in one form. */
export interface CheckedOptions extends Omit<NodefaceOptions, "node" | "description" | "forward"> {
  readonly node?: NodeSettings | undefined;
  readonly description?: DescriptionPlace | undefined;
  /** The treatment of the servers at its top. */
  readonly servers?: string | undefined;
  /** Is told what has become of the description, each time that it was read and the log was told. */
  readonly onDescription?: ((report: DescriptionReport) => void) | undefined;
  /** The calls that are forwarded to the node; `undefined` for nothing. */
  readonly forward?: ResolvedForward | undefined;
  /** The meters of the service before this one. */
  readonly meters?: Meters | undefined;
  /** What the service before this one remembered of the same node. */
  readonly memory?: NodeMemory | undefined;
}

/** The options for which nothing is a value as well. */
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
    /** Tells `log` of an error that nobody expected. */
    readonly onError: (error: unknown) => void;
  };

/** Gives the defaults of the options that were left out, and makes the callbacks safe to call. */
export function withDefaults(options: CheckedOptions): ResolvedOptions {
  const tell = options.log ?? consoleLog;
  const log = harmless<Parameters<Log>>((message, event) => tell(withoutKeys(message), event));
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
    // They count what `/v1/metrics` tells; nothing where that is off.
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

/** A callback of a host, which may throw or reject without harm. */
function harmless<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    try {
      void Promise.resolve(callback(...args)).catch(() => {});
    } catch {
      // There is nobody left to tell.
    }
  };
}
