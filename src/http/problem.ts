/**
 * Problem details (RFC 9457).
 *
 * @module
 */
import { encodeText } from "../bytes.ts";
import { RESOURCE_PATH } from "./own-paths.ts";
import { bareResponse, nativeOf, PROBLEM, titleOf } from "./response.ts";

/**
 * Makes an `application/problem+json` response (RFC 9457), to return or to throw. Caches do not
 * store the response.
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
export const problem = (
  status: number,
  detail: string,
  headers?: Readonly<Record<string, string>>,
): Response => nativeOf(problemResponse(status, detail, headers));

/**
 * Like {@linkcode problem}, but returns a `ResponseClass`, which takes less time to create.
 *
 * @param members further members, each with its JSON
 */
export function problemResponse(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  members: Readonly<Record<string, string | undefined>> = {},
): Response {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(`the status of a problem must be from 400 to 599, not ${status}`);
  }
  const body = encodeText(problemText(status, detail, members));
  return bareResponse(status, {
    "content-type": PROBLEM,
    "content-length": String(body.byteLength),
    "cache-control": "no-store",
    // `Headers` rejects values with line breaks. `ResponseClass` would not check a list of headers.
    ...Object.fromEntries(new Headers(headers)),
  }, body);
}

export function problemText(
  status: number,
  detail: string,
  members: Readonly<Record<string, string | undefined>> = {},
): string {
  const lines = Object.entries({
    // `about:blank` adds no meaning to the status (RFC 9457, section 4.2.1).
    type: '"about:blank"',
    title: JSON.stringify(titleOf(status)),
    status: String(status),
    detail: JSON.stringify(detail),
    // Many clients show only a member with this name.
    message: JSON.stringify(detail),
    ...members,
  }).filter(([, json]) => json !== undefined)
    .map(([name, json]) => `  ${JSON.stringify(name)}: ${json}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** Adds a sentence to another one, unless it is empty. Neither has a full stop at its end. */
export const withHint = (detail: string, hint: string): string =>
  hint === "" ? detail : `${detail}. ${hint}`;

/** @param hint a sentence for clients that have a wrong address, or an empty text */
export function notFound(
  path: string = "",
  hint: string = "",
  headers?: Readonly<Record<string, string>>,
): Response {
  const place = RESOURCE_PATH.test(`/v1${path}`)
    ? `/v1${path}`
    : "/v1/spec for the available paths";
  const detail = `This path is not served; see ${place}`;
  return problemResponse(404, withHint(detail, hint), headers);
}

export function notAllowed(methods: readonly string[], hint: string): Response {
  const allow = [...methods, "OPTIONS"].join(", ");
  return problemResponse(405, withHint(`This path allows ${allow}`, hint), { allow });
}
