/**
 * Calls the node's JSON-RPC methods, alone or in batches, and reads what each call has come to.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import type { JsonRpcSource, Kind } from "../kinds/kind.ts";
import { BatchMemory, type Lateness } from "./batch-memory.ts";
import { failureOf, failureOfStatus, isBusy, isOfGateway, notJson } from "./failures.ts";
import {
  CALLS_MAX,
  countResponses,
  isBatchText,
  outcomeOf,
  readRpcResponse,
  RESPONSE_DEPTH_MAX,
  type RpcFailure,
  type RpcOutcome,
  type RpcResponse,
} from "./json-rpc.ts";
import { isLong, pause } from "../slices.ts";
import type { TextResponse } from "./request.ts";

export interface RpcRequest {
  readonly method: string;
  /** JSON text; if `undefined`, no parameters are sent. */
  readonly params: string | undefined;
}

/** Makes a request of what a kind tells to call. Without `params`, the method gets `[]`. */
export const rpcRequestOf = (
  { jsonrpc, params = [] }: Pick<JsonRpcSource, "jsonrpc"> & Partial<JsonRpcSource>,
): RpcRequest => ({ method: jsonrpc, params: formatJson(params) });

/**
 * How calls are sent, and how their responses are read: for the service's own queries, `Node.rpc`
 * makes one, and for calls of clients `Sender`.
 */
export interface RpcTransport {
  /** The path of the JSON-RPC endpoint, as for `Node.resolve`. */
  readonly path: string;
  /** Sends the text of a call or of a batch, and resolves to the node's response. */
  readonly post: (text: string) => Promise<TextResponse>;
  /**
   * True for calls of clients: a call waits for the response to the one before, unless both are in
   * a batch, and a response must not have two results. The queries of the service itself find out
   * whether the node takes batches.
   */
  readonly isForwarded: boolean;
}

/** What a call has come to; without a `response` if the node sent none that may be read. */
export type CallOutcome = RpcOutcome & { readonly response?: TextResponse | undefined };

/** What a batch has come to; `Content` is the list of its responses, or only their number. */
type BatchResult<Content> =
  | { readonly is: "answered"; readonly content: Content; readonly response: TextResponse }
  /** The whole batch has failed, and each call has this outcome. */
  | { readonly is: "failed"; readonly outcome: CallOutcome }
  /** The node may take no batches of this length (`refused`), or only some of the calls. */
  | { readonly is: "refused" | "forbidden" };

/** Reads the response to a call or a batch; some nodes send one response to a whole batch. */
type Read<Content> = (
  response: TextResponse,
  transport: RpcTransport,
) => Promise<RpcResponse | Content>;

interface KnownNode {
  readonly kind: string | undefined;
  definition(): Promise<Kind | undefined>;
}

export class RpcEndpoint {
  readonly #node: KnownNode;
  readonly #memories = new Map<string, BatchMemory>();

  constructor(node: KnownNode) {
    this.#node = node;
  }

