/**
 * What becomes of the errors of a node's JSON-RPC, and of ours, at `/v1/rpc/{method}` and at `/v1/rpc`.
 *
 * @module
 */
import type { Status } from "../http/problem-details.ts";

/**
 * The codes of JSON-RPC 2.0 (section 5.1). The first five are ours, of those that a server may choose: EIP-1474 has
 * -32000 to -32006, nodes of Ethereum have -32009, -32010 and -32015, and MCP has those from -32020 on.
 */
export const CODES = {
  notAllowed: -32011,
  wantsToken: -32012,
  notReached: -32013,
  tooLate: -32014,
  busy: -32016,
  invalidCall: -32600,
  noMethod: -32601,
  wrongParams: -32602,
  internal: -32603,
  noJson: -32700,
} as const;

/** Bitcoin's code for a node that is starting. */
const WARMING_UP = -28;

/** The status for an error of the node, by its code as it is written. */
export function statusOf(digits: string | undefined): Status {
  const code = Number(digits);
  if (code === CODES.wrongParams) return 400;
  if (code === CODES.noMethod) return 404;
  return code === WARMING_UP ? 503 : 422;
}
