/**
 * What all calls of the node go through: who may call what, the place at the node, the call itself, and the log.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import type { Auth } from "../info/sources/credentials.ts";
import { failureOf } from "../info/sources/http-failure.ts";
import type { CallRecord } from "../log.ts";
import type { NodeOperation } from "../openapi/node-operations.ts";
import { isAllowedCaller } from "./browser-guard.ts";
import { createBudget } from "./budget.ts";
import {
  hasTokenInQuery,
  notAllowed,
  tokenInQuery,
  tokenUnknown,
  wantsToken,
} from "./call-problem.ts";
import { decide, type Decided, type Decision } from "./decide.ts";
import { createPathTable, type PathTable } from "./match-path.ts";
import { createPlaces, NoPlace } from "./places.ts";
import { createSharing } from "./share.ts";
import type { Forward } from "./settings.ts";
import { hasToken, readToken, type TokenPlace } from "./token.ts";
import { callNode, type UpstreamAnswer, UpstreamError, type UpstreamRequest } from "./upstream.ts";

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
  readonly rpcPath: () => Promise<string>;
  readonly fetch: typeof fetch;
  readonly auth: () => Promise<Auth>;
  /** The header of the node's secret, where the operator names it; no visitor sets it. */
  readonly secretHeader?: string | undefined;
  /** The operations of the description that is served now. */
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
}

/** What is looked up: made once for a description. */
export interface Lookup {
  readonly paths: PathTable<Decided>;
  readonly methods: ReadonlyMap<string, Decided>;
}

/** An answer of the node that is under way. */
export interface Sent {
  readonly answer: UpstreamAnswer;
  readonly isWhole: boolean;
  /** Gives back the place, and lets go of the answer; to be called once. */
  end(): void;
}

/** A place at the node, for one call or for all of a batch: the time and the longest answer are for all of them. */
export interface Turn {
  /**
   * Sends a call.
   *
   * @throws {UpstreamError} if there is no answer that can be passed on, also where it comes too late
   */
  send(request: UpstreamRequest, collect: number): Promise<UpstreamAnswer>;
  /** Gives back the place. */
  end(): void;
  /** Is aborted when the time is over, or nobody waits any longer. */
  readonly signal: AbortSignal;
}

/** What calls go through. */
export interface Core {
  readonly lookUp: () => Promise<Lookup>;
  /** Whether the caller is no page of another origin. */
  mayCall(call: Call, right: Decision["right"]): boolean;
  /** Why a caller is refused; `undefined` where he is not. */
  refuse(call: Call, decided: Decided): Promise<Answer | undefined>;
  /** What the caller may do: what is open, or what the token opens; `unknown` where it cannot be read. */
  rightOf(head: RequestHead, decision: Decision): Promise<"open" | "token" | "refused" | "unknown">;
  /**
   * Takes a place at the node.
   *
   * @throws {NoPlace} if there is none
   */
  begin(right: Decision["right"], isHeavy: boolean, gone: AbortSignal): Promise<Turn>;
  /** Sends a call where there is a place for it, within the time. Reads that are alike share one call. */
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
  close(): void;
}

/**
 * Whether the runtime forgets a request with all that it waits for when its visitor leaves, as workerd does: nobody
 * else may wait for it there.
 */
const FORGETS_REQUESTS = globalThis.navigator?.userAgent === "Cloudflare-Workers";

/** How much of an answer of REST is read before its status is sent, in bytes. */
const COLLECTED_MAX = 1024 * 1024;

