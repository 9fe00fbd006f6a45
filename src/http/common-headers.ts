/**
 * The headers of every response: security headers, and cross-origin resource sharing (CORS, Fetch standard).
 * Credentials are never allowed.
 *
 * @module
 */
import { FastResponse } from "./response.ts";

/** `"*"` for any origin, a list of origins such as `https://app.example`, or `[]` for none. */
export type Cors = readonly string[] | "*";

/** The headers of all responses of a route for one allowed origin, or for all others. */
export interface CommonHeaders {
  /** Names are in lower case. */
  readonly headers: [name: string, value: string][];
  readonly vary: "Origin" | undefined;
}

/** Returns the common headers for a request; the same object for the same origin. */
export type CommonHeadersFor = (request: Pick<Request, "headers">) => CommonHeaders;

export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

const EXPOSED = { "access-control-expose-headers": "etag, allow, link" };

// `*` does not include `Authorization` (Fetch standard, "CORS-preflight fetch").
const PREFLIGHT = {
  "access-control-allow-headers": "*, authorization",
  "access-control-max-age": "86400",
};

/** @param resources the origins whose pages may embed a response; by default those that may read it */
export function createCommonHeaders(
  cors: Cors,
  resources: "cross-origin" | "same-origin" = cors === "*" ? "cross-origin" : "same-origin",
): CommonHeadersFor {
  // A page that may not read a response may not embed it either.
  const common = { ...SECURITY_HEADERS, "cross-origin-resource-policy": resources };
  const allowing = (origin: string, vary?: "Origin"): CommonHeaders => ({
    headers: Object.entries({ ...common, "access-control-allow-origin": origin, ...EXPOSED }),
    vary,
  });
  if (cors === "*") {
    const any = allowing("*");
    return () => any;
  }
  const other: CommonHeaders = {
    headers: Object.entries(common),
    vary: cors.length === 0 ? undefined : "Origin",
  };
  const origins = new Map(cors.map((origin) => [origin, allowing(origin, "Origin")]));
  return ({ headers }) => origins.get(headers.get("origin") ?? "") ?? other;
}

/** Adds the common headers that a mutable response lacks, and removes the body for HEAD. */
export function finish(
  response: Response,
  { headers: common, vary }: CommonHeaders,
  { method }: Pick<Request, "method">,
): Response {
  const { status, statusText, headers } = response;
  for (const [name, value] of common) if (!headers.has(name)) headers.set(name, value);
  if (vary) headers.append("vary", vary);
  if (method !== "HEAD") return response;
  // A handler may hold resources until its body is read or cancelled.
  response.body?.cancel().catch(() => {});
  return new FastResponse(null, { status, statusText, headers });
}

export function isPreflight({ method, headers }: Pick<Request, "method" | "headers">): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}

export function preflightHeaders(allow: string): Record<string, string> {
  return { "access-control-allow-methods": allow, ...PREFLIGHT };
}
