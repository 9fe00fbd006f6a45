/**
 * Refuses the requests to a `node:http` server that are malformed, incomplete, or not for an app.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SECURITY_HEADERS } from "../http/common-headers.ts";
import { problemText } from "../http/problem.ts";
import { type HttpStatus, REASONS } from "../http/response.ts";
import { IS_DENO } from "../platform.ts";
import { type Connections, pendingResponse } from "./connections.ts";
import type { Message } from "./message.ts";
import { beginEntry, type Callbacks, type EndEntry, refusal } from "./shared.ts";

/** Responds to requests that the parser accepts but the app must not see. */
export function ownResponse(
  { method, httpVersion, headers, url = "" }: IncomingMessage,
): Response | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return refusal(505, "This service supports HTTP/1.1 and HTTP/1.0");
  }
  if (httpVersion === "1.1" && headers.host === undefined) {
    return refusal(400, "An HTTP/1.1 request must have a Host header");
  }
  // `OPTIONS *` concerns the server as a whole (RFC 9110, section 9.3.7).
  if (method === "OPTIONS" && url === "*") {
    return new Response(null, { status: 204, headers: SECURITY_HEADERS });
  }
  const isServed = url.startsWith("/") || url === "*" ||
    (/^https?:\/\//i.test(url) && URL.canParse(url));
  return isServed ? undefined : refusal(400, "The request target must begin with a slash");
}

/** Refuses what the parser does not pass on, and closes the connection. */
export class Refusals {
  readonly #connections: Connections;
  readonly #callbacks: Callbacks;
  constructor(connections: Connections, callbacks: Callbacks) {
    this.#connections = connections;
    this.#callbacks = callbacks;
  }

  /** Refuses a request whose content arrives too slowly. */
  refuseLate(socket: Socket): void {
    this.refuseUnreadable(socket, TIMED_OUT);
  }

  /** @param code of the error by which the parser or a time limit ends the reading */
  refuseUnreadable(socket: Socket, code: string | undefined): void {
    // On Deno 2.9, bytes after a malformed request would break the parser of another connection.
    if (IS_DENO) socket.removeAllListeners("data").resume();
    if (code === "ECONNRESET") return void socket.destroy();
    const last = pendingResponse(socket);
    if (last && !last.req.complete) return this.#refuseContent(last, socket, code);
    // Bytes after a request with `Connection: close` are ignored (RFC 9112, section 9.6).
    this.#refuseHead(socket, code);
  }

  /** Ends a request whose content cannot be read. The app would wait for the rest of it. */
  #refuseContent(last: ServerResponse, socket: Socket, code: string | undefined): void {
    const refuseOnce = () => {
      // The response was already the refusal, or the app's response to content that came too late.
      if (last.statusCode === 400 || code === TIMED_OUT) socket.end();
      else writeRefusal(socket, code, beginEntry(this.#callbacks));
    };
    if (!last.req.destroyed) last.once("finish", refuseOnce);
    (last.req as Message).breakOff();
  }

  /** Sends the refusal after the responses to earlier requests. */
  #refuseHead(socket: Socket, code?: string): void {
    const connections = this.#connections;
    // The parser fails again at each further read.
    if (connections.isClosing(socket)) return;
    connections.setClosing(socket);
    const endEntry = beginEntry(this.#callbacks);
    const earlier = pendingResponse(socket);
    if (earlier) earlier.once("finish", () => writeRefusal(socket, code, endEntry));
    else writeRefusal(socket, code, endEntry);
  }
}

const TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT";

const REFUSALS: Readonly<Record<string, readonly [HttpStatus, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request line and header fields are too long"],
  [TIMED_OUT]: [408, "The request did not arrive in time"],
};

function writeRefusal(socket: Socket, code = "", endEntry?: EndEntry): void {
  // A refusal was already sent. Closing the socket now could lose the refusal (RFC 9112, section
  // 9.6).
  if (!socket.writable) return;
  const [status, detail] = REFUSALS[code] ?? [400, "The request is not valid HTTP"];
  const body = Buffer.from(problemText(status, detail));
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    "content-type: application/problem+json",
    `content-length: ${body.byteLength}`,
    "cache-control: no-store",
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body, (error) => endEntry?.(error ? "aborted" : "sent", status));
  socket.end();
}
