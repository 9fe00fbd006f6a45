/**
 * The time that a client has for the content of its request, which nothing but a host's operation
 * reads.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHead } from "../http/message.ts";
import { LIMITS } from "./limits.ts";

/** Whether a request has a content (RFC 9112, section 6). */
export function hasBody({ headers }: RequestHead): boolean {
  return headers.has("content-length") || headers.has("transfer-encoding");
}

/**
 * Cuts a client that takes too long over its content: `requestTimeout` of `node:http` ends with the
 * answer, which need not wait for the content.
 */
export function limitBody(
  message: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
): void {
  if (!hasBody(head)) return;
  const timer = setTimeout(() => message.socket.destroy(), LIMITS.content);
  timer.unref();
  const clear = () => clearTimeout(timer);
  message.once("end", clear).once("close", clear);
  // What nobody has read by then is dropped: Deno would wait for it.
  response.once("finish", () => message.resume());
}
