/**
 * Sends JSON-RPC calls to the node.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { isBusy, SourceError } from "../node/failures.ts";
import { CODES, RPC_HEADERS, type RpcFailure } from "../node/json-rpc.ts";
import type { TextResponse } from "../node/request.ts";
import type { CallOutcome, RpcRequest, RpcTransport } from "../node/rpc.ts";
import { decodeParts } from "../utf8.ts";
import { CALL_DEPTH_MAX } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { busyNode, Refusal, refusalOf } from "./refusal.ts";
import type { RunningCalls } from "./running-calls.ts";

/** A call that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

/**
 * Sends one call, or several reads in a batch. Never rejects: the outcome of a call that failed has
 * an `error`.
 */
export async function sendCalls(
  gateway: Gateway,
  running: RunningCalls,
  calls: readonly ReadyCall[],
): Promise<CallOutcome[]> {
  const transport = await transportFor(gateway, running, calls[0]!);
  const outcomes = await gateway.node.endpoint.call(calls.map(requestOf), transport);
  running.reserve(0);
  return outcomes;
}

/**
 * Sends a plain batch as it came. Resolves to the node's response to the whole batch, or else to
 * outcomes, as `sendCalls` does.
 */
export async function sendAsItCame(
  gateway: Gateway,
  running: RunningCalls,
  calls: readonly ReadyCall[],
  text: string,
): Promise<TextResponse | CallOutcome[]> {
  const transport = await transportFor(gateway, running, calls[0]!);
  const sent = await gateway.node.endpoint.pass(text, calls.map(requestOf), transport);
  running.reserve(0);
  return sent;
}

const requestOf = ({ entry, params }: ReadyCall): RpcRequest => ({
  jsonrpc: entry.operation.name,
  params: params ?? null,
});

async function transportFor(
  gateway: Gateway,
  running: RunningCalls,
  { entry: { operation } }: ReadyCall,
): Promise<RpcTransport> {
  const path = await gateway.node.rpcPath();
  const isAnonymous = gateway.isAnonymous(operation);
  const url = gateway.node.resolve(path);
  const post = async (text: string): Promise<TextResponse> => {
    const request = { method: "POST", url, headers: RPC_HEADERS, body: encodeText(text) };
    const upstream = await running.send(request, operation, { isAnonymous }, gateway.limit);
    const { status, headers, size, parts } = upstream;
    // The text needs about as much memory as its bytes, which are held already.
    running.reserve(size);
    return { status, headers, size, text: await decodeParts(parts, size) ?? "" };
  };
  return {
    path,
    post,
    depthMax: CALL_DEPTH_MAX,
    duplicates: "refused-if-wanted",
    isOneByOne: true,
  };
}

type CallFailure = RpcFailure & Pick<CallOutcome, "response">;

/** Tells whether a call failed because the node's response to it is not JSON-RPC. */
export const isUnreadable = (
  { error, reason = error, response }: CallFailure,
): boolean => response !== undefined && reason instanceof SourceError;

/** Returns the reason why a call has neither a result nor an error of the node. */
export function refusalOfFailure(failure: CallFailure): Refusal {
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
    { isUncertain: true },
  );
}
