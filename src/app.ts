/**
 * Creates the service: a function that takes a `Request`, finds its route, and returns a
 * `Response`.
 *
 * @module
 */
import { CallRoutes } from "./call-routes.ts";
import { NO_WEBSOCKET } from "./gateway/refusal.ts";
import { operationRoutes } from "./host-operations/call-operation.ts";
import { type CommonHeadersFor, createCommonHeaders } from "./http/common-headers.ts";
import { HostGuard } from "./http/host-guard.ts";
import { Prefix } from "./http/prefix.ts";
import { problemResponse } from "./http/problem.ts";
import {
  disconnectSignalOf,
  isWebSocket,
  type ServedRequest,
  UNREADABLE_CONTENT,
} from "./http/request.ts";
import { complete, nativeOf, STATUS_CLIENT_CLOSED_REQUEST } from "./http/response.ts";
import { type Matched, RoutedRequest, Routes } from "./http/routes.ts";
import { parseTarget, refuseMalformed } from "./http/target.ts";
import { openNode } from "./info/open-node.ts";
import { objectOf } from "./json/values.ts";
import { describeError } from "./log.ts";
import { OTHER } from "./metrics/metrics.ts";
import type { Nodeface } from "./nodeface.ts";
import { type CheckedOptions, type ResolvedOptions, withDefaults } from "./options.ts";
import { ownRoutes } from "./own-routes.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { Resources } from "./resources/resources.ts";

export const createApp = (checked: CheckedOptions): App => new App(withDefaults(checked));

/**
 * Hosts may use the functions of a `Nodeface` without the object, so these functions do not need
 * `this`.
 *
 * A service ends in parts:
 *
 * | ending              | called by                          | what goes on after it             |
 * | ------------------- | ---------------------------------- | --------------------------------- |
 * | `endStreams`        | a server that closes               | all else; new streams can begin   |
 * | `endRemovedClients` | each reload of the configuration   | calls of other clients            |
 * | `endCalls`          | a reload that changes how to call  | requests without a call           |
 * | `closeWhenIdle`     | a reload, of the replaced service  | requests and calls that had begun |
 * | `close`             | the host; the command when it ends | requests, with old values         |
 */
export class App implements Nodeface {
  readonly onError: ResolvedOptions["onError"];
  readonly #options: ResolvedOptions;
  readonly #resources: Resources;
  readonly #calls: CallRoutes;
  readonly #hosts: HostGuard;
  readonly #prefix: Prefix;
  readonly #headersFor: CommonHeadersFor;
  /** What counts as the route of a request that matches no route. */
  readonly #unmatched: Matched;
  readonly #routes: Routes;
  /** The requests without a response. */
  readonly #begun = new Set<Promise<Response>>();

  constructor(options: ResolvedOptions) {
    this.#options = options;
    const node = openNode(options.node, options.kinds);
    this.#resources = new Resources(options, node);
    this.#calls = new CallRoutes(options, node, this.#resources);
    this.#hosts = new HostGuard(options.hosts, options.isInNetwork);
    this.#prefix = new Prefix(options.prefix);
    this.#headersFor = createCommonHeaders(options.cors);
    this.#unmatched = { path: OTHER, headersFor: this.#headersFor };
    this.#routes = this.#createRoutes();
    this.onError = options.onError;
  }

