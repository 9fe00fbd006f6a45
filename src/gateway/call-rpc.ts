/**
 * Forwards JSON-RPC calls to the node, alone and in batches.
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { withHint } from "../http/problem.ts";
import { isWebSocket } from "../http/request.ts";
import { bareResponse } from "../http/response.ts";
import { CODES, type RpcOutcome } from "../node/json-rpc.ts";
import type { TextResponse } from "../node/request.ts";
import type { CallOutcome } from "../node/rpc.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { isLong, pause } from "../slices.ts";
import { characterCount, countBytes } from "../utf8.ts";
import type { Call, CallProtocol, UnreadCall } from "./call.ts";
import type { Gateway, Recording } from "./gateway.ts";
import { refuseTokenIn } from "./guard.ts";
import { readParams } from "./params.ts";
import { decideAtWallet } from "./policy.ts";
import { howToSubscribe, isUnreadable, NO_UPGRADE, Refusal, refusalOfFailure } from "./refusal.ts";
import { isAboutConnection, JSON_HEADERS } from "./response-headers.ts";
import { isFault, readCalls, readRpcBody, type RpcBody, type RpcCall } from "./read-rpc.ts";
import {
  repliesFromRefusal,
  type Reply,
  replyFromFault,
  replyFromRefusal,
  respondWithTexts,
  unavailable,
  writeRefusalAlone,
  writeReplies,
  type WrittenReplies,
} from "./rpc-replies.ts";
import type { ReadyCall, Sender } from "./sender.ts";
import { isWalletPath, nameAtWallet } from "./wallets.ts";

export const rpcCalls: CallProtocol = {
  prefix: "/v1/rpc",
  respond: callRpc,
  toResponse: refuseCalls,
  methodsAt: () => ["POST"],
};

/**
 * For a path at which the node may take JSON-RPC, too, but the service does not: `bitcoin-cli`
 * takes a response that is not JSON-RPC for success.
 */
export const rpcAtUnknownPath: CallProtocol = {
  ...rpcCalls,
  async respond(_, call) {
    call.caller.checkOrigin();
    const message = withHint("There is nothing at this path", call.table.hint);
    const refusal = new Refusal(404, CODES.noMethod, message);
    const body = await readCalls(call);
    call.lease.charge(refusal, body.calls.length);
    return await respondWithTexts(
      { ...writeReplies(body, repliesFromRefusal(refusal, body)), status: 404 },
      call,
    );
  },
};

async function callRpc(gateway: Gateway, call: Call): Promise<Response> {
  const { request, query, caller } = call;
  caller.checkOrigin();
  refuseTokenIn(query);
  if (isWebSocket(request)) throw NO_UPGRADE;
  const { path, table, lease } = call;
  const isOfWallet = isWalletPath(path, (await gateway.node.definition())?.wallets);
  const body = await readCalls(call, gateway.jsonSizeMax(caller));
  const context = { table, caller, lease, wallet: isOfWallet ? path : undefined };
  return await respondWithTexts(await new RpcExchange(gateway, context, body).respond(), call);
}

/** A call on its way to the node. The outcome of one that could not be sent has an `error`. */
export interface SentCall {
  readonly outcome: Promise<RpcOutcome>;
}

/** Sends calls that need a connection to the node of the client's own. */
export interface OwnConnection {
  /**
   * Resolves when the call is on its way to the node, or cannot be sent.
   *
   * @param isOnly true if no other call of the message is sent
   */
  send(call: ReadyCall, isOnly: boolean): Promise<SentCall>;
}

const needsConnection = ({ subscription, isOfConnection = false }: NodeOperation): boolean =>
  subscription !== undefined || isOfConnection;

/** What the calls of a request, and of a message, have in common. */
interface RpcContext extends Pick<Call, "table" | "caller" | "lease"> {
  /** The path of the wallet that the calls are for. */
  readonly wallet?: string | undefined;
}

/**
 * Responds to a message as to the content of `POST /v1/rpc`. Resolves to `undefined` if all calls
 * are notifications.
 */
export async function respondToMessage(
  gateway: Gateway,
  context: RpcContext,
  message: string,
  connection: OwnConnection,
): Promise<string | undefined> {
  const body = await readRpcBody(message);
  return joinTexts(await new RpcExchange(gateway, context, body, connection).respond());
}

export async function refuseMessage(
  refusal: Refusal,
  message: string,
): Promise<string | undefined> {
  const body = await readRpcBody(message);
  return joinTexts(writeReplies(body, repliesFromRefusal(refusal, body)));
}

const joinTexts = ({ texts }: WrittenReplies): string | undefined =>
  texts.length === 0 ? undefined : texts.join("");

/** In characters. Nothing counts the bytes of refusals, which have the ids of the calls. */
const REFUSALS_MAX = 131_072;

