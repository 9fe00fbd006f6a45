/**
 * What becomes of the errors of a node's JSON-RPC, and of ours, at `/v1/rpc/{method}` and at `/v1/rpc`.
 *
 * @module
 */
import type { Status } from "../http/status.ts";
import type { RpcAnswer } from "./one-rpc-call.ts";

/** The codes of JSON-RPC 2.0 (section 5.1); the first four are ours, of those that a server may choose. */
export const CODES = {
  notAllowed: -32001,
  wantsToken: -32002,
  notReached: -32003,
  tooLate: -32004,
  invalidCall: -32600,
  noMethod: -32601,
  wrongParams: -32602,
  noJson: -32700,
} as const;

/** Bitcoin's code for a node that is starting. */
const WARMING_UP = -28;

/** The status for an error of the node. */
export function statusOf({ code }: Exclude<RpcAnswer, { result: string }>): Status {
  if (code === CODES.wrongParams) return 400;
  if (code === CODES.noMethod) return 404;
  return code === WARMING_UP ? 503 : 422;
}
