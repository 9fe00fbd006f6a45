/**
 * Serves an app on Node, with its own server or in a host's server.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SECURITY_HEADERS } from "../http/common-headers.ts";
import { notFound, problemResponse } from "../http/problem.ts";
import { hasContent } from "./connections.ts";
import { hasRawBody } from "./message-request.ts";
import { respond, serveHttp } from "./node-server.ts";
import { handleInOrder } from "./pipelining.ts";
import {
  type Callbacks,
  checkApp,
  checkCallbacks,
  type Listening,
  type Servable,
  type ServeOptions,
} from "./shared.ts";

export type { Listening, ResponseRecord, Servable, ServeOptions } from "./shared.ts";

/**
 * Starts a server. Rejects with a `TypeError` if an option is invalid, and with another error if
 * the server cannot listen.
 *
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 * import { serve } from "nodeface/node";
 *
 * const server = await serve(createNodeface(), { port: 8080 });
 * ```
 */
export function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  return serveHttp(app, options);
}

/** A request listener and middleware, which {@linkcode listener} returns. */
export type Listener = (
  message: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void;

/**
 * Creates a request listener for a `node:http` server. The listener is also middleware for Express
 * and similar routers. A router that strips the mount path must keep the full path in
 * `originalUrl`. Handlers of the host's operations receive the `IncomingMessage` as their context.
 * Mount the listener before body parsers: a request whose content has been read already gets 500.
 *
 * Unlike `serve`, a listener does not disconnect slow clients: the host's server must do that.
 *
 * @returns a listener that calls `next` (if given) for a path that the app does not serve
 * @example
 * ```ts
 * app.use("/node", listener(createNodeface({ prefix: "/node" })));
 * ```
 */
export function listener(app: Servable, callbacks: Callbacks = {}): Listener {
  checkApp(app);
  checkCallbacks(callbacks);
  return (message, response, next) => {
    const { url = "/", originalUrl } = message as IncomingMessage & { originalUrl?: unknown };
    const original = typeof originalUrl === "string" ? originalUrl : undefined;
    if (next && app.matches?.({ url, originalUrl: original }) === false) return next();
    // `fetch` would take the path for one whose prefix a router has removed.
    const isOutside = !next && app.isBelowPrefix?.({ url, originalUrl: original }) === false;
    const refusal = isOutside ? refuseOutside : isParsed(message) ? refuseParsed : undefined;
    // Deno 2.9 reads no further request while content is unread.
    response.once("finish", () => message.resume());
    handleInOrder(message, response, (refuse = refusal) => {
      const handling = { refuse, originalUrl: original, context: [message] };
      void respond(app, callbacks, message, response, handling);
    });
  };
}

/** Tells whether the host has read the content, without leaving its bytes in `rawBody`. */
function isParsed(message: IncomingMessage): boolean {
  const isRead = message.readableDidRead || message.readableEnded;
  return isRead && hasContent(message) && !hasRawBody(message);
}

const refuseOutside = (): Response => notFound("", "", SECURITY_HEADERS);

const refuseParsed = (): Response =>
  problemResponse(
    500,
    "The host has read the content of this request already; mount Nodeface before body parsers",
    // The rest of the content may never be read.
    { ...SECURITY_HEADERS, connection: "close" },
  );