  #memoryOf({ path }: RpcTransport): BatchMemory {
    const memory = this.#memories.get(path) ?? new BatchMemory();
    this.#memories.set(path, memory);
    return memory;
  }

  /**
   * Calls methods: several, which must only read, in batches, or one by one if the node takes none,
   * or was late with one of the service's own. Never rejects: the outcome of a call that failed has
   * an `error`.
   */
  async call(calls: readonly RpcRequest[], transport: RpcTransport): Promise<CallOutcome[]> {
    const [first] = calls;
    if (first && calls.length === 1) return [await callOne(first, transport)];
    const lateness = transport.isForwarded ? undefined : this.#memoryOf(transport).lateness;
    if (lateness?.send === "singly") return await this.#callApart(calls, transport, lateness);
    return await this.#callTogether(calls, transport);
  }

  async #callTogether(
    calls: readonly RpcRequest[],
    transport: RpcTransport,
  ): Promise<CallOutcome[]> {
    const max = await this.#batchMax(calls.length, transport);
    if (max === 1) return await callSingly(calls, transport);
    const outcomes: CallOutcome[] = [];
    for (let at = 0; at < calls.length; at += max) {
      outcomes.push(...await this.#callBatch(calls.slice(at, at + max), transport));
    }
    return outcomes;
  }

  /** Sends the calls singly, and at times a batch beside them, of which no outcome is used. */
  async #callApart(
    calls: readonly RpcRequest[],
    transport: RpcTransport,
    lateness: Lateness,
  ): Promise<CallOutcome[]> {
    const begun = performance.now();
    const trial = lateness.isOver ? this.#callTogether(calls, transport) : undefined;
    const outcomes = await Promise.all(calls.map(async (call) => {
      const outcome = await callOne(call, transport);
      if (outcome.response) lateness.noteResponse();
      return outcome;
    }));
    const tried = await trial;
    const hasResponded = lateness.hasResponseSince(begun);
    const memory = this.#memoryOf(transport);
    if (outcomes.some(isLate)) memory.noteLate(hasResponded ? "singly" : "together");
    else if (!hasResponded || (tried && !tried.some(isLate))) memory.forgetLateness();
    return outcomes;
  }

  /**
   * Sends a batch of calls that only read as its client has written it, unless it is too long.
   * Resolves to the response as it came if it has as many members as the batch, or else to
   * outcomes, as `call` does.
   */
  async callVerbatim(
    text: string,
    calls: readonly RpcRequest[],
    transport: RpcTransport,
  ): Promise<TextResponse | CallOutcome[]> {
    const { length } = calls;
    const max = await this.#batchMax(length, transport);
    if (max < length) return await this.call(calls, transport);
    const sent = await this.#sendBatch(text, length, transport, countIn);
    if (sent.is === "failed") return calls.map(() => sent.outcome);
    if (sent.is === "answered" && sent.content === length) {
      this.#memoryOf(transport).noteTaken(length);
      return sent.response;
    }
    // What the client has written may be the reason why the node refuses the batch, so a batch of
    // our own decides whether the node takes any.
    return await this.call(calls, transport);
  }

  /** Resolves to the number of calls that the node gets in one batch, or to 1 if it takes none. */
  async #batchMax(length: number, transport: RpcTransport): Promise<number> {
    if (!this.#memoryOf(transport).mayBatch(length)) return 1;
    const kind = await this.#node.definition();
    return kind?.batch_max ?? CALLS_MAX;
  }

  async #callBatch(
    calls: readonly RpcRequest[],
    transport: RpcTransport,
  ): Promise<CallOutcome[]> {
    const memory = this.#memoryOf(transport);
    const texts = calls.map(({ method, params }, id) => writeCall(method, id, params));
    const text = `[${texts.join(",")}]`;
    const sent = await this.#sendBatch(text, calls.length, transport, responsesIn);
    if (sent.is === "failed") {
      if (!transport.isForwarded && isLate(sent.outcome)) memory.noteLateBatch();
      return calls.map(() => sent.outcome);
    }
    const responses = sent.is === "answered" ? findResponses(calls, sent.content) : undefined;
    if (sent.is === "answered" && responses) {
      memory.noteTaken(calls.length);
      return await outcomesOf(responses, sent.response);
    }
    const outcomes = await callSingly(calls, transport);
    // If all single calls fail too, the batch may not be the cause.
    if (sent.is !== "forbidden" && outcomes.some((outcome) => "result" in outcome)) {
      memory.noteRefused(calls.length);
    }
    return outcomes;
  }

  async #sendBatch<Content extends RpcResponse[] | number>(
    text: string,
    length: number,
    transport: RpcTransport,
    read: Read<Content>,
  ): Promise<BatchResult<Content>> {
    const hasTakenSuch = transport.isForwarded && this.#memoryOf(transport).hasTaken(length);
    const asked = await ask(text, transport, read);
    if ("error" in asked) {
      if (isForbidden(asked) && this.#node.kind !== undefined) return { is: "forbidden" };
      const isFailure = hasTakenSuch || !mayRefuseBatches(asked);
      return isFailure ? { is: "failed", outcome: asked } : { is: "refused" };
    }
    const { content, response } = asked;
    if (!isSingle(content)) return { is: "answered", content, response };
    const { status } = response;
    if (isBusy(status)) {
      const outcome = { error: failureOfStatus(status, response.text), response };
      return { is: "failed", outcome };
    }
    if (!hasTakenSuch) return { is: "refused" };
    return { is: "failed", outcome: { response, ...await outcomeOf(content) } };
  }
}

/**
 * Returns the response to each call of a batch, or `undefined` if there is none, or if the node has
 * refused the batch.
 */
function findResponses(
  calls: readonly RpcRequest[],
  responses: RpcResponse[],
): (RpcResponse | undefined)[] | undefined {
  // If several responses have the same id, the first one is used.
  const byId = new Map(responses.toReversed().map((one) => [one.id, one]));
  const found = calls.map((_, id) => byId.get(String(id)));
  const isAnswered = found.some((one) => one !== undefined) && !isRefusal(responses, calls);
  return isAnswered ? found : undefined;
}

