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
import { nameAtWallet } from "./wallet-names.ts";
import { atWallet, isWalletPath } from "./wallets.ts";

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
  return await respondWithTexts(await new RpcExchange(gateway, context).respond(body), call);
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
  return joinTexts(await new RpcExchange(gateway, context, connection).respond(body));
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

/** The calls of one request or message, and what each of them gets. */
class RpcExchange {
  readonly #gateway: Gateway;
  readonly #context: RpcContext;
  readonly #connection: OwnConnection | undefined;
  readonly #replies: Reply[] = [];
  /** True if only one call is sent. */
  #isOnly = false;
  /** True if the response has the status of a node's response. */
  #hasStatusOfNode = false;
  /** @param connection present for a message */
  constructor(gateway: Gateway, context: RpcContext, connection?: OwnConnection) {
    this.#gateway = gateway;
    this.#context = context;
    this.#connection = connection;
  }

  async respond(body: RpcBody): Promise<WrittenReplies> {
    const ready = await this.#prepare(body.calls);
    this.#isOnly = ready.length === 1;
    this.#hasStatusOfNode = !body.isBatch;
    const sender = ready.length > 0 ? await this.#begin(ready) : undefined;
    if (sender) {
      const parts = this.#batchPartsOf(ready);
      if (goesAsItCame(parts, body)) return await this.#sendAsItCame(sender, ready, body);
      const waiting: Promise<void>[] = [];
      for (const { calls } of parts) {
        const [first] = calls as [RecordedCall];
        if (this.#isByConnection(first)) {
          const { outcome } = await this.#connection!.send(first, this.#isOnly);
          waiting.push(outcome.then((one) => this.#setReplies(calls, [one])));
        } else await this.#setReplies(calls, await sender.call(calls));
      }
      // These responses may wait behind notifications that the client reads slowly.
      if (waiting.length > 0) this.#context.lease.freeSlot();
      await Promise.all(waiting);
    }
    return writeReplies(body, this.#replies);
  }

  /** Refuses the calls that must not be sent, and returns the others. */
  async #prepare(calls: RpcBody["calls"]): Promise<RecordedCall[]> {
    const { lease, wallet } = this.#context;
    const ready: RecordedCall[] = [];
    const started = performance.now();
    for (const [at, one] of calls.entries()) {
      await pause();
      if (isFault(one)) {
        this.#replies[at] = replyFromFault(one);
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
        this.#replies[at] = this.#replyFromRefusal(error);
        lease.charge(error);
      }
    }
    return ready;
  }

  /** @throws {Refusal} if the call must not be sent */
  async #check(call: RpcCall): Promise<ReadyCall> {
    const { table, caller, wallet } = this.#context;
    const subscription = this.#connection && table.unsubscribing.get(call.method);
    // A description may list the method as any other.
    const found = subscription ?? table.methods.get(call.method);
    const entry = found && wallet !== undefined
      ? atWallet(found, wallet, this.#gateway.clientSettings)
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

  /** Waits for the slot of all calls. If there is none, refuses them. */
  async #begin(calls: readonly RecordedCall[]): Promise<Sender | undefined> {
    const waits = calls.filter(({ entry }) => entry.operation.isLongPoll).length;
    const isLongPoll = waits === calls.length;
    // Beside others, calls that wait would hold an ordinary slot.
    const isHeavy = calls.some(({ isHeavy }) => isHeavy) || (waits > 0 && !isLongPoll);
    const { lease, wallet } = this.#context;
    try {
      const begun = { isHeavy, isLongPoll, calls: calls.length };
      return await this.#gateway.begin(lease, begun, wallet);
    } catch (error) {
      lease.charge(error, calls.length);
      for (const { at, recording } of calls) {
        this.#replies[at] = this.#replyFromRefusal(recording.fail(error));
      }
      return undefined;
    }
  }

  async #sendAsItCame(
    sender: Sender,
    calls: readonly RecordedCall[],
    body: VerbatimBody,
  ): Promise<WrittenReplies> {
    const sent = await sender.callVerbatim(body.verbatim, calls);
    if (Array.isArray(sent)) {
      await this.#setReplies(calls, sent);
      return writeReplies(body, this.#replies);
    }
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

  async #setReplies(
    calls: readonly RecordedCall[],
    outcomes: readonly CallOutcome[],
  ): Promise<void> {
    for (const [index, outcome] of outcomes.entries()) {
      const { at, recording } = calls[index]!;
      recording.bytes = await this.#countBytes(outcome);
      this.#replies[at] = this.#replyFromOutcome(outcome, recording);
    }
  }

  /**
   * Of one of several calls, and of a call on the client's own connection, only the result or the
   * error counts.
   */
  async #countBytes(outcome: CallOutcome): Promise<number> {
    const { response } = outcome;
    if (this.#isOnly && response) return response.size;
    const text = (outcome.error ? outcome.json : outcome.result) ?? "";
    if (isLong(text.length)) await pause();
    return await countBytes([text]);
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
    const head = this.#hasStatusOfNode && response ? headOf(response) : { status: 200 };
    recording.end(head.status);
    const { error, isJsonRpc1 } = outcome;
    return { content, isJsonRpc1, isAbsent: error?.isAbsent ?? false, ...head };
  }
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
