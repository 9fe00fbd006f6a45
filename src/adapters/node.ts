/**
 * Serves an app on Node, by a server of its own or in a host's.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Callbacks,
  checkServeOptions,
  type Listening,
  listening,
  type Servable,
  type ServeOptions,
} from "./shared.ts";
import { createNodeServer, hasContent, listen, requestOf, respond, urlOf } from "./node-server.ts";

export type { AnswerRecord, Callbacks, Closeable, Listening, Outcome } from "./shared.ts";
export type { Servable, Servable as App, ServeOptions } from "./shared.ts";

/** Starts a server; rejects if it cannot listen, or with a `TypeError` if an option is wrong. */
export async function serve(app: Servable, options: ServeOptions = {}): Promise<Listening> {
  const address = checkServeOptions(options);
  const { http, close } = createNodeServer(app, options);
  await listen(http, address);
  return listening(urlOf(http), close);
}

export type Listener = (
  message: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void;

/**
 * Makes the request listener for a server of `node:http`, which is a middleware of Express and its like as
 * well. A router that takes the path of the mount off says so in `originalUrl`. The handlers of a host's
 * operations are given the `IncomingMessage` as their context.
 *
 * The limits that `serve` sets for slow clients are not set here: they belong to the host's server.
 *
 * @returns answers a request; where there is a `next`, it is called for a path that the app does not serve,
 * and nothing is written
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
    void respond(app, callbacks, message, response, makeRequest, message);
  };
}

const GONE =
  "a body parser of the host has read the content of this request already, and did not " +
  "leave it in request.body; mount Nodeface before that parser, or set request.body";

/**
 * The request with the content that a host's body parser, such as `express.json()`, left in `message.body`. Its
 * digits and spaces are those of the parser's result. If nothing was left, to read the content fails and says what
 * to do.
 *
 * @param request is returned where nothing was read, or where `message.rawBody` has the bytes
 */
function withParsedBody(message: IncomingMessage, request: Request): Request {
  const { method } = request;
  const { body, rawBody } = message as { body?: unknown; rawBody?: unknown };
  const isRead = hasContent(message) && (message.readableDidRead || message.readableEnded);
  if (!isRead || Buffer.isBuffer(rawBody) || method === "GET" || method === "HEAD") return request;
  const content = contentOf(body, message.headers["content-type"] ?? "");
  const headers = new Headers(request.headers);
  // The parser has undone both.
  headers.delete("content-encoding");
  headers.delete("transfer-encoding");
  if (content) headers.set("content-length", String(content.byteLength));
  const init = { method, headers, signal: request.signal, duplex: "half" };
  return new Request(request.url, { ...init, body: content ?? failing(GONE) } as RequestInit);
}

/** The bytes that a parser's result was made of, in its own way; `undefined` if they are not known. */
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

/** The fields of a form; those of objects in it are named `a[b]`. */
function fieldsOf(members: object, nameOf = (key: string) => key): [string, string][] {
  return Object.entries(members).flatMap(([key, value]: [string, unknown]) => {
    const name = nameOf(key);
    if (Array.isArray(value)) return value.map((item): [string, string] => [name, String(item)]);
    if (typeof value !== "object" || value === null) return [[name, String(value)]];
    return fieldsOf(value, (inner) => `${name}[${inner}]`);
  });
}

function failing(message: string): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new TypeError(message)) });
}
