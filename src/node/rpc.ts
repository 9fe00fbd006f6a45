/**
 * Calls the node's JSON-RPC methods, alone or in batches, and reads what each call has come to.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import type { JsonRpcSource, Kind } from "../kinds/kind.ts";
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

/** How calls are sent, and how their responses are read. */
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

/** The responses in a batch, or only their number. */
type Responses = RpcResponse[] | number;

/** What a batch has come to. */
type BatchResult =
  | { readonly is: "answered"; readonly responses: Responses; readonly response: TextResponse }
  /** The whole batch has failed, and each call has this outcome. */
  | { readonly is: "failed"; readonly outcome: CallOutcome }
  /** The node may take no batches of this length. */
  | { readonly is: "refused" }
  /** The node may take some of the calls. */
  | { readonly is: "forbidden" };

/** Reads the response to a call or a batch; some nodes send one response to a whole batch. */
type Read = (response: TextResponse, transport: RpcTransport) => Promise<RpcResponse | Responses>;

/** A batch that is as long as a refused one is not tried again for this time. */
const REFUSED_MS = 600_000;
/** The time for which the calls of a batch that has timed out are sent one by one. */
const APART_MS = 60_000;

interface KnownNode {
  readonly kind: string | undefined;
  definition(): Promise<Kind | undefined>;
}

export class RpcEndpoint {
  readonly #node: KnownNode;
  /** The number of calls of the largest batch that the endpoint at a path has taken. */
  readonly #taken = new Map<string, number>();
  /** The number of calls of the batch that the endpoint at a path has refused, and until when. */
  readonly #refused = new Map<string, { readonly size: number; readonly until: number }>();
  /**
   * Until when our own calls of a path are sent one by one, and from when a batch that times out
   * leads to this again.
   */
  readonly #apart = new Map<string, { readonly until: number; readonly next: number }>();

  constructor(node: KnownNode) {
    this.#node = node;
  }

  /**
   * Calls methods: several, which must only read, in batches, or one by one if the node takes none.
   * Never rejects: the outcome of a call that failed has an `error`.
   */
  async call(calls: readonly RpcRequest[], transport: RpcTransport): Promise<CallOutcome[]> {
    const [first] = calls;
    if (first && calls.length === 1) return [await callOne(first, transport)];
    const max = await this.#batchMax(transport.path, calls.length);
    if (!transport.isForwarded && this.#isApart(transport.path)) {
      return this.#noteApart(transport.path, await callSingly(calls, transport));
    }
    if (max === 1) return await callSingly(calls, transport);
    const outcomes: CallOutcome[] = [];
    for (let at = 0; at < calls.length; at += max) {
      outcomes.push(...await this.#callBatch(calls.slice(at, at + max), transport));
    }
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
    const max = await this.#batchMax(transport.path, calls.length);
    if (max < calls.length) return await this.call(calls, transport);
    const sent = await this.#sendBatch(text, calls.length, transport, countIn);
    if (sent.is === "failed") return calls.map(() => sent.outcome);
    if (sent.is === "answered" && sent.responses === calls.length) {
      this.#noteTaken(transport.path, calls.length);
      return sent.response;
    }
    // What the client has written may be the reason why the node refuses the batch, so a batch of
    // our own decides whether the node takes any.
    return await this.call(calls, transport);
  }

  #noteTaken(path: string, length: number): void {
    this.#taken.set(path, Math.max(length, this.#taken.get(path) ?? 0));
  }

