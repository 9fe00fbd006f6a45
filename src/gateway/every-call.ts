/**
 * What all calls of the node go through: the lookup, the rights, the place at the node, the call itself, and the log.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import type { Auth } from "../info/sources/give-credentials.ts";
import type { CallRecord } from "../log.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { createBudget } from "./bytes-under-way.ts";
import { describeFailure, STATUS_GONE } from "./call-failures.ts";
import { createCallsUnderWay } from "./calls-under-way.ts";
import { busy } from "./call-refusals.ts";
import { type CallerRights, createCallerRights } from "./caller-rights.ts";
import { decide, type Decided, type Decision } from "./decide-operations.ts";
import { createPathTable, type PathTable } from "./match-path.ts";
import { createPlaces, NoPlace } from "./call-slots.ts";
import { createSharing, type Shareable } from "./share-reads.ts";
import type { Forward } from "./forward-settings.ts";
import type { TokenPlace } from "./token.ts";
import { callNode, type UpstreamAnswer, UpstreamError, type UpstreamRequest } from "./upstream.ts";
import { type CallOut, FORGETS_REQUESTS } from "../call-out-for-gateway.ts";
import { isResponse } from "../http/to-response.ts";
import { following } from "../with-timeout.ts";

/** A call that has come. */
export interface Call {
  readonly head: RequestHead;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as it came. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  makeRequest(): Awaitable<Request>;
  /** Whether the content has been read to its end; the connection is closed otherwise. */
  readonly content: { isRead: boolean };
}

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly forward: Forward;
  /** Times and sizes, in milliseconds and bytes. */
  readonly timeout: number;
  readonly limit: number;
  readonly concurrency: number;
  readonly origins: readonly string[] | "*";
  readonly token: TokenPlace;
  /** Where the node answers. */
  readonly url: string;
  /** Where its methods are posted to, below that. */
  readonly rpcPath: () => Awaitable<string>;
  readonly callOut: CallOut;
  /** Gives the node's secret to calls of an operation, or none. */
  readonly auth: (operation: NodeOperation) => Awaitable<Auth>;
  /** The header of the node's secret, where the operator names it; no visitor sets it. */
  readonly secretHeader?: string | undefined;
  /** The operations of the description that is served now. */
  readonly operations: () => Awaitable<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
}

/** What is looked up: made once for a description. */
export interface Lookup {
  readonly paths: PathTable<Decided>;
  readonly methods: ReadonlyMap<string, Decided>;
}

/** An answer of the node that is under way; its end gives back the place, and lets go of the answer. */
export type Sent = Shareable<UpstreamAnswer>;

/** A place at the node, for one call or for all of a batch: the time and the longest answer are for all of them. */
export interface Turn {
  /**
   * Sends a call.
   *
   * @param operation whose secret it gets; a read may be sent again, as for {@linkcode callNode}
   * @param collect how much of the answer is read before this resolves, in bytes
   * @throws {UpstreamError} if there is no answer that can be passed on
   * @throws {DOMException} `TimeoutError` if the time is over
   */
  send(
    request: UpstreamRequest,
    operation: NodeOperation,
    collect: number,
  ): Promise<UpstreamAnswer>;
  /** Gives back the place; the bytes of the answers still count. May be called again. */
  readonly leave: () => void;
  /** Gives back the place, and lets go of the answers. May be called again. */
  readonly end: () => void;
}

/** What calls go through. */
export interface Core extends CallerRights {
  readonly lookUp: () => Awaitable<Lookup>;
  /**
   * Takes a place at the node.
   *
   * @param controller is aborted when the visitor leaves, and by this when the time is over or the service ends
   * @throws {NoPlace} if there is none
   */
  begin(right: Decision["right"], isHeavy: boolean, controller: AbortController): Promise<Turn>;
  /**
   * Sends a call where there is a place for it, within the time. Reads that are alike share one call.
   *
   * @param collect how much of the answer is read before this resolves, in bytes
   * @param gone is aborted when the visitor leaves
   */
  send(
    decided: Decided,
    request: UpstreamRequest,
    collect: number,
    gone: AbortSignal,
  ): Promise<Sent>;
  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  forward(
    call: Call,
    decided: Decided,
    request: UpstreamRequest,
    answerOf: (answer: UpstreamAnswer, end: (bytes: number) => void) => Answer | Response,
  ): Promise<Answer | Response>;
  /** A call of a method, as the node gets it. */
  rpcRequest(text: string): Promise<UpstreamRequest>;
  /** The node's URL as parsers write it, without a slash at its end. */
  readonly base: string;
  readonly options: GatewayOptions;
  /** How many calls wait for a place at the node. */
  waiting(): number;
  close(): void;
}

