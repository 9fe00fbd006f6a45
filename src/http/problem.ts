/**
 * Problem details for errors (RFC 9457).
 *
 * @module
 */

/** The reason phrases of the errors this service can answer (RFC 9110, section 15). */
const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  500: "Internal Server Error",
};

/** What an `application/problem+json` body says. */
export interface Problem {
  /** Always `about:blank`: the status says what kind of problem it is. */
  type: "about:blank";
  title: string;
  status: number;
  /** What was wrong with this request, and what would be right. */
  detail: string;
}

/**
 * Makes an error answer. It is never stored by a cache.
 *
 * @param status an error status of {@linkcode TITLES}
 * @param detail one or two sentences for the client; nothing from inside the service
 * @param headers further headers, such as `allow`
 */
export function problem(
  status: number,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const title = TITLES[status] ?? "Error";
  const body: Problem = { type: "about:blank", title, status, detail };
  const text = JSON.stringify(body, null, 2) + "\n";
  return new Response(text, {
    status,
    headers: {
      "content-type": "application/problem+json",
      "content-length": String(new TextEncoder().encode(text).byteLength),
      "cache-control": "no-store",
      ...headers,
    },
  });
}
