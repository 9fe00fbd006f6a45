/**
 * Forwards JSON-RPC calls to the node, alone and in batches.
 *
 * @module
 */
import { type Bytes, lengthOf } from "../bytes.ts";
import { isWebSocket } from "../http/request.ts";
import { FastResponse, makeResponse, titleOf } from "../http/response.ts";
import { isBusy, SourceError } from "../node/failures.ts";
import { CODES, RPC_HEADERS, type RpcFailure, type RpcOutcome } from "../node/json-rpc.ts";
import type { TextResponse } from "../node/request.ts";
import type { RpcRequest, RpcUse } from "../node/rpc.ts";
import { isLong, nextTurn } from "../slices.ts";
import { decodeParts, encodeTexts } from "../utf8.ts";
import { type Call, CALL_DEPTH_MAX, type CallForm, type UnreadCall } from "./call.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { Gateway, Recording } from "./gateway.ts";
import { hasTokenInQuery, TOKEN_IN_QUERY } from "./guard.ts";
import { readParams, type SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { busyNode, NO_UPGRADE, Refusal, refusalOf } from "./refusal.ts";
import { isAboutConnection, JSON_HEADERS } from "./response-headers.ts";
import { isFault, readCalls, readRpcBody, type RpcBody, type RpcCall } from "./rpc-calls.ts";
import {
  type Answer,
  answerOf,
  answerToFault,
  NONE,
  refusalsOf,
  unavailable,
  type Written,
  written,
} from "./rpc-replies.ts";
import type { UpstreamResponse } from "./upstream.ts";

export const rpcCalls: CallForm = {
  start: "/v1/rpc",
  respond: callRpc,
  toResponse: refuseCalls,
  methodsAt: () => ["POST"],
};

async function callRpc(gateway: Gateway, call: Call): Promise<Response> {
  const { request, query, caller, common } = call;
  caller.checkOrigin();
  if (hasTokenInQuery(query)) throw TOKEN_IN_QUERY;
  if (isWebSocket(request)) throw NO_UPGRADE;
  const body = await readCalls(call);
  const { texts, parts, status, headers } = await new Calls(gateway, call).respond(body);
  if (texts.length === 0) return makeResponse(status, headers, null, common);
  const bytes = parts ?? await encodeTexts(texts);
  headers["content-length"] = String(lengthOf(bytes));
  return makeResponse(status, headers, call.lease.handOverBytes(bytes), common);
}

/** A call that may be sent. */
export interface ReadyCall extends SentParams {
  readonly entry: PolicyEntry;
  /** The method to call, if it is not the one of `entry`: it ends a subscription. */
  readonly unsubscribe?: string | undefined;
  /** The id that the client has chosen, as JSON text. */
  readonly id?: string | undefined;
}

/** The node's response to one or more calls. */
export interface CallsResponse extends TextResponse {
  readonly headers: UpstreamResponse["headers"];
  /** The text as it came. */
  readonly parts: readonly Bytes[];
  readonly size: number;
}

/** What a call has come to; without a `response` if the node sent none that may be read. */
export type SentOutcome = RpcOutcome & { readonly response?: CallsResponse | undefined };

/** Sends calls that need the connection of a client. */
export interface Subscriber {
  subscribe(call: ReadyCall): Promise<RpcOutcome>;
}

/** The parts of a call that a message has, too. */
export type MessageCall = Pick<Call, "table" | "caller" | "lease">;

/**
 * Responds to a message as to the content of `POST /v1/rpc`. Resolves to `undefined` if all calls
 * are notifications.
 */
export async function answerMessage(
  gateway: Gateway,
  call: MessageCall,
  message: string,
  subscriber: Subscriber,
): Promise<string | undefined> {
  const body = await readRpcBody(message);
  return textOf(await new Calls(gateway, call, subscriber).respond(body));
}

export async function refuseMessage(
  refusal: Refusal,
  message: string,
): Promise<string | undefined> {
  const body = await readRpcBody(message);
  return textOf(written(body, refusalsOf(refusal, body)));
}

const textOf = ({ texts }: Written): string | undefined =>
  texts.length === 0 ? undefined : texts.join("");

/**
 * Refuses each call, if the content can be read.
 */
async function refuseCalls(refusal: Refusal, call?: UnreadCall): Promise<Response> {
  const { status, details: { headers } } = refusal;
  const body = call && await readCalls(call).catch(() => undefined);
  if (!body) return responseTo({ ...written(NONE, [answerOf(refusal)]), status, headers });
  return responseTo(written(body, refusalsOf(refusal, body)));
}

interface SentCall extends ReadyCall {
  /** The position of the call in its batch. */
  readonly at: number;
  readonly recording: Recording;
}

/** The calls of one request or message. */
class Calls {
  readonly #gateway: Gateway;
  readonly #call: MessageCall;
  readonly #subscriber: Subscriber | undefined;
  readonly #answers: Answer[] = [];
  /** @param subscriber present for a message */
  constructor(gateway: Gateway, call: MessageCall, subscriber?: Subscriber) {
    this.#gateway = gateway;
    this.#call = call;
    this.#subscriber = subscriber;
  }

  async respond(body: RpcBody): Promise<Written> {
    const ready: SentCall[] = [];
    const started = performance.now();
    for (const [at, one] of body.calls.entries()) {
      if (isFault(one)) {
        this.#answers[at] = answerToFault(one);
        continue;
      }
      if (isLong(one.params?.length ?? 0)) await nextTurn();
      try {
        const checked = this.#check(one);
        const { operation } = checked.entry;
        const recording = this.#gateway.record(operation, this.#call.lease, started);
        ready.push({ at, id: one.id, recording, ...checked });
      } catch (error) {
        this.#answers[at] = this.#answerOf(error);
        this.#call.lease.quota?.charge(error);
      }
    }
    const passed = ready.length > 0 && await this.#send(ready, body);
    return passed || written(body, this.#answers);
  }

  /** @throws {Refusal} if the call must not be sent */
  #check(call: RpcCall): ReadyCall {
    const { table, caller } = this.#call;
    const subscription = this.#subscriber && table.unsubscribing.get(call.method);
    const entry = table.methods.get(call.method) ?? subscription;
    if (!entry) throw unavailable(call.method, "the description has no such method");
    if (entry.operation.subscription && !this.#subscriber) {
      throw unavailable(call.method, HOW_TO_SUBSCRIBE);
    }
    if (caller.isRefused(entry)) throw unavailable(call.method, entry.publicReason, "forward");
    caller.check(entry, call.method);
    if (entry === subscription) {
      return { entry, params: call.params, isHeavy: false, unsubscribe: call.method };
    }
    return { entry, ...readParams(entry.operation, call.params) };
  }

  /**
   * Sends all calls in the same slot. Resolves to what the client gets, if that is the response to
   * a batch as it came.
   */
  async #send(calls: readonly SentCall[], body: RpcBody): Promise<Written | undefined> {
    const isHeavy = calls.some(({ isHeavy }) => isHeavy);
    const isWaiting = calls.some(({ entry }) => entry.operation.isWaiting);
    try {
      await this.#call.lease.begin(isHeavy, isWaiting, calls.length);
    } catch (error) {
      for (const { at, recording } of calls) {
        this.#answers[at] = this.#answerOf(recording.fail(error));
      }
      return undefined;
    }
    for (const part of this.#partsOf(calls)) {
      const outcomes = await this.#sendPart(part, body);
      if (!Array.isArray(outcomes)) return this.#passOn(outcomes, calls);
      for (const [place, outcome] of outcomes.entries()) {
        const { at, recording } = part.calls[place]!;
        this.#answers[at] = this.#answerTo(outcome, recording, calls.length === 1);
      }
    }
    return undefined;
  }

  async #sendPart(
    { calls, isAnonymous }: BatchPart,
    body: RpcBody,
  ): Promise<SentOutcome[] | CallsResponse> {
    const { operation } = calls[0]!.entry;
    if (operation.subscription) return [await this.#subscriber!.subscribe(calls[0]!)];
    const text = plainTextOf(calls, body);
    if (text === undefined) return await sendCalls(this.#gateway, this.#call, calls, isAnonymous);
    const use = await useOf(this.#gateway, this.#call, operation, isAnonymous);
    const passed = await this.#gateway.node.methods.pass(text, requestsOf(calls), use);
    this.#call.lease.hold(0);
    return passed;
  }

  /** Splits calls into those that go as one batch. What is not a light read goes alone. */
  #partsOf(calls: readonly SentCall[]): BatchPart[] {
    const parts: BatchPart[] = [];
    for (const one of calls) {
      const { operation } = one.entry;
      const isAlone = operation.access !== "read" || one.isHeavy ||
        operation.subscription !== undefined;
      const isAnonymous = this.#gateway.isAnonymous(operation);
      const last = parts.at(-1);
      if (!isAlone && last && !last.isAlone && last.isAnonymous === isAnonymous) {
        last.calls.push(one);
      } else parts.push({ calls: [one], isAlone, isAnonymous });
    }
    return parts;
  }

  #passOn({ text, parts, size }: CallsResponse, calls: readonly SentCall[]): Written {
    const ended = performance.now();
    for (const { recording } of calls) {
      recording.bytes = Math.round(size / calls.length);
      recording.end(200, ended);
    }
    return { texts: [text], parts, status: 200, headers: { ...JSON_HEADERS } };
  }

  #answerOf(error: unknown): Answer {
    return answerOf(error, this.#gateway.node.kind);
  }

  #answerTo(outcome: SentOutcome, recording: Recording, isAlone: boolean): Answer {
    const { response } = outcome;
    recording.bytes = response?.size ?? 0;
    if (outcome.error && outcome.json === undefined) {
      const answer = this.#answerOf(recording.fail(refusalOfFailure(outcome)));
      return response && isUnreadable(outcome) ? { ...answer, ...headOf(response) } : answer;
    }
    const reply = outcome.error ? { error: outcome.json! } : { result: outcome.result };
    const head = isAlone && response ? headOf(response) : { status: 200 };
    if (!isAlone) recording.bytes = Object.values(reply)[0]!.length;
    recording.end(head.status);
    return { reply, isAbsent: outcome.error?.isAbsent ?? false, ...head };
  }
}