/** How much of an answer of REST is read before its status is sent, in bytes. */
const COLLECTED_MAX = 1024 * 1024;

/** How often a call that waits for a place looks for those that were forgotten, in milliseconds. */
const SWEEP_INTERVAL = 200;

/** How long what is under way may take when the service ends, in milliseconds. */
const GRACE = 5000;

/** Makes what calls go through. */
export function createCore(options: GatewayOptions): Core {
  const { callOut, limit, timeout } = options;
  const places = createPlaces(options.concurrency);
  const budget = createBudget();
  const sharing = createSharing<UpstreamAnswer>();
  const underWay = createCallsUnderWay();
  /** When the calls of requests that may be forgotten should have ended. */
  const ends = new Map<() => void, number>();
  let closing: ReturnType<typeof setTimeout> | undefined;
  const base = new URL(options.url).href.replace(/\/+$/, "");
  let made: { readonly of: readonly NodeOperation[]; readonly lookup: Lookup } | undefined;

  const lookUp = (): Awaitable<Lookup> => {
    const operations = options.operations();
    return "length" in operations ? lookupOf(operations) : operations.then(lookupOf);
  };

  const lookupOf = (operations: readonly NodeOperation[]): Lookup => {
    if (made?.of !== operations) made = { of: operations, lookup: createLookup(operations) };
    return made.lookup;
  };

  const createLookup = (operations: readonly NodeOperation[]): Lookup => {
    const decided = decide(operations, options.forward);
    const templates = decided.filter(({ operation }) => !operation.isMethod).map((value) => ({
      path: value.operation.path,
      spans: spansOf(value.operation),
      value,
    }));
    const methods = decided.filter(({ operation }) => operation.isMethod)
      .map((value) => [value.operation.path, value] as const);
    return { paths: createPathTable(templates), methods: new Map(methods) };
  };

  const begin: Core["begin"] = async (right, isHeavy, controller) => {
    const { signal } = controller;
    const timer = setTimeout(
      () => controller.abort(new DOMException("The call takes too long", "TimeoutError")),
      timeout,
    );
    const takeAway = underWay.add(controller);
    let giveBack = () => {};
    const answers: UpstreamAnswer[] = [];
    const leave = () => {
      giveBack();
      clearTimeout(timer);
      takeAway();
      if (underWay.count() === 0) clearTimeout(closing);
    };
    const end = () => {
      ends.delete(end);
      leave();
      for (const answer of answers.splice(0)) answer.release();
    };
    const sweep = FORGETS_REQUESTS ? setInterval(endForgotten, SWEEP_INTERVAL) : undefined;
    if (FORGETS_REQUESTS) ends.set(end, performance.now() + timeout);
    try {
      giveBack = await places.take(right === "token" ? "token" : "open", isHeavy, signal);
    } catch (error) {
      end();
      throw error;
    } finally {
      clearInterval(sweep);
    }
    // Nobody may be reading what is left of an answer.
    signal.addEventListener("abort", end);
    let left = limit;
    return {
      leave,
      end,
      async send(request, operation, collect) {
        signal.throwIfAborted();
        const ready = options.auth(operation);
        const auth = "first" in ready ? ready : await ready;
        const upstream = { callOut, auth, limit: left, budget };
        const most = Math.min(collect, left);
        const isRead = operation.access === "read";
        const answer = await callNode(upstream, request, isRead, most, signal);
        if (signal.aborted) answer.release();
        signal.throwIfAborted();
        answers.push(answer);
        left -= answer.size;
        return answer;
      },
    };
  };

  const send: Core["send"] = (
    { operation, decision: { right } },
    request,
    collect,
    gone,
  ) => {
    const alone = async (controller: AbortController): Promise<Sent> => {
      const turn = await begin(right, operation.isHeavy, controller);
      try {
        const answer = await turn.send(request, operation, collect);
        // A node that has said all is free for the next call.
        if (answer.isWhole) turn.leave();
        return { answer, isWhole: answer.isWhole, end: turn.end };
      } catch (error) {
        turn.end();
        throw error;
      }
    };
    if (operation.access !== "read" || FORGETS_REQUESTS) return alone(following(gone));
    return sharing.join(keyOf(operation, right, request), alone, gone);
  };

  /** Ends the calls of requests that were forgotten. */
  const endForgotten = () => {
    const now = performance.now();
    for (const [end, deadline] of ends) {
      if (now <= deadline) continue;
      try {
        end();
      } catch {
        // What belongs to another request cannot be cancelled; place and bytes were given back before.
      }
    }
  };

  /** The answer for an error on the way to the node. */
  const failed = (error: unknown, isRead: boolean): Answer => {
    if (error instanceof NoPlace) return busy();
    const { status, detail } = describeFailure(error, isRead, timeout);
    return status === 503 ? busy(detail) : problem(status, detail);
  };

  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  const forward: Core["forward"] = async (call, decided, request, answerOf) => {
    const { operation } = decided;
    const started = performance.now();
    const record = (status: number, bytes: number) =>
      options.log({
        operation: operation.name,
        status,
        milliseconds: performance.now() - started,
        bytes,
      });
    const gone = call.head.signal ?? await goneOf(call);
    let sent: Sent;
    try {
      sent = await send(decided, request, operation.isMethod ? limit : COLLECTED_MAX, gone);
    } catch (error) {
      const refusal = failed(error, operation.access === "read");
      record(gone.aborted ? STATUS_GONE : refusal.status, 0);
      return refusal;
    }
    let status: number | undefined;
    let bytes: number | undefined;
    const tell = () => {
      if (status !== undefined && bytes !== undefined) record(status, bytes);
    };
    try {
      // What is collected ends before the answer is made; its bytes count until they are sent.
      const made = answerOf(sent.answer, (length) => {
        if (!sent.isWhole) sent.end();
        bytes = length;
        tell();
      });
      status = made.status;
      tell();
      if (isResponse(made)) return made;
      const { headers, body, rest } = made;
      return { status: made.status, headers, body, rest, sent: sent.end };
    } catch (error) {
      sent.end();
      throw error;
    }
  };

  const rpcRequest = async (text: string): Promise<UpstreamRequest> => ({
    method: "POST",
    url: new URL(base + await options.rpcPath()),
    headers: { "content-type": "application/json", accept: "application/json" },
    body: new TextEncoder().encode(text),
  });

  return {
    ...createCallerRights(options),
    ...{ lookUp, begin, send, forward, rpcRequest, base, options },
    waiting: () => places.waiting,
    close() {
      places.close();
      const breakOff = () => underWay.breakOff(new UpstreamError(503, "The service ends"));
      if (underWay.count() > 0) closing ??= setTimeout(breakOff, GRACE);
    },
  };
}

/** The parameters of a path that may hold slashes. */
export const spansOf = ({ parameters = [] }: NodeOperation): ReadonlySet<string> =>
  new Set(parameters.filter(({ spans }) => spans).map(({ name }) => name));

/** Tells reads apart: what is called, by whom, and all that the node gets. */
function keyOf(
  { name }: NodeOperation,
  right: Decision["right"],
  { method, url, headers, body }: UpstreamRequest,
): string {
  let key = `${right} ${name}\n${method} ${url.href}\n`;
  for (const name in headers) key += `${name}: ${headers[name]}\n`;
  return body ? `${key}\n${new TextDecoder().decode(body)}` : key;
}

/** Is aborted when the visitor of a call leaves. */
export const goneOf = async ({ head, makeRequest }: Call): Promise<AbortSignal> =>
  head.signal ?? (await makeRequest()).signal;
