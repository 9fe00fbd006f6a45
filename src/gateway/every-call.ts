/**
 * What all calls of the node go through: the lookup, the rights, the place at the node, the call itself, and the log.
 *
 * @module
 */
import { problem } from "../http/problem-details.ts";
import type { ServedRequest } from "../http/request.ts";
import type { CallRecord } from "../log.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { createLeases, type Leases } from "./call-lease.ts";
import { describeFailure, STATUS_GONE } from "./call-failures.ts";
import { busy } from "./call-refusals.ts";
import { type CallerRights, createCallerRights } from "./caller-rights.ts";
import { decide, type Decided } from "./decide-operations.ts";
import { createPathTable, type PathTable } from "./match-path.ts";
import { NoPlace } from "./call-slots.ts";
import type { ForwardSettings } from "./forward-settings.ts";
import type { TokenPlace } from "./token.ts";
import type { UpstreamAnswer } from "./upstream.ts";
import type { Credentials } from "../node/credentials.ts";
import type { Client, RequestContent } from "../node/http1.ts";
import type { Signal } from "../with-timeout.ts";

/** A call that has come. */
export interface Call {
  readonly request: ServedRequest;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as it came. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  /** Whether the content has been read to its end; the connection is closed otherwise. */
  readonly content: { isRead: boolean };
}

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly forward: ForwardSettings;
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
  readonly client: Client;
  /** Gives the node's secret to calls of an operation, or none. */
  readonly credentials: (operation: NodeOperation) => Promise<Credentials>;
  /** The header of the node's secret, where the operator names it; no visitor sets it. */
  readonly secretHeader?: string | undefined;
  /** The operations of the description that is served now. */
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
}

/** Is aborted when the client leaves. */
export const goneOf = ({ request }: Pick<Call, "request">): Signal =>
  request.gone ?? request.signal;

/** What is looked up: made once for a description. */
export interface Lookup {
  readonly paths: PathTable;
  readonly methods: ReadonlyMap<string, Decided>;
}

/** An answer of the node that is under way. */
export interface Sent {
  readonly answer: UpstreamAnswer;
  /** Gives back the place, and lets go of the answer. May be called again. */
  readonly end: () => void;
}

/**
 * Makes a response of what the node says.
 *
 * @param end is told how many bytes the response had, when it has ended
 * @param release gives back the room of the bytes that were collected; may be called again
 */
export type Respond = (
  answer: UpstreamAnswer,
  end: (bytes: number) => void,
  release: () => void,
) => Response;

/** What calls go through. */
export interface Core extends CallerRights {
  readonly lookUp: () => Promise<Lookup>;
  readonly leases: Leases;
  /**
   * Sends a call where there is a place for it, within the time.
   *
   * @param collect how much of the answer is read before this resolves, in bytes
   * @param gone is aborted when the visitor leaves
   */
  send(
    decided: Decided,
    request: RequestContent,
    collect: number,
    gone: Signal,
  ): Promise<Sent>;
  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  forward(
    call: Call,
    decided: Decided,
    request: RequestContent,
    respond: Respond,
  ): Promise<Response>;
  /** A call of a method, as the node gets it. */
  rpcRequest(text: string): Promise<RequestContent>;
  /** The node's URL as parsers write it, without a slash at its end. */
  readonly base: string;
  readonly options: GatewayOptions;
}

/** How much of an answer of REST is read before its status is sent, in bytes. */
const COLLECTED_MAX = 1024 * 1024;

/** Makes what calls go through. */
export function createCore(options: GatewayOptions): Core {
  const { limit, timeout } = options;
  const leases = createLeases(options);
  const base = new URL(options.url).href.replace(/\/+$/, "");
  let made: { readonly of: readonly NodeOperation[]; readonly lookup: Lookup } | undefined;

  const lookUp = async (): Promise<Lookup> => {
    const operations = await options.operations();
    if (made?.of !== operations) made = { of: operations, lookup: createLookup(operations) };
    return made.lookup;
  };

  const createLookup = (operations: readonly NodeOperation[]): Lookup => {
    const decided = decide(operations, options.forward);
    const methods = decided.filter(({ operation }) => operation.isMethod)
      .map((value) => [value.operation.path, value] as const);
    return { paths: createPathTable(decided), methods: new Map(methods) };
  };

  const send: Core["send"] = async ({ operation, decision: { right } }, request, collect, gone) => {
    const lease = await leases.begin(right === "token" ? "token" : "open", operation.isHeavy, gone);
    try {
      const answer = await lease.send(request, operation, collect);
      // A node that has said all is free for the next call.
      lease.free();
      return { answer, end: lease.end };
    } catch (error) {
      lease.end();
      throw error;
    }
  };

  /** The answer for an error on the way to the node. */
  const failed = (error: unknown, isRead: boolean): Response => {
    if (error instanceof NoPlace) return busy();
    const { status, detail } = describeFailure(error, isRead, timeout);
    return status === 503 ? busy(detail) : problem(status, detail);
  };

  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  const forward: Core["forward"] = async (call, decided, request, respond) => {
    const { operation } = decided;
    const started = performance.now();
    const record = (status: number, bytes: number) =>
      options.log({
        operation: operation.name,
        status,
        milliseconds: performance.now() - started,
        bytes,
      });
    const gone = goneOf(call);
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
      // What is collected ends before the response is made; its bytes count until they are sent.
      const end = (length: number) => {
        if (!sent.answer.isWhole) sent.end();
        bytes = length;
        tell();
      };
      const response = respond(sent.answer, end, sent.end);
      status = response.status;
      tell();
      return response;
    } catch (error) {
      sent.end();
      throw error;
    }
  };

  const rpcRequest = async (text: string): Promise<RequestContent> => ({
    method: "POST",
    url: new URL(base + await options.rpcPath()),
    headers: { "content-type": "application/json", accept: "application/json" },
    body: new TextEncoder().encode(text),
  });

  return {
    ...createCallerRights(options),
    ...{ lookUp, leases, send, forward, rpcRequest, base, options },
  };
}
