/**
 * Forwards JSON-RPC calls to the node, alone and in batches.
 *
 * @module
 */
import { type Bytes, joinBytes } from "../bytes.ts";
import { isWebSocket } from "../http/request.ts";
import { FastResponse, makeResponse, titleOf } from "../http/response.ts";
import {
  CODES,
  isFault,
  readRpcBody,
  type RpcBody,
  type RpcCall,
  type RpcFault,
  type RpcOutcome,
  type RpcReply,
  wholeFault,
  writeRpcResponse,
} from "../node/json-rpc.ts";
import { excerpt } from "../untrusted-text.ts";
import {
  type Call,
  type CallForm,
  decodeUtf8,
  DEPTH_MAX,
  type Excess,
  EXCESS_MAX,
  inTurn,
  JSON_MAX,
  readContent,
  type UnreadCall,
} from "./call.ts";
import type { Gateway, Recording } from "./gateway.ts";
import { hasTokenInQuery, TOKEN_IN_QUERY } from "./guard.ts";
import { readParams } from "./params.ts";
import { isAboutConnection, JSON_HEADERS, NO_UPGRADE, Refusal } from "./response.ts";
import { type ReadyCall, RpcExchange, type Subscriber } from "./rpc-exchange.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** What clients send. A page of another origin is refused whatever it sends: see `guard.ts`. */
const TYPES = [
  "application/json",
  "application/json-rpc",
  "application/jsonrequest",
  "text/plain",
  "",
];

export const rpcCalls: CallForm = {
  start: "/v1/rpc",
  respond: callRpc,
  toResponse: refuseCalls,
  methodsAt: () => ["POST"],
};

/** What a call gets, and the HTTP status that its response has if the call is alone. */
interface Answer {
  readonly reply: RpcReply;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True if nobody has the method. */
  readonly isAbsent?: boolean;
}

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
  const body = await readRpcBody(message, DEPTH_MAX);
  const answers = await new Calls(gateway, call, subscriber).answer(body.calls);
  return written(body, answers).text;
}

export async function refuseMessage(
  refusal: Refusal,
  message: string,
): Promise<string | undefined> {
  const body = await readRpcBody(message, DEPTH_MAX);
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

function refusalsOf(refusal: Refusal, { calls }: RpcBody): Answer[] {
  const { code, message } = refusal;
  const isOff = code === CODES.notAllowed;
  return calls.map((one) =>
    isFault(one)
      ? answerToFault(one)
      : answerOf(isOff ? unavailable(one.method, message, "forward") : refusal)
  );
}

async function readCalls(call: UnreadCall): Promise<RpcBody> {
  const ends = new ContentEnds();
  let bytes: Bytes | undefined;
  try {
    ({ bytes } = await readContent(call, TYPES, JSON_MAX, ends));
  } catch (error) {
    const { id } = ends;
    if (id === undefined || !(error instanceof Refusal)) throw error;
    return { isBatch: false, calls: [{ id, code: error.code, message: error.message }] };
  }
  if (!bytes) return wholeFault("The body is empty");
  const text = decodeUtf8(bytes);
  return text === undefined
    ? wholeFault("The body is not UTF-8")
    : await readRpcBody(text, DEPTH_MAX);
}

const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,1000}"|[-+.\deE]{1,100}|null)\s*`;
const OTHER = String.raw`"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*`;
const ID_AT_START = new RegExp(String.raw`^\s*\{\s*(?:${OTHER},\s*){0,2}${ID},`);
const ID_AT_END = new RegExp(String.raw`,\s*${ID}(?:,\s*${OTHER}){0,2}\}\s*$`);

/** The length of each end of a content, in bytes. */
const END_LENGTH = 4096;

/** The two ends of a content that is too large: at one of them, clients write the id of a call. */
class ContentEnds implements Excess {
  #start = "";
  #end: Bytes = new Uint8Array();
  #length = 0;

