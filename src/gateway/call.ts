/**
 * A call of the node, and the forms in which clients make one.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { CommonHeaders } from "../http/common-headers.ts";
import type { ServedRequest } from "../http/request.ts";
import type { RpcOutcome } from "../node/json-rpc.ts";
import type { CallContent } from "./content.ts";
import type { CallTable, Gateway } from "./gateway.ts";
import type { Caller } from "./guard.ts";
import type { Lease } from "./lease.ts";
import type { PolicyEntry } from "./policy.ts";
import type { Refusal } from "./refusal.ts";

/** A call whose client is not known yet. */
export interface ReceivedCall {
  readonly request: ServedRequest;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as received. */
  readonly path: string;
  readonly query: string;
  /** Unless the content was taken whole, the response closes the connection. */
  readonly content: CallContent;
  readonly common: CommonHeaders;
}

export interface Call extends ReceivedCall {
  readonly table: CallTable;
  readonly caller: Caller;
  readonly lease: Lease;
}

/** Subscribes for requests. */
export interface Subscriber {
  /**
   * @param params JSON text
   * @throws {Refusal} if there is no place for the subscription, or no connection to the node
   */
  subscribe(call: Call, entry: PolicyEntry, params: string | undefined): Promise<Subscribed>;
}

export interface Subscribed {
  readonly outcome: RpcOutcome;
  /** The notifications as Server-Sent Events. */
  readonly events: ReadableStream<Bytes>;
}

/** A call whose content has not been read yet. */
export interface UnreadCall extends Pick<Call, "request" | "content"> {
  readonly lease: Pick<Lease, "requestBytes">;
}

/** One of the ways to call the node. */
export interface CallProtocol {
  /** The part of a path of this service that is before `Call.path`. */
  readonly prefix: string;
  /** @throws {Refusal} if the call is refused */
  respond(gateway: Gateway, call: Call): Promise<Response>;
  /** @param call the call, if its content can be read to find out whom to respond to */
  toResponse(refusal: Refusal, call?: UnreadCall): Response | Promise<Response>;
  /**
   * Returns the methods that do not get 405, or `undefined` for an unknown path. `path` is like
   * `Call.path`.
   */
  methodsAt(table: CallTable, path: string): readonly string[] | undefined;
}