/** Makes what calls go through. */
export function createCore(options: GatewayOptions): Core {
  const { origins, token, fetch, limit, timeout } = options;
  const places = createPlaces(options.concurrency);
  const budget = createBudget();
  const sharing = createSharing<Sent>();
  /** What ends the calls that are under way, each made by its own request: workerd wants that. */
  const running = new Set<AbortController>();
  const base = new URL(options.url).href.replace(/\/+$/, "");
  let made: { readonly of: readonly NodeOperation[]; readonly lookup: Lookup } | undefined;

  const lookUp = async (): Promise<Lookup> => {
    const operations = await options.operations();
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

  const refuse = async (
    { head, query }: Call,
    { operation, decision }: Decided,
  ): Promise<Answer | undefined> => {
    if (decision.right === "refused") return notAllowed(operation.name, decision.reason);
    if (decision.right === "open") return undefined;
    if (hasTokenInQuery(query)) return tokenInQuery();
    const right = await rightOf(head, decision);
    if (right === "unknown") return tokenUnknown();
    return right === "token" ? undefined : wantsToken(operation.name);
  };

  const rightOf = async (head: RequestHead, decision: Decision) => {
    if (decision.right !== "token") return decision.right;
    const known = await readToken(token);
    if ("reason" in known) return "unknown";
    return await hasToken(known.token, head.headers.get("authorization")) ? "token" : "refused";
  };

  const mayCall = ({ head }: Call, right: Decision["right"]) =>
    isAllowedCaller(head, origins === "*" && right !== "open" ? [] : origins);

  const begin = async (
    right: Decision["right"],
    isHeavy: boolean,
    gone: AbortSignal,
  ): Promise<Turn> => {
    const closing = new AbortController();
    const signal = AbortSignal.any([gone, closing.signal, AbortSignal.timeout(timeout)]);
    const giveBack = await places.take(right === "token" ? "token" : "open", isHeavy, signal);
    running.add(closing);
    let left = limit;
    return {
      end() {
        running.delete(closing);
        giveBack();
      },
      signal,
      async send(request, collect) {
        try {
          signal.throwIfAborted();
          const auth = await options.auth();
          const upstream = { fetch, auth, limit: left, budget };
          const answer = await callNode(upstream, request, Math.min(collect, left), signal);
          left -= answer.start.byteLength;
          return answer;
        } catch (error) {
          const { name } = (signal.reason ?? error) as Error;
          if (name !== "TimeoutError" || error instanceof UpstreamError) throw error;
          const message = `The node gives no whole answer within ${timeout / 1000} s`;
          throw new UpstreamError(504, message, { cause: error });
        }
      },
    };
  };

  const send = async (
    { operation, decision: { right } }: Decided,
    request: UpstreamRequest,
    collect: number,
    gone: AbortSignal,
  ): Promise<Sent> => {
    const alone = async (gone: AbortSignal): Promise<Sent> => {
      const turn = await begin(right, operation.isHeavy, gone);
      try {
        const answer = await turn.send(request, collect);
        const end = () => {
          answer.release();
          turn.end();
        };
        // A node that has said all is free for the next call.
        if (answer.isWhole) turn.end();
        return { answer, isWhole: answer.isWhole, end };
      } catch (error) {
        turn.end();
        throw error;
      }
    };
    if (operation.access !== "read" || FORGETS_REQUESTS) return await alone(gone);
    return await sharing.join(keyOf(operation, right, request), alone, gone);
  };

  /** The answer for an error on the way to the node. */
  const failed = (error: unknown, isRead: boolean): Answer => {
    // What nobody knows then is whether the node has done it.
    const maybe = isRead ? "" : "; it may have been carried out";
    if (error instanceof NoPlace) return busy();
    if (error instanceof UpstreamError) {
      if (error.status === 503) return busy();
      return problem(error.status, error.message + (error.status === 504 ? maybe : ""));
    }
    return problem(502, `The node cannot be reached: it ${failureOf(error).message}${maybe}`);
  };

  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  const forward = async (
    call: Call,
    decided: Decided,
    request: UpstreamRequest,
    answerOf: (answer: UpstreamAnswer, end: (bytes: number) => void) => Answer | Response,
  ): Promise<Answer | Response> => {
    const { operation } = decided;
    const started = performance.now();
    const record = (status: number, bytes: number) =>
      options.log({
        operation: operation.name,
        status,
        milliseconds: performance.now() - started,
        bytes,
      });
    const gone = (await call.makeRequest()).signal;
    let sent: Sent;
    try {
      sent = await send(decided, request, operation.isMethod ? limit : COLLECTED_MAX, gone);
    } catch (error) {
      const refusal = failed(error, operation.access === "read");
      record(refusal.status, 0);
      return refusal;
    }
    let status: number | undefined;
    let bytes: number | undefined;
    const tell = () => {
      if (status !== undefined && bytes !== undefined) record(status, bytes);
    };
    try {
      // What is collected ends before the answer is made.
      const made = answerOf(sent.answer, (length) => {
        sent.end();
        bytes = length;
        tell();
      });
      status = made.status;
      tell();
      return made;
    } catch (error) {
      sent.end();
      throw error;
    }
  };

  const rpcRequest = async (text: string): Promise<UpstreamRequest> => ({
    method: "POST",
    url: base + await options.rpcPath(),
    headers: { "content-type": "application/json", accept: "application/json" },
    body: new TextEncoder().encode(text),
  });

  return {
    ...{ lookUp, mayCall, refuse, rightOf, begin, send, forward, rpcRequest, base, options },
    close() {
      places.close();
      for (const closing of running) closing.abort();
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
  const content = body ? new TextDecoder().decode(body) : "";
  return JSON.stringify([right, name, method, url, headers, content]);
}

/** Says that there is no place for a call. */
export const busy = (retryAfter = "5"): Answer =>
  problem(503, "Too many calls are under way at the node", { "retry-after": retryAfter });
