/**
 * What all calls of the node go through: who may call what, the place at the node, the call itself, and the log.
 *
 * @module
 */
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import type { Auth } from "../info/sources/credentials.ts";
import { failureOf } from "../info/sources/http-failure.ts";
import type { NodeOperation } from "../openapi/node-operations.ts";
import { isAllowedCaller } from "./browser-guard.ts";
import { createBudget } from "./budget.ts";
import { notAllowed, wantsToken } from "./call-problem.ts";
import { decide, type Decided, type Decision } from "./decide.ts";
import { createPathTable, type PathTable } from "./match-path.ts";
import { createPlaces, NoPlace } from "./places.ts";
import type { Forward } from "./settings.ts";
import { hasToken, readToken, type TokenPlace } from "./token.ts";
import { callNode, type UpstreamAnswer, UpstreamError, type UpstreamRequest } from "./upstream.ts";
import { type CallOut, FORGETS_REQUESTS } from "../call-out.ts";
import { isResponse } from "../http/to-response.ts";

/** A call that has come. */
export interface Call {
  readonly head: RequestHead;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as it came. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  makeRequest(): Awaitable<Request>;
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
  readonly callOut: CallOut;
  readonly auth: () => Promise<Auth>;
  /** The operations of the description that is served now. */
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
  readonly onError: (error: unknown) => void;
}

