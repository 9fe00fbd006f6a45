/**
 * Sends calls of the node's methods in the slot of a request.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import { isBusy, SourceError } from "../node/failures.ts";
import { CODES, RPC_HEADERS, type RpcFailure, type RpcOutcome } from "../node/json-rpc.ts";
import type { TextResponse } from "../node/request.ts";
import { type Call, decodeUtf8, DEPTH_MAX, inTurn } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { busyNode, Refusal, refusalOf } from "./refusal.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** A call that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

/** The node's response to one or more calls. */
export interface CallsResponse extends TextResponse, Pick<UpstreamResponse, "headers" | "size"> {}

/** What a call has come to; without a `response` if the node sent none that may be read. */
export type SentOutcome = RpcOutcome & { readonly response?: CallsResponse | undefined };

const encoder = new TextEncoder();

/**
 * Sends one call, or several reads in a batch. Never rejects: the outcome of a call that failed has
 * an `error`.
 *
 * @param isAnonymous true if the calls are sent without the node's secret
 */
export async function sendCalls(
  { node, limit }: Gateway,
  { table, lease }: Pick<Call, "table" | "lease">,
  calls: readonly ReadyCall[],
  isAnonymous: boolean,
): Promise<SentOutcome[]> {
  const [{ entry: { operation } }] = calls as [ReadyCall];
  const path = await table.rpcPath.get();
  const url = node.resolve(path);
  const post = async (text: string): Promise<CallsResponse> => {
    const request = { method: "POST", url, headers: RPC_HEADERS, body: encoder.encode(text) };
    const upstream = await lease.send(request, operation, { isAnonymous }, limit);
    const { status, headers, size, parts } = upstream;
    // The text needs about as much memory as its bytes, which are held already.
    lease.hold(size);
    const bytes = await inTurn(size, () => parts.length === 1 ? parts[0]! : joinBytes(parts));
    return { status, headers, size, text: await inTurn(size, () => decodeUtf8(bytes)) ?? "" };
  };
  const requests = calls.map(({ entry, params = null }) => ({
    jsonrpc: entry.operation.path,
    params,
  }));
  const use = { path, post, depthMax: DEPTH_MAX, isOneByOne: true };
  const outcomes = await node.methods.call(requests, use);
  lease.hold(0);
  return outcomes;
}

/** Tells whether a call failed because the node's response to it is not JSON-RPC. */
export const isUnreadable = (
  { error, reason = error, response }: RpcFailure & Pick<SentOutcome, "response">,
): boolean => response !== undefined && reason instanceof SourceError;

/** Returns the reason why a call has neither a result nor an error of the node. */
export function refusalOfFailure(failure: RpcFailure & Pick<SentOutcome, "response">): Refusal {
  const { error, reason = error, response } = failure;
  if (!response || !isUnreadable(failure)) return refusalOf(reason, true);
  const { status, headers } = response;
  if (isBusy(status)) return busyNode(status, headers.get("retry-after"));
  return new Refusal(
    502,
    CODES.notReached,
    status < 400
      ? "The node's response is not JSON-RPC"
      : `The node responded with ${status}, and without JSON-RPC`,
  );
}
