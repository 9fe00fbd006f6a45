/**
 * Problem details for errors (RFC 9457).
 *
 * @module
 */
import type { Answer } from "./message.ts";
import { REASONS, type Status } from "./status.ts";

/** The content of an `application/problem+json` response. */
export interface ProblemDetails {
  /** Always `about:blank`: the status says all (RFC 9457, section 4.2.1). */
  type: "about:blank";
  title: string;
  status: Status;
  detail: string;
}

const encoder = new TextEncoder();

/**
 * Makes an error answer. No cache stores it.
 *
 * @param status 400 or above
 * @param detail one or two sentences for the client, without internals of the service
 * @param headers additional headers, such as `allow`; names in lower case
 */
export function problem(
  status: Status,
  detail: string,
  headers: Record<string, string> = {},
): Answer {
  const body = encoder.encode(problemText(status, detail));
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "content-length": String(body.byteLength),
      "cache-control": "no-store",
      ...headers,
    },
    body,
  };
}

/** The content of an error, as {@linkcode problem} has it. */
export function problemText(status: Status, detail: string): string {
  const content: ProblemDetails = { type: "about:blank", title: REASONS[status], status, detail };
  return JSON.stringify(content, null, 2) + "\n";
}