/** What the log says of a call. */
export interface CallRecord {
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

/** What is looked up: made once for a description. */
export interface Lookup {
  readonly paths: PathTable<Decided>;
  readonly methods: ReadonlyMap<string, Decided>;
}

/** An answer of the node that is under way. */
export interface Sent {
  readonly answer: UpstreamAnswer;
  /** Gives back the place, where the answer is whole; its bytes still count. May be called again. */
  readonly leave: () => void;
  /** Gives back the place, and lets go of the answer. May be called again. */
  readonly end: () => void;
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
   * Sends a call where there is a place for it, within the time.
   *
   * @param collect how much of the answer is read before this resolves, in bytes
   * @param gone is aborted when the visitor leaves
   */
  send(
    operation: NodeOperation,
    right: Decision["right"],
    request: UpstreamRequest,
    collect: number,
    gone: AbortSignal | undefined,
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
  readonly options: GatewayOptions;
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
  const { origins, token, callOut, limit, timeout, onError } = options;
  const places = createPlaces(options.concurrency);
  const budget = createBudget();
  const underWay = new Set<AbortController>();
  /** When the calls of requests that may be forgotten should have ended. */
  const ends = new Map<() => void, number>();
  let closing: ReturnType<typeof setTimeout> | undefined;
  const base = options.url.replace(/\/+$/, "");
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

  /** Why a caller is refused; `undefined` where he is not. */
  const refuse = async (
    { head, query }: Call,
    { operation, decision }: Decided,
  ): Promise<Answer | undefined> => {
    if (decision.right === "refused") return notAllowed(operation.name, decision.reason);
    if (decision.right === "open") return undefined;
    if (/(?:^|&)(?:access_)?token=/i.test(query)) {
      return problem(400, "The token is sent as Authorization: Bearer, never in the address");
    }
    const right = await rightOf(head, decision);
    if (right === "unknown") return problem(503, "The operator's token cannot be read now");
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

  /** Sends a call where there is a place for it, within the time. */
  const send: Core["send"] = async (operation, right, request, collect, gone) => {
    const controller = new AbortController();
    const { signal } = controller;
    const go = () => controller.abort(new Gone());
    const timer = setTimeout(
      () => controller.abort(new DOMException("The call takes too long", "TimeoutError")),
      timeout,
    );
    gone?.addEventListener("abort", go);
    if (gone?.aborted) go();
    underWay.add(controller);
    const sweep = FORGETS_REQUESTS ? setInterval(endForgotten, SWEEP_INTERVAL) : undefined;
    let giveBack = () => {};
    let release = () => {};
    const leave = () => {
      giveBack();
      clearTimeout(timer);
      gone?.removeEventListener("abort", go);
      underWay.delete(controller);
      if (underWay.size === 0) clearTimeout(closing);
    };
    const end = () => {
      ends.delete(end);
      leave();
      release();
    };
    if (FORGETS_REQUESTS) ends.set(end, performance.now() + timeout);
    try {
      const lane = right === "token" ? "token" : "open";
      giveBack = await places.take(lane, operation.isHeavy, signal);
      clearInterval(sweep);
      const auth = await options.auth();
      const isRead = operation.access === "read";
      const upstream = { callOut, auth, limit, budget };
      const answer = await callNode(upstream, request, isRead, collect, signal);
      release = answer.release;
      // Nobody may be reading what is left of the answer.
      if (!answer.isWhole) signal.addEventListener("abort", end);
      return { answer, leave, end };
    } catch (error) {
      clearInterval(sweep);
      end();
      throw error;
    }
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
    return status === 503 ? busy() : problem(status, detail);
  };

  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  const forward: Core["forward"] = async (call, { operation, decision }, request, answerOf) => {
    const { head } = call;
    const started = performance.now();
    const record = (status: number, bytes: number) =>
      options.log({
        operation: operation.name,
        status,
        milliseconds: performance.now() - started,
        bytes,
      });
    const collect = operation.isMethod ? limit : COLLECTED_MAX;
    let end = () => {};
    try {
      const gone = head.signal ?? (await call.makeRequest()).signal;
      const sent = await send(operation, decision.right, request, collect, gone);
      end = sent.end;
      const { answer, leave } = sent;
      const told: { status?: number; bytes?: number } = {};
      const tell = () => {
        const { status, bytes } = told;
        if (status !== undefined && bytes !== undefined) record(status, bytes);
      };
      // What is collected ends before the answer is made.
      const made = answerOf(answer, (length) => {
        if (answer.isWhole) leave();
        else end();
        told.bytes = length;
        tell();
      });
      told.status = made.status;
      tell();
      return isResponse(made) ? made : { ...made, sent: end };
    } catch (error) {
      end();
      if (!isExpected(error)) onError(error);
      const refusal = failed(error, operation.access === "read");
      record(error instanceof Gone ? STATUS_GONE : refusal.status, 0);
      return refusal;
    }
  };

  const rpcRequest = async (text: string): Promise<UpstreamRequest> => ({
    method: "POST",
    url: base + await options.rpcPath(),
    headers: { "content-type": "application/json", accept: "application/json" },
    body: new TextEncoder().encode(text),
  });

  return {
    ...{ lookUp, mayCall, refuse, rightOf, send, forward, rpcRequest, options },
    close() {
      places.close();
      const breakOff = () => {
        for (const controller of [...underWay]) {
          controller.abort(new UpstreamError(503, "The service ends"));
        }
      };
      if (underWay.size > 0) closing ??= setTimeout(breakOff, GRACE);
    },
  };
}

/** The parameters of a path that may hold slashes. */
export const spansOf = ({ parameters = [] }: NodeOperation): ReadonlySet<string> =>
  new Set(parameters.filter(({ spans }) => spans).map(({ name }) => name));

const busy = (): Answer =>
  problem(503, "Too many calls are under way at the node", { "retry-after": "5" });

/** The visitor has left before the answer. */
class Gone extends Error {
  override name = "AbortError";
}

/** What the log says where nobody waits for an answer any longer, as nginx does. */
const STATUS_GONE = 499;

/** What fails before a call is sent. */
const BEFORE: ReadonlySet<string> = new Set(["connection_refused", "dns", "tls", "not_tls"]);

/**
 * Says why there is no answer of the node, and where nobody knows whether it has done what was asked for.
 *
 * @param timeout of the call, in milliseconds
 */
export function describeFailure(
  error: unknown,
  isRead: boolean,
  timeout: number,
): { status: 502 | 503 | 504; detail: string } {
  const maybe = isRead ? "" : "; it may have been carried out";
  if (error instanceof UpstreamError) {
    const { status, message, wasRefused } = error;
    if (wasRefused) return { status, detail: message };
    // 503 would say that it can be sent again.
    return { status: isRead ? status : 502, detail: message + maybe };
  }
  if ((error as Error | undefined)?.name === "TimeoutError") {
    const detail = `The node gives no whole answer within ${timeout / 1000} s${maybe}`;
    return { status: 504, detail };
  }
  const { code, message } = failureOf(error);
  const detail = `The node cannot be reached: it ${message}${BEFORE.has(code) ? "" : maybe}`;
  return { status: 502, detail };
}

/** Whether an error is one of the ways in which a call fails. */
export const isExpected = (error: unknown): boolean =>
  error instanceof NoPlace || error instanceof UpstreamError ||
  ["TimeoutError", "AbortError"].includes((error as Error)?.name) ||
  failureOf(error).code !== undefined;
