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
/** For this time, no batch is tried, or none causes single calls: see `Lateness`. */
const LATE_MS = 60_000;

/** What is known of an endpoint that has not responded to a batch of the service in time. */
interface Lateness {
  /**
   * False if one call may hang and delay the others, so that all are sent singly. True if they
   * have no responses either, so that batches are sent, which ask less of a node that is away.
   */
  readonly isSilent: boolean;
  readonly until: number;
  /** When a single call last got a response. */
  respondedAt: number;
}

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
  readonly #late = new Map<string, Lateness>();

  constructor(node: KnownNode) {
    this.#node = node;
  }

  /**
   * Calls methods: several, which must only read, in batches, or one by one if the node takes none,
   * or was late with one of the service's own. Never rejects: the outcome of a call that failed has
   * an `error`.
   */
  async call(calls: readonly RpcRequest[], transport: RpcTransport): Promise<CallOutcome[]> {
    const [first] = calls;
    if (first && calls.length === 1) return [await callOne(first, transport)];
    const late = transport.isForwarded ? undefined : this.#late.get(transport.path);
    if (late?.isSilent === false) return await this.#callApart(calls, transport, late);
    return await this.#callTogether(calls, transport);
  }

  async #callTogether(
    calls: readonly RpcRequest[],
    transport: RpcTransport,
  ): Promise<CallOutcome[]> {
    const max = await this.#batchMax(transport.path, calls.length);
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
    late: Lateness,
  ): Promise<CallOutcome[]> {
    const { path } = transport;
    const begun = performance.now();
    const trial = begun >= late.until ? this.#callTogether(calls, transport) : undefined;
    const outcomes = await Promise.all(calls.map(async (call) => {
      const outcome = await callOne(call, transport);
      if (outcome.response) late.respondedAt = performance.now();
      return outcome;
    }));
    const tried = await trial;
    const hasResponded = late.respondedAt >= begun;
    if (outcomes.some(isLate)) this.#noteLate(path, !hasResponded);
    else if (!hasResponded || (tried && !tried.some(isLate))) this.#late.delete(path);
    return outcomes;
  }

  #noteLate(path: string, isSilent: boolean): void {
    this.#late.set(path, { isSilent, until: performance.now() + LATE_MS, respondedAt: -Infinity });
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
      if (!transport.isForwarded && isLate(sent.outcome)) this.#noteLateBatch(transport.path);
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

  #noteLateBatch(path: string): void {
    const { isSilent = false, until = 0 } = this.#late.get(path) ?? {};
    if (!isSilent || performance.now() >= until) this.#noteLate(path, false);
  }

  /** A node that has taken batches may be restarted without them. */
  #noteRefused(path: string, length: number): void {
    this.#taken.delete(path);
    this.#refused.set(path, { size: length, until: performance.now() + REFUSED_MS });
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
