/**
 * How a service is made.
 *
 * @module
 */
import type { DescriptionPlace, DescriptionReport } from "./openapi/watch.ts";
import type { DescribedOperation } from "./openapi/host-operations.ts";
import type { Cors } from "./http/cors.ts";
import type { Hosts } from "./http/host-guard.ts";
import type { InfoSettings, NodeSettings } from "./info/settings.ts";
import type { OwnInfo } from "./info/query-target.ts";

/** How a service is made. */
export interface NodefaceOptions {
  /**
   * The host names to answer for besides loopback names and IP literals; `"*"` for any. Others are
   * refused with 421, since a page on another site could make its own name resolve to this service.
   *
   * @default []
   */
  hosts?: Hosts;
  /**
   * The origins whose pages may read the answers; `"*"` for any, `[]` for none. Credentials are never
   * allowed.
   *
   * @default "*"
   */
  cors?: Cors;
  /**
   * The path that comes before all others, such as `/node1`, where a server has others besides.
   *
   * @default ""
   */
  prefix?: string;
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
  onDescription?: (report: DescriptionReport) => void;
  /**
   * Further operations, which the description and the explorer show as well.
   *
   * @default []
   */
  operations?: readonly Operation[];
  /**
   * Is told of every error that is answered with 500; the client learns nothing of it.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void;
  /** The node to show, as the `node` part of the configuration file. */
  node?: NodeSettings;
  /**
   * What to show of it, as the `info` part of the configuration file; or a function that tells it
   * whenever the last answer is a second old.
   *
   * @default what its kind says
   */
  info?: InfoSettings | OwnInfo;
  /**
   * Is told what is wrong with the node, once when it begins and once when it ends.
   *
   * @default console.error
   */
  log?: (message: string) => void;
  /** When the service started. @default now */
  startedAt?: Date;
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
