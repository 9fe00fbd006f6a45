/**
 * Why the node has not answered a call.
 *
 * @module
 */
import { failureOf } from "../node/failures.ts";
import { UpstreamError } from "./upstream.ts";

/** What the log says where nobody waits for an answer any longer, as nginx does. */
export const STATUS_GONE = 499;

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