/** Refuses each call, if the content can be read and the response is not too long. */
async function refuseCalls(refusal: Refusal, call?: UnreadCall): Promise<Response> {
  const { status, details } = refusal;
  const body = call && await readCalls(call).catch(() => undefined);
  const replies = body && writeReplies(body, repliesFromRefusal(refusal, body));
  if (replies && characterCount(replies.texts) <= REFUSALS_MAX) return bareResponseOf(replies);
  const texts = writeRefusalAlone(refusal);
  return bareResponseOf({ texts, status, headers: { ...JSON_HEADERS, ...details.headers } });
}

interface RecordedCall extends ReadyCall {
  /** The position of the call in its batch. */
  readonly at: number;
  readonly recording: Recording;
}

/** Responds to the calls of one request or message. */
class RpcExchange {
  readonly #gateway: Gateway;
  readonly #context: RpcContext;
  readonly #body: RpcBody;
  readonly #connection: OwnConnection | undefined;
  /** @param connection present for a message */
  constructor(gateway: Gateway, context: RpcContext, body: RpcBody, connection?: OwnConnection) {
    this.#gateway = gateway;
    this.#context = context;
    this.#body = body;
    this.#connection = connection;
  }

  async respond(): Promise<WrittenReplies> {
    const { ready, replies } = await this.#prepare();
    const sent = ready.length > 0 ? await this.#send(ready) : [];
    if (!Array.isArray(sent)) return sent;
    for (const [index, { at }] of ready.entries()) replies[at] = sent[index]!;
    return writeReplies(this.#body, replies);
  }

  /** Resolves to the calls that may be sent, and at their positions the refusals of the others. */
  async #prepare(): Promise<{ readonly ready: RecordedCall[]; readonly replies: Reply[] }> {
    const { lease, wallet } = this.#context;
    const ready: RecordedCall[] = [];
    const replies: Reply[] = [];
    const started = performance.now();
    for (const [at, one] of this.#body.calls.entries()) {
      await pause();
      if (isFault(one)) {
        replies[at] = replyFromFault(one);
        lease.charge(one);
        continue;
      }
      try {
        const checked = await this.#check(one);
        const { name, access } = checked.entry.operation;
        const shown = wallet === undefined ? name : nameAtWallet(wallet, name);
        const recording = this.#gateway.record({ name: shown, access }, lease, started);
        ready.push({ at, id: one.id, recording, ...checked });
      } catch (error) {
        replies[at] = this.#replyFromRefusal(error);
        lease.charge(error);
      }
    }
    return { ready, replies };
  }

  /** @throws {Refusal} if the call must not be sent */
  async #check(call: RpcCall): Promise<ReadyCall> {
    const { table, caller, wallet } = this.#context;
    const subscription = this.#connection && table.unsubscribing.get(call.method);
    // A description may list the method as any other.
    const found = subscription ?? table.methods.get(call.method);
    const entry = found && wallet !== undefined
      ? decideAtWallet(found, wallet, this.#gateway.clientSettings)
      : found;
    if (!entry) throw unavailable(call.method, "the description has no such method");
    if (entry.operation.subscription && !this.#connection) {
      throw unavailable(call.method, howToSubscribe(entry.operation));
    }
    if (caller.isRefused(entry)) {
      throw unavailable(call.method, entry.publicReason, "forward", caller.forWhom);
    }
    caller.check(entry, call.method);
    if (entry === subscription) {
      return { entry, params: call.params, isHeavy: false, unsubscribe: call.method };
    }
    return { entry, ...await readParams(entry.operation, call.params) };
  }

  /** Resolves to the replies to the calls, or to the response of the node to all of them. */
  async #send(calls: readonly RecordedCall[]): Promise<Reply[] | WrittenReplies> {
    let sender: Sender;
    try {
      sender = await this.#begin(calls);
    } catch (error) {
      this.#context.lease.charge(error, calls.length);
      return calls.map(({ recording }) => this.#replyFromRefusal(recording.fail(error)));
    }
    const parts = this.#batchPartsOf(calls);
    const body = this.#body;
    if (goesAsItCame(parts, body)) return await this.#sendAsItCame(sender, calls, body.verbatim);
    return await this.#sendParts(sender, parts, calls.length === 1);
  }

