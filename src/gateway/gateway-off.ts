/**
 * The answers to calls of the node, which this service does not forward. Its description names them below
 * `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import { CODES } from "./rpc-error-codes.ts";

const MESSAGE = "This service shows what the node can do, and does not forward calls to it; " +
  'the setting "forward" says what is';

/** Answers a call of the node's REST interface, or of one of its methods. */
export const refuseCall = (): Answer => problem(403, MESSAGE);

/** Answers a body of JSON-RPC: its clients read errors in their own form. */
export function refuseRpc(): Answer {
  const error = { code: CODES.notAllowed, message: MESSAGE };
  const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
  return {
    status: 403,
    headers: {
      "content-type": "application/json",
      "content-length": String(body.byteLength),
      "cache-control": "no-store",
    },
    body,
  };
}
