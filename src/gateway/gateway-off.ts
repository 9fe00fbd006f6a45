/**
 * The responses to calls of the node where none can be forwarded: where nothing is open, and until it is known what
 * the node has. The description names them below `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import { problem } from "../http/problem-details.ts";
import { jsonResponse } from "./make-json-answer.ts";
import { HAS_SOCKETS } from "../platform.ts";
import { CODES } from "./rpc-error-codes.ts";

/** Why no call is forwarded. */
export type WhyNot = "off" | "unknown";

interface Refusal {
  readonly status: 403 | 503;
  /** In JSON-RPC. */
  readonly code: number;
  readonly message: string;
  readonly headers: Record<string, string>;
}

const REFUSALS: Readonly<Record<WhyNot, Refusal>> = {
  off: {
    status: 403,
    code: CODES.notAllowed,
    message: HAS_SOCKETS
      ? "This service shows what the node can do, and does not forward calls to it; " +
        'the setting "forward" says what is'
      : "This service runs in a worker, where calls are not forwarded to the node",
    headers: {},
  },
  // A 404 would tell a client that the node has no such method.
  unknown: {
    status: 503,
    code: CODES.notReached,
    message: "What can be called is not known yet; /v1/info says how the node is",
    headers: { "retry-after": "5" },
  },
};

/** Refuses a call of the node's REST interface, or of one of its methods. */
export function refuseCall(why: WhyNot): Response {
  const { status, message, headers } = REFUSALS[why];
  return problem(status, message, headers);
}

/** Refuses a body of JSON-RPC: its clients read errors in their own form. */
export function refuseRpc(why: WhyNot): Response {
  const { status, code, message, headers } = REFUSALS[why];
  const error = { jsonrpc: "2.0", error: { code, message }, id: null };
  return jsonResponse(status, JSON.stringify(error), headers);
}
