/**
 * Handles calls of all forms: finds the client, gives the call a lease, and writes refusals.
 *
 * @module
 */
import { useJsonType } from "../http/response.ts";
import type { RoutedRequest } from "../http/routes.ts";
import type { Resource } from "../lazy.ts";
import { Budget, ReservedBytes } from "./budget.ts";
import type { CallForm, Follower, UnreadCall } from "./call.ts";
import { CallContent } from "./content.ts";
import type { CallTable, Gateway } from "./gateway.ts";
import type { Quota } from "./quota.ts";
import { NOT_FORWARDED, Refusal } from "./refusal.ts";

export class CallHandler {
  readonly #gateway: Gateway | undefined;
  readonly #follower: Resource<Follower>;
  /** The content of calls that are refused without a lease. */
  readonly #unread = new Budget();
  /** @param gateway if `undefined`, all calls are refused */
  constructor(gateway: Gateway | undefined, follower: Resource<Follower>) {
    this.#gateway = gateway;
    this.#follower = follower;
  }

  /** @param start the part of the path that the node does not get */
  async handle(
    routed: RoutedRequest,
    form: CallForm,
    table: CallTable | undefined,
    start: string = form.start,
  ): Promise<Response> {
    const { request } = routed;
    const content = new CallContent(request);
    const response = await this.#respond(routed, form, table, start, content);
    // The connection closes if the content was not read to its end (RFC 9112, section 9.3).
    if (content.isUnread) response.headers.set("connection", "close");
    // Clients of nodes know no problem details, and some read only `application/json`.
    useJsonType(response, request.headers.get("accept") ?? "");
    return response;
  }

  async #respond(
    { request, path, target, common }: RoutedRequest,
    form: CallForm,
    table: CallTable | undefined,
    start: string,
    content: CallContent,
  ): Promise<Response> {
    const gateway = this.#gateway;
    if (!gateway) return await this.#refuse(form, NOT_FORWARDED.off, { request, content });
    if (!table?.isKnown) {
      return await this.#refuse(form, NOT_FORWARDED.unknown, { request, content });
    }
    const query = target.search.slice(1);
    const caller = await gateway.identify(request, query);
    const quota = gateway.quotaOf(caller);
    const isOver = quota?.refusal;
    if (isOver) return withHeaders(await this.#refuse(form, isOver, { request, content }), quota);
    const lease = gateway.lease(request, caller);
    try {
      const response = await form.respond(gateway, {
        request,
        path: path.slice(start.length),
        query,
        content,
        common,
        table,
        caller,
        lease,
        follower: this.#follower,
      });
      return withHeaders(response, quota);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!lease.isCounted) quota?.charge(error);
      return withHeaders(await form.toResponse(error), quota);
    } finally {
      lease.dispose();
    }
  }

  /** Refuses a call that has no lease. Its content is read only to find out its id. */
  async #refuse(
    form: CallForm,
    refusal: Refusal,
    call: Pick<UnreadCall, "request" | "content">,
  ): Promise<Response> {
    const lease = { requestBytes: new ReservedBytes(this.#unread, "body") };
    try {
      return await form.toResponse(refusal, { ...call, lease });
    } finally {
      lease.requestBytes.dispose();
    }
  }
}

function withHeaders(response: Response, quota: Quota | undefined): Response {
  for (const [name, value] of Object.entries(quota?.headers ?? {})) {
    response.headers.set(name, value);
  }
  return response;
}
