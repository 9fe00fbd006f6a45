/**
 * Says when an answer of `node:http` is over.
 *
 * @module
 */
import type { ServerResponse } from "node:http";

/** Calls a function when an answer has been sent, or its client has left; perhaps twice. */
export function whenAnswered(response: ServerResponse, listener: () => void): void {
  if (response.destroyed || response.req.socket.destroyed) return listener();
  response.once("close", listener);
  // An answer behind another one has no socket yet, and no `close`.
  if (!response.socket) response.req.once("aborted", listener);
}
