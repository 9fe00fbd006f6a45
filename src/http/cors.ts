/**
 * Who may read the answers from a web page: cross-origin resource sharing, as the Fetch standard has
 * it. Credentials are never allowed.
 *
 * @module
 */
import { ORIGINS, readList } from "./allowed.ts";
import type { RequestHead } from "./message.ts";

/** `"*"` for any origin, or a list of origins such as `https://app.example`; `[]` for none. */
export type Cors = readonly string[] | "*";

/** The CORS headers of an answer, in lower case. There is one such set for each origin allowed. */
export interface CorsHeaders {
  /** Counts the sets from 0. */
  readonly index: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a page may read besides the headers that it always may. */
const EXPOSED = { "access-control-expose-headers": "etag, allow, link" };

/** A preflight is worth keeping for a day; browsers cut that down to what they allow. */
const PREFLIGHT = { "access-control-allow-headers": "*", "access-control-max-age": "86400" };

/**
 * Makes the function that chooses the headers for a request.
 *
 * @param cors who may read
 * @throws {TypeError} where one of them is no origin
 */
export function createCors(cors: Cors): (head: RequestHead) => CorsHeaders {
  if (cors === "*") {
    const any = { index: 0, headers: { "access-control-allow-origin": "*", ...EXPOSED } };
    return () => any;
  }
  const allowed = readList("cors", ORIGINS, cors);
  const other = { index: 0, headers: allowed.length === 0 ? {} : { vary: "Origin" } };
  const origins = new Map(allowed.map((origin, i): [string, CorsHeaders] => [origin, {
    index: i + 1,
    headers: { "access-control-allow-origin": origin, ...EXPOSED, vary: "Origin" },
  }]));
  return ({ headers }) => origins.get(headers.get("origin") ?? "") ?? other;
}

/** Whether a request asks what a page may send (Fetch standard, "CORS-preflight request"). */
export function isPreflight({ method, headers }: RequestHead): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}

/**
 * The further headers of the answer to a preflight.
 *
 * @param allow the methods of the path
 */
export function preflightHeaders(allow: string): Record<string, string> {
  return { "access-control-allow-methods": allow, ...PREFLIGHT };
}