/** Returns the text of a batch that is sent as it came: it has just what we would write. */
const plainTextOf = (
  sent: readonly SentCall[],
  { plain, calls }: RpcBody,
): string | undefined =>
  sent.length === calls.length &&
    sent.every(({ at, params }) => params === (calls[at] as RpcCall).params)
    ? plain
    : undefined;

/** Calls that are sent together. */
interface BatchPart {
  readonly calls: SentCall[];
  /** True if the only call must be sent alone. */
  readonly isAlone: boolean;
  /** True if the calls are sent without the node's secret. */
  readonly isAnonymous: boolean;
}

/**
 * Sends one call, or several reads in a batch. Never rejects: the outcome of a call that failed has
 * an `error`.
 *
 * @param isAnonymous true if the calls are sent without the node's secret
 */
export async function sendCalls(
  gateway: Gateway,
  call: MessageCall,
  calls: readonly ReadyCall[],
  isAnonymous: boolean,
): Promise<SentOutcome[]> {
  const use = await useOf(gateway, call, calls[0]!.entry.operation, isAnonymous);
  const outcomes = await gateway.node.methods.call(requestsOf(calls), use);
  call.lease.hold(0);
  return outcomes;
}

const requestsOf = (calls: readonly ReadyCall[]): RpcRequest[] =>
  calls.map(({ entry, params = null }) => ({ jsonrpc: entry.operation.path, params }));

