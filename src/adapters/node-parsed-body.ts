/**
 * The content of requests that a host's body parser, such as `express.json()`, has read already.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { namesContent } from "../http/request.ts";

/** What a handler is told that reads a content which is gone. */
const GONE =
  "a body parser of the host has read the content of this request already, and did not " +
  "leave it in request.body; mount Nodeface before that parser, or set request.body";

/**
 * A request with the content that the host's parser left in `message.body`. Its digits and spaces are those
 * of the parser's result. If nothing was left, to read the content fails and says what to do.
 *
 * @param request is returned where nothing was read, or where `message.rawBody` has the bytes
 */
export function withParsedBody(message: IncomingMessage, request: Request): Request {
  const { method } = request;
  const { body, rawBody } = message as { body?: unknown; rawBody?: unknown };
  const isRead = (message.readableDidRead || message.readableEnded) && namesContent(request);
  if (!isRead || Buffer.isBuffer(rawBody) || method === "GET" || method === "HEAD") return request;
  const content = contentOf(body, request.headers.get("content-type") ?? "");
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
