/**
 * Who may read the answers from a web page: cross-origin resource sharing, as the Fetch standard has
 * it. Credentials are never allowed.
 *
 * @module
 */
import { ORIGINS, readList } from "./allowed.ts";
import type { RequestHead } from "./head.ts";

/** `"*"` for any origin, or a list of origins such as `https://app.example`; `[]` for none. */
export type Cors = readonly string[] | "*";

/** The headers for one request, in lower case; the same object for the same case. */
export type CorsHeaders = (head: RequestHead) => Readonly<Record<string, string>>;

/** What a page may read besides the headers it always may. */
const EXPOSED = { "access-control-expose-headers": "etag, allow, link" };

/** A preflight is worth remembering for a day; browsers cut that down to what they allow. */
const PREFLIGHT = { "access-control-allow-headers": "*", "access-control-max-age": "86400" };

/**
 * Makes the function that says which headers a request's answer gets.
 *
 * @param cors who may read
 * @throws {TypeError} where one of them is no origin
 */
export function createCors(cors: Cors): CorsHeaders {
  if (cors === "*") {
    const any = { "access-control-allow-origin": "*", ...EXPOSED };
    return () => any;
  }
  const allowed = readList("cors", ORIGINS, cors);
  if (allowed.length === 0) {
    const none = {};
    return () => none;
  }
  const other = { vary: "Origin" };
  const allow = (origin: string) => ({
    "access-control-allow-origin": origin,
    ...EXPOSED,
    ...other,
  });
  const origins = new Map(allowed.map((origin) => [origin, allow(origin)]));
  return ({ headers }) => origins.get(headers.get("origin") ?? "") ?? other;
}

/**
 * The further headers of an answer to OPTIONS where it is a preflight.
 *
 * @param allow the methods of the path
 */
export function preflight(allow: string): Record<string, string> {
  return { "access-control-allow-methods": allow, ...PREFLIGHT };
}