async function outcomesOf(
  responses: readonly (RpcResponse | undefined)[],
  response: TextResponse,
): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = [];
  let length = 0;
  for (const one of responses) {
    outcomes.push({ response, ...await outcomeOf(one ?? {}) });
    length += (one?.error ?? one?.result)?.length ?? 0;
    // The queries of a poll, which are short, must not wait for the work of others.
    if (!isLong(length)) continue;
    length = 0;
    await pause();
  }
  return outcomes;
}

async function callSingly(
  calls: readonly RpcRequest[],
  transport: RpcTransport,
): Promise<CallOutcome[]> {
  if (!transport.isForwarded) {
    return await Promise.all(calls.map((call) => callOne(call, transport)));
  }
  const outcomes: CallOutcome[] = [];
  for (const call of calls) outcomes.push(await callOne(call, transport));
  return outcomes;
}

async function callOne(
  { method, params }: RpcRequest,
  transport: RpcTransport,
): Promise<CallOutcome> {
  const asked = await ask(writeCall(method, 1, params), transport, responsesIn);
  if ("error" in asked) return asked;
  const { content, response } = asked;
  return { response, ...await outcomeOf(isSingle(content) ? content : {}) };
}

const isLate = ({ error }: CallOutcome): boolean => error?.code === "timeout";

/** Geth puts the refusal of a batch that is too long into a list, as the only member. */
const isRefusal = ([first, ...others]: RpcResponse[], calls: readonly RpcRequest[]): boolean =>
  calls.length > 1 && others.length === 0 && first?.error !== undefined;

const isSingle = (content: RpcResponse | RpcResponse[] | number): content is RpcResponse =>
  typeof content === "object" && !Array.isArray(content);

/** Bitcoin Core responds with 403 to a whole batch if its `rpcwhitelist` lacks a method. */
const isForbidden = ({ error: { code, number } }: RpcFailure): boolean =>
  (code === "forbidden" || code === "bad_answer") && number === 403;

/** Only the code `bad_answer` can mean that the node refuses batches. */
const mayRefuseBatches = ({ error: { code, number } }: RpcFailure): boolean =>
  code === "bad_answer" && !isBusy(number) && !isOfGateway(number);

type Asked<Content> =
  | { readonly content: RpcResponse | Content; readonly response: TextResponse }
  | (RpcFailure & { readonly response: TextResponse | undefined });

/** Never rejects. */
async function ask<Content>(
  text: string,
  transport: RpcTransport,
  read: Read<Content>,
): Promise<Asked<Content>> {
  let response: TextResponse | undefined;
  try {
    response = await transport.post(text);
    return { content: await read(response, transport), response };
  } catch (thrown) {
    const reason = thrown instanceof JsonSyntaxError ? notJson(response!.text) : thrown;
    return { error: failureOf(reason), reason, response };
  }
}

/**
 * @throws {SourceError} if the response is not JSON-RPC
 * @throws {JsonSyntaxError} if it is not JSON
 */
async function responsesIn(
  { status, text }: TextResponse,
  { isForwarded }: RpcTransport,
): Promise<RpcResponse | RpcResponse[]> {
  // Some nodes send JSON-RPC errors with a status of 4xx or 5xx.
  if (status > 299 && !/^\s*[[{]/.test(text)) throw failureOfStatus(status, text);
  const response = isForwarded
    ? await readRpcResponse(text, RESPONSE_DEPTH_MAX, "refused-if-wanted")
    : await readRpcResponse(text, Infinity, "last");
  if (status > 299 && !Array.isArray(response) && !isRpcError(response)) {
    throw failureOfStatus(status, text);
  }
  return response;
}

/**
 * Resolves to the number of responses in a batch, or to the response if it is no batch. A batch
 * with the status of an error counts as empty.
 *
 * @throws {SourceError} if the response is not JSON-RPC
 * @throws {JsonSyntaxError} if it is not JSON
 */
async function countIn(
  response: TextResponse,
  transport: RpcTransport,
): Promise<RpcResponse | number> {
  const { status, text } = response;
  if (status <= 299 && isBatchText(text)) return await countResponses(text, RESPONSE_DEPTH_MAX);
  const content = await responsesIn(response, transport);
  return Array.isArray(content) ? 0 : content;
}

/** A text without an id may be an error of another server. */
const isRpcError = ({ id, error = "" }: RpcResponse): boolean =>
  error.startsWith("{") || (error.startsWith('"') && id !== undefined);

/** `params` is the JSON text of an array or an object. */
export function writeCall(method: string, id: number, params: string | undefined): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${start}}` : `${start},"params":${params}}`;
}