  take(part: Bytes): boolean {
    if (this.#length === 0) this.#start = textOf(part.subarray(0, END_LENGTH));
    this.#end = joinBytes([this.#end, part.subarray(-END_LENGTH)]).slice(-END_LENGTH);
    this.#length += part.byteLength;
    return this.#isObject && this.#length <= EXCESS_MAX;
  }

  get id(): string | undefined {
    if (!this.#isObject) return undefined;
    return (ID_AT_START.exec(this.#start) ?? ID_AT_END.exec(textOf(this.#end)))?.[1];
  }

  /** A batch has no id. */
  get #isObject(): boolean {
    return /^\s*\{/.test(this.#start);
  }
}

const textOf = (bytes: Bytes): string => new TextDecoder().decode(bytes);

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
  readonly #exchange: RpcExchange;
  readonly #answers: Answer[] = [];
  /** @param subscriber present for a message */
  constructor(gateway: Gateway, call: MessageCall, subscriber?: Subscriber) {
    this.#gateway = gateway;
    this.#call = call;
    this.#subscriber = subscriber;
    this.#exchange = new RpcExchange(gateway, call);
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
    for (const part of await this.#partsOf(calls)) {
      const [first] = part as [SentCall];
      const outcomes = first.entry.operation.subscription
        ? [await this.#subscriber!.subscribe(first)]
        : await this.#exchange.send(part);
      for (const [place, outcome] of outcomes.entries()) {
        const { at, recording } = part[place]!;
        this.#answers[at] = this.#answerTo(outcome, recording, calls.length === 1);
      }
    }
  }

  /** Splits calls into those that go as one batch. What is not a light read goes alone. */
  async #partsOf(calls: readonly SentCall[]): Promise<SentCall[][]> {
    const parts: SentCall[][] = [];
    let before: boolean | undefined;
    for (const one of calls) {
      const { operation } = one.entry;
      const isAlone = operation.access !== "read" || one.isHeavy || operation.subscription;
      const isAnonymous = isAlone ? undefined : await this.#gateway.isAnonymous(operation);
      if (isAnonymous !== undefined && isAnonymous === before) parts.at(-1)!.push(one);
      else parts.push([one]);
      before = isAnonymous;
    }
    return parts;
  }

  #answerOf(error: unknown): Answer {
    return answerOf(error, this.#gateway.node.kind);
  }

  #answerTo(outcome: RpcOutcome, recording: Recording, isAlone: boolean): Answer {
    const { upstream } = this.#exchange;
    recording.bytes = upstream?.size ?? 0;
    if (outcome.error && outcome.json === undefined) {
      const answer = this.#answerOf(recording.fail(this.#exchange.refusalOf(outcome)));
      return upstream && this.#exchange.isOfNode(outcome)
        ? { ...answer, ...headOf(upstream) }
        : answer;
    }
    const reply = outcome.error ? { error: outcome.json! } : outcome;
    const head = isAlone && upstream ? headOf(upstream) : { status: 200 };
    if (!isAlone) recording.bytes = Object.values(reply)[0]!.length;
    recording.end(head.status);
    return { reply, isAbsent: outcome.error?.isAbsent ?? false, ...head };
  }
}

export const ONLY_OVER_WEBSOCKET = "it subscribes to notifications; call it over WebSocket";

/** Clients know these words. */
function unavailable(method: string, reason: string, setting?: string): Refusal {
  const message = `the method ${excerpt(method, 80)} does not exist/is not available: ${reason}`;
  return new Refusal(404, CODES.noMethod, message, setting === undefined ? {} : { setting });
}

const answerToFault = ({ code, message, status = 200 }: RpcFault): Answer => ({
  reply: { error: JSON.stringify({ code, message }) },
  status,
});

/**
 * A refusal is a response to the call, with the status 200, unless the client should try again.
 *
 * @throws what is no refusal
 */
function answerOf(error: unknown, kind?: string): Answer {
  if (!(error instanceof Refusal)) throw error;
  const { status, code, message, details: { setting, headers } } = error;
  const data = setting === undefined ? undefined : { setting };
  const isLater = headers?.["retry-after"] !== undefined;
  return {
    reply: {
      error: JSON.stringify({ ...kind === "near" && nearError(message), code, message, data }),
    },
    status: isLater ? status : 200,
    headers: isLater ? headers : undefined,
    isAbsent: code === CODES.noMethod,
  };
}

/** Clients of NEAR show no other errors than those of its own form. */
const nearError = (message: string) => ({
  name: "REQUEST_VALIDATION_ERROR",
  cause: { name: "PARSE_ERROR", info: { error_message: message } },
});

/** Returns the part of the node's head that is passed on. */
function headOf({ status, headers }: UpstreamResponse): Pick<Answer, "status" | "headers"> {
  const later = headers.get("retry-after") ?? "";
  return {
    status: status >= 400 && !isAboutConnection(status) ? status : 200,
    headers: /^[\w ,:+-]{1,40}$/.test(later) ? { "retry-after": later } : undefined,
  };
}

interface Written {
  /** `undefined` if all calls are notifications. */
  readonly text: string | undefined;
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** @param answers what each call gets */
function written({ calls, isBatch }: RpcBody, answers: readonly Answer[]): Written {
  const texts = calls.flatMap((call, at) =>
    call.id === undefined ? [] : writeRpcResponse(call, answers[at]!.reply)
  );
  if (texts.length === 0) {
    return { text: undefined, status: 204, headers: { "cache-control": "no-store" } };
  }
  const [first] = answers as [Answer];
  const isSame = answers.every(({ status }) => status === first.status);
  return {
    text: isBatch ? `[${texts.join(",")}]` : texts[0],
    status: !isSame ? 200 : isBatch ? first.status : statusOf(calls[0]!, first),
    headers: { ...JSON_HEADERS, ...isSame ? first.headers : {} },
  };
}

/** Clients of Bitcoin Core tell an error of JSON-RPC 1 by its status. */
function statusOf(call: RpcCall | RpcFault, { reply, status, isAbsent }: Answer): number {
  const isByStatus = !isFault(call) && call.isJsonRpc1 && "error" in reply;
  if (!isByStatus || status >= 400) return status;
  return isAbsent ? 404 : 500;
}

/** What is refused as a whole. */
const NONE: RpcBody = { isBatch: false, calls: [{ id: "null", code: 0, message: "" }] };

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
