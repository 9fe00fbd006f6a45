/**
 * Handles calls of all forms: finds the client, gives the call a lease, and writes refusals.
 *
 * @module
 */
import { disconnectSignalOf } from "../http/request.ts";
import { useJsonType } from "../http/response.ts";
import type { RoutedRequest } from "../http/routes.ts";
import { Budget, ReservedBytes } from "./budget.ts";
import type { Call, CallProtocol, ReceivedCall } from "./call.ts";
import { CallContent } from "./content.ts";
import type { CallTable, Gateway } from "./gateway.ts";
import { NOT_FORWARDED, Refusal } from "./refusal.ts";

export class CallHandler {
  readonly #gateway: Gateway | undefined;
  /** The content of calls that are refused without a lease. */
  readonly #budgetOfRefused = new Budget();
  /** @param gateway if `undefined`, all calls are refused */
  constructor(gateway: Gateway | undefined) {
    this.#gateway = gateway;
  }

  /** @param path the path as the protocol reads it: see {@linkcode ReceivedCall} */
  async handle(
    routed: RoutedRequest,
    protocol: CallProtocol,
    table: CallTable | undefined,
    path: string,
  ): Promise<Response> {
    const { request, target } = routed;
    const content = new CallContent(request);
    const common = routed.commonHeaders();
    const received = { request, path, query: target.search.slice(1), content, common };
    const response = await this.#respond(received, protocol, table);
    // The connection closes unless the content was taken whole (RFC 9112, section 9.3).
    if (content.isUnread) {
      await content.discard();
      response.headers.set("connection", "close");
    }
    // Clients of nodes know no problem details, and some read only `application/json`.
    useJsonType(response, request.headers.get("accept") ?? "");
    return response;
  }

  async #respond(
    received: ReceivedCall,
    protocol: CallProtocol,
    table: CallTable | undefined,
  ): Promise<Response> {
    const gateway = this.#gateway;
    if (!gateway || !table?.isKnown) {
      return await this.#refuse(protocol, NOT_FORWARDED[gateway ? "unknown" : "off"], received);
    }
    const { request, query } = received;
    const caller = await gateway.identify(request, query);
    const quota = gateway.quotaOf(caller);
    const refusal = quota?.refusal;
    const response = refusal
      ? await this.#refuse(protocol, refusal, received)
      : await this.#forward(gateway, protocol, { ...received, table, caller });
    for (const [name, value] of Object.entries(quota?.headers ?? {})) {
      response.headers.set(name, value);
    }
    return response;
  }

  async #forward(
    gateway: Gateway,
    protocol: CallProtocol,
    call: Omit<Call, "lease">,
  ): Promise<Response> {
    const lease = gateway.lease(disconnectSignalOf(call.request), call.caller);
    try {
      return await protocol.respond(gateway, { ...call, lease });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      lease.charge(error);
      return await protocol.toResponse(error);
    } finally {
      lease.dispose();
    }
  }

  /** Refuses a call that has no lease. Its content is parsed only to find out its id. */
  async #refuse(
    protocol: CallProtocol,
    refusal: Refusal,
    call: ReceivedCall,
  ): Promise<Response> {
    const lease = { requestBytes: new ReservedBytes(this.#budgetOfRefused, "body") };
    try {
      return await protocol.toResponse(refusal, { ...call, lease });
    } finally {
      lease.requestBytes.dispose();
    }
  }
}
