/**
 * Answers requests of `node:http`: of our own server, whose callback is in `node-http-server.ts`, or of a host.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest, type NodeResponse } from "srvx/node";
import { SECURITY_HEADERS } from "../http/cors.ts";
import { namesContent } from "../http/request.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import { limitBody } from "./node-body-timeout.ts";
import { withParsedBody } from "./node-parsed-body.ts";
import { refusalOf } from "./node-protocol-errors.ts";
import { whenAnswered } from "./node-when-answered.ts";
import { type App, type Callbacks, notify, onErrorOf, unanswered } from "./shared.ts";

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
export function listener(app: App, callbacks: Callbacks = {}): Listener {
  return (message, response, next) => {
    const { url = "/", originalUrl } = message as IncomingMessage & { originalUrl?: string };
    if (next && app.matches?.({ url, originalUrl }) === false) return next();
    void respond(app, callbacks, message, response, false);
  };
}

/** A request listener of `node:http`, or a middleware. */
export type Listener = (
  message: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void;

/** The first line of a request, for its record. */
export type RequestLine = Pick<Request, "method" | "url">;

/** Reads the first line of a request. Bun and workerd give the target `*` as the path that it has here. */
export function requestLine({ method = "GET", url = "/" }: IncomingMessage): RequestLine {
  return { method, url: url === "*" ? "/*" : url };
}

/**
 * Responds to a request of `node:http`; never rejects.
 *
 * @param isOwn whether the server is our own: then a content has to come in time. Else the handlers of a host's
 * operations are given the message
 */
export async function respond(
  app: App,
  callbacks: Callbacks,
  message: IncomingMessage,
  response: ServerResponse,
  isOwn: boolean,
): Promise<void> {
  const { onAnswer } = callbacks;
  const endRecord = onAnswer && beginRecord(onAnswer, requestLine(message));
  if (endRecord) {
    const { socket } = message;
    // `finish` is emitted even if the connection was closed with unwritten bytes.
    const isSent = () => response.writableFinished && !socket.destroyed && !socket.errored;
    const end = () =>
      endRecord(
        isSent() ? "sent" : "aborted",
        response.headersSent ? response.statusCode : undefined,
      );
    response.once("finish", end).once("close", end);
  }
  const onError = onErrorOf(app, callbacks);
  try {
    const request = makeRequest(message, response);
    if (isOwn) limitBody(message, response, request);
    const direct = refusalOf(message) ?? answerToStar(message);
    if (direct) return await send(response, withSecurity(direct), onError);
    const given = isOwn ? await app.fetch(request) : await app.fetch(request, message);
    await send(response, given, onError, endRecord);
  } catch (error) {
    void notify(onError, error);
    if (response.headersSent) response.destroy();
    else await send(response, withSecurity(unanswered()), onError);
  }
}

/** Sends a response. If its stream fails, the connection is closed. */
async function send(
  response: ServerResponse,
  given: Response,
  onError: (error: unknown) => void,
  endRecord?: EndRecord,
): Promise<void> {
  const { status, statusText, headers, body } = read(given);
  response.writeHead(status, statusText || undefined, headers);
  if (!body || response.req.method === "HEAD") {
    response.end();
    return body instanceof ReadableStream ? await body.cancel() : undefined;
  }
  if (!(body instanceof ReadableStream)) return await write(response, body);
  const reader = body.getReader();
  whenAnswered(response, () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (response.destroyed) return;
      if (done) return void response.end();
      await writePart(response, value);
    }
  } catch (error) {
    // A disconnected client may make the stream fail.
    if (response.destroyed) return;
    endRecord?.("failed", status);
    void notify(onError, error);
    response.destroy();
  }
}

/** What is sent of a response. */
interface Sent extends Pick<Response, "status" | "statusText"> {
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

/** Reads a response; what was made for Node has its headers and its body as they were given. */
function read(given: Response): Sent {
  if ("_toNodeResponse" in given) {
    const { status, statusText, headers, body } = (given as NodeResponse)._toNodeResponse();
    const bytes = typeof body === "string" ? Buffer.from(body) : body as Sent["body"];
    return { status, statusText, headers, body: bytes };
  }
  const { status, statusText, headers, body } = given;
  return { status, statusText, headers: [...headers].flat(), body };
}

/** The longest write, in bytes. Deno 2.9 says of one that it has ended, and nothing before of who reads it. */
const WRITE_MAX = "Deno" in globalThis ? 65_536 : Infinity;

/** Longer bodies, in bytes, are written without a copy. */
const TEXT_SIZE_MAX = 16_384;

/**
 * Writes a whole body. `node:http` writes a string together with the head, but bytes separately, which takes a fifth
 * more time (Node 26.10).
 */
async function write(response: ServerResponse, body: Uint8Array): Promise<void> {
  if (body.byteLength <= TEXT_SIZE_MAX) {
    const { buffer, byteOffset, byteLength } = body;
    const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
    return void response.end(text, "latin1");
  }
  if (body.byteLength <= WRITE_MAX) return void response.end(body);
  await writePart(response, body);
  if (!response.destroyed) response.end();
}

async function writePart(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  let left = bytes;
  while (left.byteLength > WRITE_MAX && !response.destroyed) {
    if (!response.write(left.subarray(0, WRITE_MAX))) await drained(response);
    left = left.subarray(WRITE_MAX);
  }
  if (!response.destroyed && !response.write(left)) await drained(response);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

function withSecurity(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}

const EMPTY_BODY = Buffer.alloc(0);

function makeRequest(message: IncomingMessage, response: ServerResponse): Request {
  const request = new NodeRequest({ req: message, res: response });
  const { method, httpVersionMajor, originalUrl } = message as IncomingMessage & {
    originalUrl?: unknown;
  };
  if (originalUrl !== undefined) Object.assign(request, { originalUrl });
  if (method === "GET" || method === "HEAD") return request;
  // srvx 1.0 takes an ended message for one whose body was used. That is right if there was a body.
  if (httpVersionMajor === 1 && !("rawBody" in message) && !namesContent(request)) {
    Object.assign(message, { rawBody: EMPTY_BODY });
  }
  return withParsedBody(message, request);
}

/** `OPTIONS *` tests the server as a whole (RFC 9110, section 9.3.7). */
function answerToStar({ method, url }: IncomingMessage): Response | undefined {
  return method === "OPTIONS" && url === "*" ? new Response(null, { status: 204 }) : undefined;
}
