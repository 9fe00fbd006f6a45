/**
 * Sends a call only while the expected node is known to be at the address: see `node.expect`.
 *
 * @module
 */
import type { Signal } from "../abort-signal.ts";
import { failureOf } from "../node/failures.ts";
import { STALE } from "../node/http1.ts";
import type { Node } from "../node/node.ts";
import { NOT_SENT, Refusal } from "./refusal.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** Resolves to a refusal if the node is not the expected one. */
export type VerifyNode = () => Promise<Refusal | undefined>;

/** A node that loses connections all the time is not called for ever. */
const RETRIES_MAX = 3;

/**
 * Another node may be at the address when a connection is lost, so nothing is sent afterwards
 * before the node has been verified again. A request that only reads may be sent again.
 *
 * @param send sends the request, unless `isStale` says that it must not be sent any more
 */
export async function sendVerified(
  node: Pick<Node, "losses">,
  verify: VerifyNode,
  { isRead, signal }: { readonly isRead: boolean; readonly signal: Signal },
  send: (isStale: () => boolean) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  for (let retries = 0;; retries++) {
    const refusal = await verify();
    if (refusal) throw refusal;
    const { losses } = node;
    try {
      return await send(() => node.losses !== losses);
    } catch (error) {
      const isLost = !(error instanceof Refusal) && failureOf(error).code === "reset";
      const wasSent = error !== STALE;
      const mayRetry = !wasSent || (isRead && isLost);
      if (mayRetry && retries < RETRIES_MAX && !signal.aborted) continue;
      throw wasSent ? error : NOT_SENT;
    }
  }
}