  /** Resolves to the number of calls that the node gets in one batch, or to 1 if it takes none. */
  async #batchMax(path: string, length: number): Promise<number> {
    const refused = this.#refused.get(path);
    if (refused && length >= refused.size && performance.now() < refused.until) return 1;
    const kind = await this.#node.definition();
    return kind?.batch_max ?? CALLS_MAX;
  }

  async #callBatch(
    calls: readonly RpcRequest[],
    transport: RpcTransport,
  ): Promise<CallOutcome[]> {
    const texts = calls.map(({ method, params }, id) => writeCall(method, id, params));
    const text = `[${texts.join(",")}]`;
    const sent = await this.#sendBatch(text, calls.length, transport, responsesIn);
    if (sent.is === "failed") {
      if (!transport.isForwarded) this.#noteBatch(transport.path, sent.outcome);
      return calls.map(() => sent.outcome);
    }
    if (sent.is === "answered" && Array.isArray(sent.responses)) {
      const { responses, response } = sent;
      // If several responses have the same id, the first one is used.
      const byId = new Map(responses.toReversed().map((one) => [one.id, one]));
      const found = calls.map((_, id) => byId.get(String(id)));
      if (found.some((one) => one !== undefined) && !isRefusal(responses, calls)) {
        this.#noteTaken(transport.path, calls.length);
        const outcomes: CallOutcome[] = [];
        let length = 0;
        for (const one of found) {
          outcomes.push({ response, ...await outcomeOf(one ?? {}) });
          length += (one?.error ?? one?.result)?.length ?? 0;
          // The queries of a poll, which are short, must not wait for the work of others.
          if (!isLong(length)) continue;
          length = 0;
          await pause();
        }
        return outcomes;
      }
    }
    const outcomes = await callSingly(calls, transport);
    // If all single calls fail too, the batch may not be the cause.
    if (sent.is !== "forbidden" && outcomes.some((outcome) => "result" in outcome)) {
      this.#noteRefused(transport.path, calls.length);
    }
    return outcomes;
  }

  /** A node that has taken batches may be restarted without them. */
  #noteRefused(path: string, length: number): void {
    this.#taken.delete(path);
    this.#refused.set(path, { size: length, until: performance.now() + REFUSED_MS });
  }

  #isApart(path: string): boolean {
    return performance.now() < (this.#apart.get(path)?.until ?? -Infinity);
  }

  /** One call that hangs makes all calls of its batch fail. */
  #noteBatch(path: string, outcome: CallOutcome): void {
    const now = performance.now();
    if (!hasTimedOut(outcome) || now < (this.#apart.get(path)?.next ?? -Infinity)) return;
    this.#apart.set(path, { until: now + APART_MS, next: now + APART_MS });
  }

  /** If all calls hang, the node gets fewer requests in batches. */
  #noteApart(path: string, outcomes: CallOutcome[]): CallOutcome[] {
    const now = performance.now();
    const isSilent = outcomes.every(hasTimedOut);
    const until = isSilent ? now : now + APART_MS;
    if (outcomes.some(hasTimedOut)) this.#apart.set(path, { until, next: now + APART_MS });
    return outcomes;
  }

  async #sendBatch(
    text: string,
    length: number,
    transport: RpcTransport,
    read: Read,
  ): Promise<BatchResult> {
    const hasTakenSuch = transport.isForwarded && length <= (this.#taken.get(transport.path) ?? 0);
    const asked = await ask(text, transport, read);
    if ("error" in asked) {
      if (isForbidden(asked) && this.#node.kind !== undefined) return { is: "forbidden" };
      const isFailure = hasTakenSuch || !mayRefuseBatches(asked);
      return isFailure ? { is: "failed", outcome: asked } : { is: "refused" };
    }
    const { content, response } = asked;
    if (!isSingle(content)) return { is: "answered", responses: content, response };
    const { status } = response;
    if (isBusy(status)) {
      const outcome = { error: failureOfStatus(status, response.text), response };
      return { is: "failed", outcome };
    }
    if (!hasTakenSuch) return { is: "refused" };
    return { is: "failed", outcome: { response, ...await outcomeOf(content) } };
  }
}

const hasTimedOut = ({ error }: CallOutcome): boolean => error?.code === "timeout";

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

/** Geth puts the refusal of a batch that is too long into a list, as the only member. */
const isRefusal = ([first, ...others]: RpcResponse[], calls: readonly RpcRequest[]): boolean =>
  calls.length > 1 && others.length === 0 && first?.error !== undefined;

const isSingle = (content: RpcResponse | Responses): content is RpcResponse =>
  typeof content === "object" && !Array.isArray(content);

/** Bitcoin Core responds with 403 to a whole batch if its `rpcwhitelist` lacks a method. */
const isForbidden = ({ error: { code, number } }: RpcFailure): boolean =>
  (code === "forbidden" || code === "bad_answer") && number === 403;

/** Only the code `bad_answer` can mean that the node refuses batches. */
const mayRefuseBatches = ({ error: { code, number } }: RpcFailure): boolean =>
  code === "bad_answer" && !isBusy(number) && !isOfGateway(number);

type Asked =
  | { readonly content: RpcResponse | Responses; readonly response: TextResponse }
  | (RpcFailure & { readonly response: TextResponse | undefined });

/** Never rejects. */
async function ask(text: string, transport: RpcTransport, read: Read): Promise<Asked> {
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
 * Resolves to the number of responses in a batch, or to the response if it is no batch.
 *
 * @throws {SourceError} if the response is not JSON-RPC
 * @throws {JsonSyntaxError} if it is not JSON
 */
async function countIn(
  response: TextResponse,
  transport: RpcTransport,
): Promise<RpcResponse | Responses> {
  const { status, text } = response;
  return status <= 299 && isBatchText(text)
    ? await countResponses(text, RESPONSE_DEPTH_MAX)
    : await responsesIn(response, transport);
}

/** A text without an id may be an error of another server. */
const isRpcError = ({ id, error = "" }: RpcResponse): boolean =>
  error.startsWith("{") || (error.startsWith('"') && id !== undefined);

/** `params` is the JSON text of an array or an object. */
export function writeCall(method: string, id: number, params: string | undefined): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${start}}` : `${start},"params":${params}}`;
}
