/**
 * Serves an app on Node, with its own server or in a host's server.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { handleInOrder, hasContent, requestOf, respond, serveHttp } from "./node-server.ts";
import type { Callbacks, Listening, Servable, ServeOptions } from "./shared.ts";

export type { AnswerRecord, Listening, Servable, ServeOptions } from "./shared.ts";

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
  return (message, response, next) => {
    const { url = "/", originalUrl } = message as IncomingMessage & { originalUrl?: unknown };
    const original = typeof originalUrl === "string" ? originalUrl : undefined;
    if (next && app.matches?.({ url, originalUrl: original }) === false) return next();
    const makeRequest: typeof requestOf = (message, response) => {
      const request = withParsedBody(message, requestOf(message, response));
      return original === undefined ? request : Object.assign(request, { originalUrl: original });
    };
    handleInOrder(app, message, response, (app) => {
      void respond(app, callbacks, message, response, makeRequest, message);
    });
  };
}

const GONE =
  "a body parser of the host has read the content of this request already, and did not " +
  "leave it in request.body; mount Nodeface before that parser, or set request.body";

function withParsedBody(message: IncomingMessage, request: Request): Request {
  const { method } = request;
  const { body, rawBody } = message as { body?: unknown; rawBody?: unknown };
  const isRead = hasContent(message) && (message.readableDidRead || message.readableEnded);
  if (!isRead || Buffer.isBuffer(rawBody) || method === "GET" || method === "HEAD") return request;
  const content = contentOf(body, message.headers["content-type"] ?? "");
  const headers = new Headers(request.headers);
  // The body parser has already decoded the content.
  headers.delete("content-encoding");
  headers.delete("transfer-encoding");
  if (content) headers.set("content-length", String(content.byteLength));
  const init = { method, headers, signal: request.signal, duplex: "half" };
  const fail = (controller: ReadableStreamController<unknown>) =>
    controller.error(new TypeError(GONE));
  const held = content ?? new ReadableStream({ pull: fail });
  return new Request(request.url, { ...init, body: held } as RequestInit);
}

/** White space and number formats may differ from the original content. */
function contentOf(body: unknown, type: string): Buffer<ArrayBuffer> | undefined {
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (typeof body !== "object") return undefined;
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    return Buffer.from(new URLSearchParams(fieldsOf(body ?? {})).toString());
  }
  return /^application\/([\w.+-]+\+)?json\b/i.test(type)
    ? Buffer.from(JSON.stringify(body))
    : undefined;
}

function fieldsOf(members: object, nameOf = (key: string) => key): [string, string][] {
  return Object.entries(members).flatMap(([key, value]: [string, unknown]) => {
    const name = nameOf(key);
    if (Array.isArray(value)) return value.map((item): [string, string] => [name, String(item)]);
    if (typeof value !== "object" || value === null) return [[name, String(value)]];
    return fieldsOf(value, (inner) => `${name}[${inner}]`);
  });
}
