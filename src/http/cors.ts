/**
 * Cross-origin resource sharing (CORS, Fetch standard). Credentials are never allowed.
 *
 * @module
 */
import type { RequestHead } from "./message.ts";

/** `"*"` for any origin, or a list of origins such as `https://app.example`; `[]` for none. */
export type Cors = readonly string[] | "*";

/** The CORS headers for one allowed origin, or for all others. */
export interface CorsHeaders {
  readonly index: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const EXPOSED = { "access-control-expose-headers": "etag, allow, link" };

// `*` does not stand for `Authorization` (Fetch standard, "CORS-preflight fetch").
const PREFLIGHT = {
  "access-control-allow-headers": "*, authorization",
  "access-control-max-age": "86400",
};

/**
 * Makes the function that chooses the CORS headers of a response.
 *
 * @param cors who may read; origins as browsers send them
 */
export function createCors(cors: Cors): (head: RequestHead) => CorsHeaders {
  if (cors === "*") {
    const any = { index: 0, headers: { "access-control-allow-origin": "*", ...EXPOSED } };
    return () => any;
  }
  const other = { index: 0, headers: cors.length === 0 ? {} : { vary: "Origin" } };
  const origins = new Map(cors.map((origin, i): [string, CorsHeaders] => [origin, {
    index: i + 1,
    headers: { "access-control-allow-origin": origin, ...EXPOSED, vary: "Origin" },
  }]));
  return ({ headers }) => origins.get(headers.get("origin") ?? "") ?? other;
}

/** Whether a request is a CORS preflight (Fetch standard, "CORS-preflight request"). */
export function isPreflight({ method, headers }: RequestHead): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}

/** The additional headers of the response to a preflight; `allow` lists the methods of the path. */
export function preflightHeaders(allow: string): Record<string, string> {
  return { "access-control-allow-methods": allow, ...PREFLIGHT };
}