  /** @param isOnly true if no other call of the request or message is sent */
  async #sendParts(
    sender: Sender,
    parts: readonly BatchPart[],
    isOnly: boolean,
  ): Promise<Reply[]> {
    const replies: (Reply[] | Promise<Reply[]>)[] = [];
    let isConnectionUsed = false;
    for (const { calls } of parts) {
      const [first] = calls as [RecordedCall];
      if (this.#isByConnection(first)) {
        isConnectionUsed = true;
        const { outcome } = await this.#connection!.send(first, isOnly);
        replies.push(outcome.then((one) => this.#repliesTo(calls, [one], isOnly)));
      } else {
        replies.push(await this.#repliesTo(calls, await sender.call(calls), isOnly));
      }
    }
    // These responses may wait behind notifications that the client reads slowly.
    if (isConnectionUsed) this.#context.lease.freeSlot();
    return (await Promise.all(replies)).flat();
  }

  /**
   * Waits for the slot of all calls.
   *
   * @throws {Refusal} if there is none
   */
  async #begin(calls: readonly RecordedCall[]): Promise<Sender> {
    const waits = calls.filter(({ entry }) => entry.operation.isLongPoll).length;
    const isLongPoll = waits === calls.length;
    // Beside others, calls that wait would hold an ordinary slot.
    const isHeavy = calls.some(({ isHeavy }) => isHeavy) || (waits > 0 && !isLongPoll);
    const { lease, wallet } = this.#context;
    return await this.#gateway.begin(lease, { isHeavy, isLongPoll, calls: calls.length }, wallet);
  }

  async #sendAsItCame(
    sender: Sender,
    calls: readonly RecordedCall[],
    text: string,
  ): Promise<Reply[] | WrittenReplies> {
    const sent = await sender.callVerbatim(text, calls);
    if (Array.isArray(sent)) return await this.#repliesTo(calls, sent, false);
    for (const { recording } of calls) {
      recording.bytes = Math.round(sent.size / calls.length);
      recording.end(200);
    }
    return { texts: [sent.text], status: 200, headers: JSON_HEADERS };
  }

  #isByConnection({ entry }: RecordedCall): boolean {
    return this.#connection !== undefined && needsConnection(entry.operation);
  }

  /** Splits calls into those that go as one batch. What is not a light read goes alone. */
  #batchPartsOf(calls: readonly RecordedCall[]): BatchPart[] {
    const parts: BatchPart[] = [];
    for (const one of calls) {
      const { operation } = one.entry;
      const isAlone = operation.access !== "read" || one.isHeavy || this.#isByConnection(one);
      const last = parts.at(-1);
      if (!isAlone && last && !last.isAlone) last.calls.push(one);
      else parts.push({ calls: [one], isAlone });
    }
    return parts;
  }

  async #repliesTo(
    calls: readonly RecordedCall[],
    outcomes: readonly CallOutcome[],
    isOnly: boolean,
  ): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (const [index, { recording }] of calls.entries()) {
      const outcome = outcomes[index]!;
      const { response } = outcome;
      // Of a response to several calls, only the result or the error of each counts.
      recording.bytes = isOnly && response ? response.size : await countBytesOf(outcome);
      replies.push(this.#replyFromOutcome(outcome, recording));
    }
    return replies;
  }

  #replyFromRefusal(error: unknown): Reply {
    return replyFromRefusal(error, this.#gateway.node.kind);
  }

  #replyFromOutcome(outcome: CallOutcome, recording: Recording): Reply {
    const { response } = outcome;
    if (outcome.error && outcome.json === undefined) {
      const reply = this.#replyFromRefusal(recording.fail(refusalOfFailure(outcome)));
      return response && isUnreadable(outcome) ? { ...reply, ...headOf(response) } : reply;
    }
    const content = outcome.error ? { error: outcome.json! } : { result: outcome.result };
    // A batch has the status of none of its responses.
    const head = !this.#body.isBatch && response ? headOf(response) : { status: 200 };
    recording.end(head.status);
    const { error, isJsonRpc1 } = outcome;
    return { content, isJsonRpc1, isAbsent: error?.isAbsent ?? false, ...head };
  }
}

/** Counts the bytes of a result or an error. */
async function countBytesOf(outcome: CallOutcome): Promise<number> {
  const text = (outcome.error ? outcome.json : outcome.result) ?? "";
  if (isLong(text.length)) await pause();
  return await countBytes([text]);
}

type VerbatimBody = RpcBody & { readonly verbatim: string };

/**
 * Tells whether a batch is sent as it came: it has just what we would write. A single call goes
 * alone, which every node takes.
 */
const goesAsItCame = (parts: readonly BatchPart[], body: RpcBody): body is VerbatimBody => {
  const [{ calls }, ...others] = parts as [BatchPart];
  return body.verbatim !== undefined && others.length === 0 && calls.length > 1 &&
    calls.length === body.calls.length &&
    calls.every(({ at, params }) => params === (body.calls[at] as RpcCall).params);
};

/** Calls that are sent together. */
interface BatchPart {
  readonly calls: RecordedCall[];
  /** True if the only call must be sent alone. */
  readonly isAlone: boolean;
}

/** Returns the part of the node's head that is passed on. */
function headOf({ status, headers }: TextResponse): Pick<Reply, "status" | "headers"> {
  const later = headers.get("retry-after") ?? "";
  return {
    status: status >= 400 && !isAboutConnection(status) ? status : 200,
    ...(/^[\w ,:+-]{1,40}$/.test(later)) && { headers: { "retry-after": later } },
  };
}

/** For calls without a lease. */
function bareResponseOf({ texts, status, headers }: WrittenReplies): Response {
  if (texts.length === 0) return bareResponse(status, headers);
  const bytes = encodeText(texts.join(""));
  return bareResponse(
    status,
    { ...headers, "content-length": String(bytes.byteLength) },
    bytes,
  );
}
