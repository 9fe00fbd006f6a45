/**
 * Errors of a host's operations, in the form of all others.
 *
 * @module
 */
import { REASONS, type Status } from "../http/status.ts";

/**
 * Makes an `application/problem+json` response (RFC 9457), to return or to throw. No cache stores it.
 *
 * @param status 400 to 599
 * @param detail one or two sentences for the client
 * @param headers further headers, such as `retry-after`
 * @throws {RangeError} if the status is none of an error
 * @example
 * ```ts
 * if (!peer) throw problem(404, `There is no peer ${id}`);
 * ```
 */
export function problem(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(`the status of a problem must be from 400 to 599, not ${status}`);
  }
  const title = REASONS[status as Status] as string | undefined;
  const content = { type: "about:blank", title, status, detail };
  return new Response(JSON.stringify(content, null, 2) + "\n", {
    status,
    ...title !== undefined && { statusText: title },
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}
