/**
 * How a service is made.
 *
 * @module
 */
import { forLog, formatFinding } from "./openapi/diagnostics.ts";
import type { DescriptionPlace, DescriptionReport } from "./openapi/watch.ts";
import type { DescribedOperation } from "./openapi/operations-of-host.ts";
import type { Cors } from "./http/cors.ts";
import type { Hosts } from "./http/host-guard.ts";
import type { InfoSettings, NodeSettings } from "./info/settings.ts";
import type { HostInfo } from "./info/query-plan.ts";
import type { Log } from "./info/state-log.ts";
import type { Kind } from "./kinds/kind.ts";

/** How a service is made. */
export interface NodefaceOptions {
  /**
   * The host names to answer for besides loopback names and IP literals; `"*"` for any. Others are
   * refused with 421, since a page on another site could make its own name resolve to this service.
   *
   * @default []
   */
  hosts?: Hosts | undefined;
  /**
   * The origins whose pages may read the answers; `"*"` for any, `[]` for none. Credentials are never
   * allowed.
   *
   * @default "*"
   */
  cors?: Cors | undefined;
  /**
   * The path that comes before all others, such as `/node1`, where a server has others besides.
   *
   * @default ""
   */
  prefix?: string | undefined;
  /**
   * The node's own OpenAPI description, to which this service's operations are added: the path or
   * the URL of a file, or its text; `"none"` for this service's operations alone. `node.url` is what
   * its servers are relative to, `node.public_url` takes their place.
   *
   * @default where nodes of its kind describe themselves, taken up by `refresh`
   */
  description?: DescriptionPlace | undefined;
  /**
   * Is told what is wrong with the description, each time that it has been read.
   *
   * @default one line for each finding to console.error
   */
  onDescription?: ((report: DescriptionReport) => void) | undefined;
  /**
   * Further operations, which the description and the explorer show as well.
   *
   * @default []
   */
  operations?: readonly Operation[] | undefined;
  /**
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: ((error: unknown) => void) | undefined;
  /**
   * Kinds of node of the host's own, by name, in the form of the files in `spec/kinds/`. They win over
   * known ones of the same name.
   *
   * @default {}
   */
  kinds?: Readonly<Record<string, Kind>> | undefined;
  /** The node to show, as the `node` part of the configuration file. */
  node?: NodeOptions | undefined;
  /**
   * What to show of it, as the `info` part of the configuration file; or a function that tells it
   * whenever the last answer is a second old.
   *
   * @default what its kind says
   */
  info?: InfoSettings | HostInfo | undefined;
  /**
   * Is told what an operator should know of the node: what is wrong with it, once when it begins and
   * once when it ends.
   *
   * @default console.error
   */
  log?: Log | undefined;
  /** When the service started. @default now */
  startedAt?: Date | undefined;
}

/** The node, whose URLs may be objects as well. */
export interface NodeOptions extends Omit<NodeSettings, "url" | "public_url"> {
  /** Where it answers, `http:` or `https:`. */
  url?: string | URL | undefined;
  /** Where pages reach it; takes the place of the servers of its description. */
  public_url?: string | URL | undefined;
}

/** An operation of a host's own. */
export interface Operation extends DescribedOperation {
  /**
   * Answers a request to it. HEAD comes here where the method is GET, and has its body left out.
   * An answer that says nothing for more than twelve seconds may be cut by the server.
   *
   * @param request as the server gave it
   * @param params what stands in place of the names in the path, not decoded
   */
  handle(
    request: Request,
    params: Readonly<Record<string, string>>,
  ): Response | Promise<Response>;
}

/** The options with all defaults, right in themselves. Its callbacks never throw. */
export interface ResolvedOptions {
  readonly hosts: Hosts;
  readonly cors: Cors;
  readonly prefix: string;
  readonly description: DescriptionPlace | undefined;
  readonly onDescription: (report: DescriptionReport) => void;
  readonly operations: readonly Operation[];
  readonly onError: (error: unknown) => void;
  /** The host's own kinds, which are laid over the known ones. */
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly node: NodeSettings;
  readonly info: InfoSettings | HostInfo;
  readonly log: Log;
  readonly startedAt: Date;
}

/** Options that have been checked; URLs of the node are text. */
export type CheckedOptions = Omit<NodefaceOptions, "node"> & { node?: NodeSettings };

/** Gives the defaults of the options that were left out, and makes the callbacks safe to call. */
export function withDefaults(options: CheckedOptions): ResolvedOptions {
  const { log, onError, onDescription } = options;
  return {
    hosts: options.hosts ?? [],
    cors: options.cors ?? "*",
    prefix: options.prefix ?? "",
    description: options.description,
    operations: options.operations ?? [],
    kinds: options.kinds ?? {},
    node: options.node ?? {},
    info: options.info ?? {},
    startedAt: options.startedAt ?? new Date(),
    log: harmless(log ?? ((message) => console.error(message))),
    onError: harmless(onError ?? ((error) => console.error(error))),
    onDescription: harmless(onDescription ?? complain),
  };
}

/** Says what is wrong with a description where nobody else does. */
function complain({ findings }: DescriptionReport): void {
  const { told, more } = forLog(findings);
  for (const finding of told) console.error(formatFinding(finding));
  if (more > 0) console.error(`and ${more} more; nodeface check shows all`);
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