  #createRoutes(): Routes {
    const options = this.#options, calls = this.#calls, hosts = this.#hosts;
    const resources = this.#resources, prefix = this.#prefix, headersFor = this.#headersFor;
    const { operations, cors, meters } = options;
    const root = calls.dropIn && hosts.guard(calls.dropIn.route);
    return new Routes(
      ownRoutes({ options, resources, calls, root, hosts, prefix, headersFor }),
      operationRoutes(operations, cors).map((route) => hosts.guard(route)),
      ({ request, path }) => {
        if (isWebSocket(request)) return NO_WEBSOCKET;
        const isOff = path === "/v1/metrics" && !meters;
        return isOff ? "It is off; see the setting metrics" : calls.hint;
      },
      root,
    );
  }

  readonly fetch: Nodeface["fetch"] = async (request, ...context) => {
    // A host written in JavaScript may pass any value.
    if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
      const error = new TypeError("fetch expects a Request");
      this.onError(error);
      const common = this.#headersFor({ headers: new Headers() });
      return nativeOf(complete(problemResponse(500, FAILED), common, { method: "GET" }));
    }
    const target = parseTarget(request.url);
    const path = this.#options.prefix === ""
      ? target.pathname
      : this.#findPath(this.#prefix.pathsOf(request)) ?? target.pathname;
    const routed = new RoutedRequest(request, target, path, context, this.#unmatched);
    const begun = this.#respond(routed);
    this.#begun.add(begun);
    if (!HAS_SOCKETS) keepRunning(context, begun.then(this.#settled, this.#settled));
    let response: Response;
    try {
      response = await begun;
    } finally {
      this.#begun.delete(begun);
    }
    this.#options.meters?.countResponse(routed.matched.path, response.status);
    return (request as ServedRequest).takesFastResponse ? response : nativeOf(response);
  };

  readonly #settled = (): Promise<void> => this.#resources.settled();

  async #respond(routed: RoutedRequest): Promise<Response> {
    const { request } = routed;
    try {
      const { upgrade } = request;
      const response = this.#refuse(routed) ??
        (upgrade ? await this.#handshake(routed) : undefined) ?? await this.#routes.respond(routed);
      return complete(response, routed.commonHeaders(), request);
    } catch (error) {
      if (error === UNREADABLE_CONTENT) {
        return complete(
          problemResponse(400, UNREADABLE_CONTENT.message),
          routed.commonHeaders(),
          request,
        );
      }
      if (disconnectSignalOf(request).aborted) {
        return complete(
          new Response(null, { status: STATUS_CLIENT_CLOSED_REQUEST }),
          routed.commonHeaders(),
          request,
        );
      }
      // The query may contain secrets, so it is not logged.
      const message = `${request.method} ${routed.path} failed with 500: ${describeError(error)}`;
      this.#options.log(message, { code: "error", level: "error", error });
      return complete(problemResponse(500, FAILED), routed.commonHeaders(), request);
    }
  }

  #refuse(routed: RoutedRequest): Response | undefined {
    const malformed = refuseMalformed(routed.request, routed.target);
    if (malformed) return malformed;
    // Without `cors: "*"`, other pages may read nothing, so no response may be read by rebinding
    // either.
    return this.#options.cors === "*" ? undefined : this.#hosts.refuse(routed);
  }

  #handshake(routed: RoutedRequest): Response | Promise<Response | undefined> {
    const [route] = this.#routes.at(routed.path).values();
    if (route) routed.matched = route;
    return this.#hosts.refuse(routed) ?? this.#calls.handshake(routed);
  }

  /** Of the possible paths, one of ours comes before the node's. */
  #findPath(paths: readonly string[]): string | undefined {
    const found = paths.filter((path) => this.#routes.at(path).size > 0);
    return found.find((path) => this.#routes.isOwn(path)) ?? found[0];
  }

  readonly matches: Nodeface["matches"] = (request) =>
    this.#findPath(this.#prefix.pathsBelow(request)) !== undefined;

  readonly isBelowPrefix: Nodeface["matches"] = (request) =>
    this.#prefix.pathsBelow(request).length > 0;

  readonly refresh: Nodeface["refresh"] = () => this.#resources.refresh();

  readonly ready: Nodeface["ready"] = () => this.#resources.prepare();

  /** Never rejects. */
  async warmUp(): Promise<void> {
    try {
      await this.#calls.gateway?.clients.read();
      await this.#resources.monitor.snapshot();
    } catch (error) {
      this.onError(error);
    }
  }

  /** Ends streams and connections, which would keep a server from closing. */
  readonly endStreams = (): void => {
    this.#resources.events.stream.endStreams();
    void this.#calls.sockets?.endSessions();
  };

  /** Ends the calls of clients that the next configuration does not have, or not as they are. */
  endRemovedClients(forward: ResolvedOptions["forward"]): void {
    this.#calls.gateway?.clients.endAllBut(forward?.clients ?? []);
  }

  /** Ends connections and refuses calls that wait; those that run have a few seconds to end. */
  endCalls(): void {
    void this.#calls.endSockets();
    this.#calls.gateway?.close();
  }

  /** Ends connections and streams; closes the service when it has finished what it began. */
  async closeWhenIdle(): Promise<void> {
    const ending = this.#calls.endSockets();
    this.#resources.end();
    // A request or a message may begin a call.
    await Promise.allSettled([...this.#begun, ending]);
    // `close` would end responses that are still being sent.
    await this.#calls.gateway?.idle();
    await this.close();
  }

  readonly close = async (): Promise<void> => {
    this.endCalls();
    await Promise.all([this.#resources.close(), this.#calls.gateway?.idle()]);
  };

  readonly [Symbol.asyncDispose]: () => Promise<void> = this.close;
}

const FAILED = "Internal error; the log of the service has the reason";

/** On workerd, work stops silently when its request ends, or when the client leaves. */
function keepRunning(context: readonly unknown[], work: Promise<unknown>): void {
  const owner = context.find((one) => typeof objectOf(one).waitUntil === "function");
  (owner as { waitUntil(work: Promise<unknown>): void } | undefined)?.waitUntil(work);
}