/** Returns how calls are sent within the lease. */
async function useOf(
  { node, limit }: Gateway,
  { table, lease }: MessageCall,
  operation: NodeOperation,
  isAnonymous: boolean,
): Promise<RpcUse<CallsResponse>> {
  const path = await table.rpcPath.get();
  const url = node.resolve(path);
  const post = async (text: string): Promise<CallsResponse> => {
    const request = { method: "POST", url, headers: RPC_HEADERS, body: encoder.encode(text) };
    const upstream = await lease.send(request, operation, { isAnonymous }, limit);
    const { status, headers, size, parts } = upstream;
    // The text needs about as much memory as its bytes, which are held already.
    lease.hold(size);
    return { status, headers, parts, size, text: await decodeParts(parts, size) ?? "" };
  };
  return { path, post, depthMax: CALL_DEPTH_MAX, isOneByOne: true };
}

/** Tells whether a call failed because the node's response to it is not JSON-RPC. */
const isUnreadable = (
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

export const HOW_TO_SUBSCRIBE: string =
  "it subscribes to notifications; call it over WebSocket, or " +
  "at /v1/rpc/METHOD with Accept: text/event-stream";

/** Returns the part of the node's head that is passed on. */
function headOf({ status, headers }: CallsResponse): Pick<Answer, "status" | "headers"> {
  const later = headers.get("retry-after") ?? "";
  return {
    status: status >= 400 && !isAboutConnection(status) ? status : 200,
    headers: /^[\w ,:+-]{1,40}$/.test(later) ? { "retry-after": later } : undefined,
  };
}

const encoder = new TextEncoder();

function responseTo(
  { texts, status, headers = {} }: Omit<Written, "headers"> & {
    headers?: Readonly<Record<string, string>> | undefined;
  },
): Response {
  const bytes = texts.length === 0 ? null : encoder.encode(texts.join(""));
  const length = bytes ? { "content-length": String(bytes.byteLength) } : {};
  return new FastResponse(bytes, {
    status,
    statusText: titleOf(status) ?? "",
    headers: Object.entries({ ...JSON_HEADERS, ...length, ...headers }),
  });
}
