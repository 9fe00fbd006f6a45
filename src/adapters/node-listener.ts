/**
 * Answers requests of `node:http`: of our own server, whose callback is in `node-http-server.ts`, or of a host.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SECURITY_HEADERS } from "../http/finish.ts";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { namesContent } from "../http/request-has-content.ts";
import { isAnswer, isResponse } from "../http/to-response.ts";
import { beginRecord, type EndRecord } from "./answer-record.ts";
import { withParsedBody } from "./node-parsed-body.ts";
import { refusalOf } from "./node-protocol-errors.ts";
import { MessageHead } from "./node-request-head.ts";
import { whenAnswered } from "./node-when-answered.ts";
import {
  answerOf,
  type App,
  type Callbacks,
  notify,
  type OnError,
  onErrorOf,
  unanswered,
} from "./shared.ts";

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
    const { originalUrl } = message as { originalUrl?: unknown };
    const original = typeof originalUrl === "string" ? originalUrl : undefined;
    const head = new MessageHead(message, response, original);
    if (next && app.matches?.(head) === false) return next();
    answerMessage(app, callbacks, message, response, head, [message]);
  };
}

/** A request listener of `node:http`, or a middleware. */
export type Listener = (
  message: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void;

/** Answers a request of `node:http`. */
export function answerMessage(
  app: App,
  callbacks: Callbacks,
  message: IncomingMessage,
  response: ServerResponse,
  head: MessageHead,
  context: readonly unknown[] = [],
): void {
  const { onAnswer } = callbacks;
  const endRecord = onAnswer && beginRecord(onAnswer, head);
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
  const direct = refusalOf(message, head) ?? answerToStar(message);
  if (direct) return write(response, withSecurity(direct));
  const answer = answerOf(app, head, () => makeRequest(message, response, head), context);
  if (isAnswer(answer)) write(response, answer);
  else void send(response, answer, onErrorOf(app, callbacks), endRecord);
}

async function send(
  response: ServerResponse,
  answer: Awaitable<Answer | Response>,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<void> {
  try {
    const given = await answer;
    if (isResponse(given)) return await sendResponse(response, given, onError, endRecord);
    // Each write wakes its client, which may take the processor: those of one moment go out together.
    await new Promise((resolve) => setImmediate(resolve));
    write(response, given);
  } catch (error) {
    void notify(onError, error);
    if (response.headersSent) response.destroy();
    else write(response, withSecurity(unanswered()));
  }
}

/** Sends a host's own response. If its stream fails, the connection is closed. */
async function sendResponse(
  response: ServerResponse,
  { status, statusText, headers, body }: Response,
  onError: OnError,
  endRecord?: EndRecord,
): Promise<void> {
  response.writeHead(status, statusText, [...headers].flat());
  if (!body || response.req.method === "HEAD") {
    response.end();
    return await body?.cancel();
  }
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

/** The longest write, in bytes. Deno 2.9 says of one that it has ended, and nothing before of who reads it. */
const WRITE_MAX = "Deno" in globalThis ? 65_536 : Infinity;

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

const withSecurity = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...SECURITY_HEADERS, ...answer.headers },
});

function write(response: ServerResponse, answer: Answer): void {
  if (answer.sent) whenAnswered(response, answer.sent);
  response.writeHead(answer.status, answer.headers);
  const { body, rest = [] } = answer;
  const isShort = rest.length === 0 && !(body && body.byteLength > WRITE_MAX);
  if (!body || isShort) return void response.end(bodyOf(answer), "latin1");
  const parts = [body, ...rest];
  if (parts.reduce((length, part) => length + part.byteLength, 0) > WRITE_MAX) {
    return void writeParts(response, parts);
  }
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
}

async function writeParts(response: ServerResponse, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) await writePart(response, part);
  if (!response.destroyed) response.end();
}

/** Longer bodies, in bytes, are written without a copy. */
const TEXT_SIZE_MAX = 16_384;

/**
 * `node:http` writes a string together with the head, but bytes separately, which takes a fifth more time
 * (Node 26.10).
 */
function bodyOf(answer: Answer): string | Answer["body"] {
  const { body } = answer;
  if (!body || body.byteLength > TEXT_SIZE_MAX) return body;
  return answer.text ??= Buffer.from(body).toString("latin1");
}

const EMPTY_BODY = Buffer.alloc(0);

/** Kept, since each `import()` is a trip to the loader's thread (190 µs on Node 20 under tsx). */
let srvx: Promise<typeof import("srvx/node")> | undefined;

async function makeRequest(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): Promise<Request> {
  // The `await` matters: with `optimizeEmptyRequests`, an empty request looks aborted until the parser
  // has returned.
  const { NodeRequest } = await (srvx ??= import("srvx/node"));
  // srvx 1.0 takes an ended message for one whose body was used. That is right if there was a body.
  if (message.readableEnded && !namesContent(head) && !("rawBody" in message)) {
    Object.assign(message, { rawBody: EMPTY_BODY });
  }
  return withParsedBody(message, head, new NodeRequest({ req: message, res: response }));
}

/** `OPTIONS *` tests the server as a whole (RFC 9110, section 9.3.7). */
function answerToStar({ method, url }: IncomingMessage): Answer | undefined {
  return method === "OPTIONS" && url === "*" ? { status: 204, headers: {}, body: null } : undefined;
}
