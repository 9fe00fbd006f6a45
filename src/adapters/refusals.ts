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
import { isClosing, pendingResponse } from "./connections.ts";
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

/** Connections that the parser has failed at. It fails again at each further read. */
const refused = new WeakSet<Socket>();

/**
 * Refuses what the parser does not pass on, or content that arrives too slowly, and closes the
 * connection.
 *
 * @param code of the error by which the parser or a time limit ends the reading
 */
export function refuseUnreadable(
  socket: Socket,
  code: string | undefined,
  callbacks: Callbacks,
): void {
  // On Deno 2.9, bytes after a malformed request would break the parser of another connection.
  if (IS_DENO) socket.removeAllListeners("data").resume();
  if (code === "ECONNRESET") return void socket.destroy();
  const last = pendingResponse(socket);
  if (last && !last.req.complete) return refuseContent(last, socket, code, callbacks);
  // Bytes after a request with `Connection: close` are ignored (RFC 9112, section 9.6).
  if (refused.has(socket) || isClosing(socket)) return;
  refused.add(socket);
  const endEntry = beginEntry(callbacks);
  const refuse = () => writeRefusal(socket, code, endEntry);
  // The refusal comes after the responses to earlier requests.
  if (last) last.once("finish", refuse);
  else refuse();
}

/** Ends a request whose content cannot be read. The app would wait for the rest of it. */
function refuseContent(
  last: ServerResponse,
  socket: Socket,
  code: string | undefined,
  callbacks: Callbacks,
): void {
  const refuseOnce = () => {
    // The response was already the refusal, or the app's response to content that came too late.
    if (last.statusCode === 400 || code === TIMED_OUT) socket.end();
    else writeRefusal(socket, code, beginEntry(callbacks));
  };
  if (!last.req.destroyed) last.once("finish", refuseOnce);
  (last.req as Message).breakOff();
}

export const TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT";

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
