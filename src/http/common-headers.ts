/**
 * The headers that all responses have, such as those of CORS (Fetch standard).
 *
 * @module
 */
/**
 * The origins whose pages may read a response, such as `https://app.example`; `"*"` for any. See
 * [CORS](../docs/http.md#cors).
 */
export type Cors = readonly string[] | "*";

/** The names of headers are in lower case. */
export interface CommonHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly vary: "Origin" | undefined;
}

/** Must return the same object for the same origin, since `representation.ts` uses it as a key. */
export type CommonHeadersFor = (request: Pick<Request, "headers">) => CommonHeaders;

export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/**
 * @param resources the value of `Cross-Origin-Resource-Policy`
 * @param exposed the headers that pages may read, besides those that the Fetch standard lists
 */
export function createCommonHeaders(
  cors: Cors,
  resources: "cross-origin" | "same-origin" = cors === "*" ? "cross-origin" : "same-origin",
  exposed = "etag, allow, link",
): CommonHeadersFor {
  // `cross-origin-resource-policy` also prevents embedding by pages that may not read the response.
  const common = { ...SECURITY_HEADERS, "cross-origin-resource-policy": resources };
  const allowing = (origin: string, vary?: "Origin"): CommonHeaders => ({
    headers: {
      ...common,
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
    },
    vary,
  });
  if (cors === "*") {
    const any = allowing("*");
    return () => any;
  }
  const other: CommonHeaders = {
    headers: common,
    vary: cors.length === 0 ? undefined : "Origin",
  };
  const origins = new Map(cors.map((origin) => [origin, allowing(origin, "Origin")]));
  return ({ headers }) => origins.get(headers.get("origin") ?? "") ?? other;
}

export function isPreflight({ method, headers }: Pick<Request, "method" | "headers">): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}

export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    "access-control-allow-methods": methods.join(", "),
    // `*` does not include `Authorization` (Fetch standard, "CORS-preflight fetch").
    "access-control-allow-headers": "*, authorization",
    "access-control-max-age": "86400",
  };
}
