/**
 * Problem details for errors (RFC 9457).
 *
 * @module
 */
import { FastResponse, nativeOf, REASONS } from "./response.ts";

/**
 * Makes an `application/problem+json` response (RFC 9457), to return or to throw. No cache stores it.
 *
 * @param status 400 to 599
 * @param detail one or two sentences for the client, without internals of the service
 * @param headers further headers, such as `retry-after`
 * @throws {RangeError} if the status is not an error status
 * @throws {TypeError} if a header is invalid
 * @example
 * ```ts
 * if (!peer) throw problem(404, `Unknown peer ${id}`);
 * ```
 */
export function problem(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return problemWith(status, detail, {}, headers);
}

/** {@linkcode problem} for a host, whose server may require the platform's own `Response`. */
export const nativeProblem: typeof problem = (...parts) => nativeOf(problem(...parts));

export function problemWith(
  status: number,
  detail: string,
  members: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(`the status of a problem must be from 400 to 599, not ${status}`);
  }
  const title = titleOf(status);
  const body = new TextEncoder().encode(problemText(status, detail, members));
  return new FastResponse(body, {
    status,
    ...title !== undefined && { statusText: title },
    // `FastResponse` takes a list unchecked; `Headers` refuses values with line breaks.
    headers: new Headers({
      "content-type": "application/problem+json",
      "content-length": String(body.byteLength),
      "cache-control": "no-store",
      ...headers,
    }),
  });
}

const titleOf = (status: number): string | undefined =>
  (REASONS as Readonly<Record<number, string>>)[status];

export function problemText(
  status: number,
  detail: string,
  members: Readonly<Record<string, string | undefined>> = {},
): string {
  const lines = Object.entries({
    // The status says everything (RFC 9457, section 4.2.1).
    type: '"about:blank"',
    title: JSON.stringify(titleOf(status)),
    status: String(status),
    detail: JSON.stringify(detail),
    ...members,
  }).filter(([, json]) => json !== undefined)
    .map(([name, json]) => `  ${JSON.stringify(name)}: ${json}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

export function notFound(): Response {
  return problem(404, "This path is not served; /v1/spec lists those that are");
}

/** OPTIONS is allowed on every path. */
export function notAllowed(methods: readonly string[]): Response {
  const allow = [...methods, "OPTIONS"].join(", ");
  return problem(405, `This path allows ${allow}`, { allow });
}
