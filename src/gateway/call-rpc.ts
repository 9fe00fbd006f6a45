/**
 * Forwards JSON-RPC calls to the node, alone and in batches.
 *
 * @module
 */
import { isWebSocket } from "../http/request.ts";
import { FastResponse, makeResponse, titleOf } from "../http/response.ts";
import type { RpcOutcome } from "../node/json-rpc.ts";
import { type Call, type CallForm, inTurn, type UnreadCall } from "./call.ts";
import type { Gateway, Recording } from "./gateway.ts";
import { hasTokenInQuery, TOKEN_IN_QUERY } from "./guard.ts";
import { readParams } from "./params.ts";
import { NO_UPGRADE, type Refusal } from "./refusal.ts";
import { isAboutConnection, JSON_HEADERS } from "./response-headers.ts";
import { isFault, readCalls, readRpcBody, type RpcCall, type RpcFault } from "./rpc-calls.ts";
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
import {
  type CallsResponse,
  isUnreadable,
  type ReadyCall,
  refusalOfFailure,
  sendCalls,
  type SentOutcome,
} from "./send-calls.ts";

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
  const answers = await new Calls(gateway, call).answer(body.calls);
  const { text, status, headers } = written(body, answers);
  if (text === undefined) return makeResponse(status, headers, null, common);
  const bytes = await inTurn(text.length, () => encoder.encode(text));
  headers["content-length"] = String(bytes.byteLength);
  return makeResponse(status, headers, call.lease.handOverBytes([bytes]), common);
}

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
  const answers = await new Calls(gateway, call, subscriber).answer(body.calls);
  return written(body, answers).text;
}

export async function refuseMessage(
  refusal: Refusal,
  message: string,
): Promise<string | undefined> {
  const body = await readRpcBody(message);
  return written(body, refusalsOf(refusal, body)).text;
}

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

  async answer(calls: readonly (RpcCall | RpcFault)[]): Promise<readonly Answer[]> {
    const ready: SentCall[] = [];
    for (const [at, one] of calls.entries()) {
      if (isFault(one)) {
        this.#answers[at] = answerToFault(one);
        continue;
      }
      try {
        const checked = await this.#check(one);
        const recording = this.#gateway.record(checked.entry.operation, this.#call.lease);
        ready.push({ ...checked, at, id: one.id, recording });
      } catch (error) {
        this.#answers[at] = this.#answerOf(error);
        this.#call.lease.quota?.charge(error);
      }
    }
    if (ready.length > 0) await this.#send(ready);
    return this.#answers;
  }

  /** @throws {Refusal} if the call must not be sent */
  async #check(call: RpcCall): Promise<ReadyCall> {
    const { table, caller } = this.#call;
    const subscription = this.#subscriber && table.unsubscribing.get(call.method);
    const entry = table.methods.get(call.method) ?? subscription;
    if (!entry) throw unavailable(call.method, "the description has no such method");
    if (entry.operation.subscription && !this.#subscriber) {
      throw unavailable(call.method, ONLY_OVER_WEBSOCKET);
    }
    if (caller.isRefused(entry)) throw unavailable(call.method, entry.publicReason, "forward");
    caller.check(entry, call.method);
    if (entry === subscription) {
      return { entry, params: call.params, isHeavy: false, unsubscribe: call.method };
    }
    const { length } = call.params ?? "";
    return { entry, ...await inTurn(length, () => readParams(entry.operation, call.params)) };
  }

  /** All calls have the same slot. */
  async #send(calls: readonly SentCall[]): Promise<void> {
    const isHeavy = calls.some(({ isHeavy }) => isHeavy);
    const isWaiting = calls.some(({ entry }) => entry.operation.isWaiting);
    try {
      await this.#call.lease.begin(isHeavy, isWaiting, calls.length);
    } catch (error) {
      for (const { at, recording } of calls) {
        this.#answers[at] = this.#answerOf(recording.fail(error));
      }
      return;
    }
    const parts = await this.#partsOf(calls);
    for (const { calls: sent, isAnonymous } of parts) {
      const [first] = sent as [SentCall];
      const outcomes: SentOutcome[] = first.entry.operation.subscription
        ? [await this.#subscriber!.subscribe(first)]
        : await sendCalls(this.#gateway, this.#call, sent, isAnonymous);
      for (const [place, outcome] of outcomes.entries()) {
        const { at, recording } = sent[place]!;
        this.#answers[at] = this.#answerTo(outcome, recording, calls.length === 1);
      }
    }
  }

  /** Splits calls into those that go as one batch. What is not a light read goes alone. */
  async #partsOf(calls: readonly SentCall[]): Promise<BatchPart[]> {
    const parts: BatchPart[] = [];
    for (const one of calls) {
      const { operation } = one.entry;
      const isAlone = operation.access !== "read" || one.isHeavy ||
        operation.subscription !== undefined;
      const isAnonymous = await this.#gateway.isAnonymous(operation);
      const last = parts.at(-1);
      if (!isAlone && last && !last.isAlone && last.isAnonymous === isAnonymous) {
        last.calls.push(one);
      } else parts.push({ calls: [one], isAlone, isAnonymous });
    }
    return parts;
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

/** Calls that are sent together. */
interface BatchPart {
  readonly calls: SentCall[];
  /** True if the only call must be sent alone. */
  readonly isAlone: boolean;
  /** True if the calls are sent without the node's secret. */
  readonly isAnonymous: boolean;
}

export const ONLY_OVER_WEBSOCKET = "it subscribes to notifications; call it over WebSocket";

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
  { text, status, headers = {} }: Omit<Written, "headers"> & {
    headers?: Readonly<Record<string, string>> | undefined;
  },
): Response {
  const bytes = text === undefined ? null : encoder.encode(text);
  const length = bytes ? { "content-length": String(bytes.byteLength) } : {};
  return new FastResponse(bytes, {
    status,
    statusText: titleOf(status) ?? "",
    headers: Object.entries({ ...JSON_HEADERS, ...length, ...headers }),
  });
}
