/**
 * Makes responses to calls, with headers that stop a browser from running scripts in the node's
 * content.
 *
 * @module
 */
import { type HttpStatus, problemWith } from "../http/response.ts";
import { memoize } from "../lazy.ts";
import { failureOf } from "../node/failures.ts";
import type { ResponseHead } from "../node/http1.ts";
import { CODES } from "../node/json-rpc.ts";
import { HAS_SOCKETS } from "../platform.ts";
import { patternOf } from "./request-headers.ts";

interface RefusalDetails {
  /** Shown after the message in problem details, but not in JSON-RPC errors. */
  readonly more?: string;
  /** The setting that would allow the call, shown in JSON-RPC errors. */
  readonly setting?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem details, as JSON text. */
  readonly members?: Readonly<Record<string, string | undefined>>;
  /** True if the node may have carried out the call. */
  readonly isUncertain?: boolean;
}

/** The reason why a client does not get the node's response. */
export class Refusal extends Error {
  readonly status: HttpStatus;
  readonly code: number;
  readonly details: RefusalDetails;
  constructor(status: HttpStatus, code: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Refuses a call that nobody may make as it is. */
export const invalidCall = (message: string, status: HttpStatus = 400): Refusal =>
  new Refusal(status, CODES.invalidCall, message);

export function problemOf({ status, message, details }: Refusal): Response {
  const { more = "", members = {}, headers } = details;
  return problemWith(status, message + more, members, headers);
}

export const LATER = { "retry-after": "5" };

export const FULL: Refusal = new Refusal(
  503,
  CODES.busy,
  "Too much data is in transit; try again later",
  { headers: LATER },
);

/** Like {@linkcode FULL}, for a response that the node has sent. */
export const FULL_AFTERWARDS: Refusal = new Refusal(503, CODES.busy, FULL.message, {
  headers: LATER,
  isUncertain: true,
});

export const NO_WEBSOCKET: string = "There is no WebSocket here; a started service that " +
  "forwards calls has JSON-RPC over WebSocket at /v1/rpc";

export const NO_UPGRADE: Refusal = invalidCall(NO_WEBSOCKET);

/** Tells whether a status is about the connection to the node: no client must act on it. */
export const isAboutConnection = (status: number): boolean => [408, 421, 425, 426].includes(status);

export const CREDENTIALS_REJECTED: Refusal = new Refusal(
  502,
  CODES.notReached,
  "The node rejected the service's credentials",
);

/** @param retryAfter the node's header `Retry-After` */
export function busyNode(status: number, retryAfter: string | null): Refusal {
  return new Refusal(503, CODES.busy, `The node responded with ${status}: it is busy or starting`, {
    headers: /^\d{1,9}$/.test(retryAfter ?? "") ? { "retry-after": retryAfter! } : LATER,
  });
}

export const NOT_FORWARDED: Readonly<Record<"off" | "unknown", Refusal>> = {
  off: new Refusal(
    403,
    CODES.notAllowed,
    HAS_SOCKETS
      ? "This service documents the node but does not forward calls to it; " +
        'the setting "forward" allows calls'
      : "This service runs in a worker, which cannot forward calls to the node",
  ),
  // A 404 would mean that the method does not exist.
  unknown: new Refusal(
    503,
    CODES.notReached,
    "The node's operations are not known yet; /v1/info shows its status",
    { headers: LATER },
  ),
};

/** Failure codes which show that the node has not received the call. */
const BEFORE: ReadonlySet<string> = new Set(["connection_refused", "dns", "tls", "not_tls"]);

export function refusalOf(error: unknown, isRead: boolean): Refusal {
  const refusal = error instanceof Refusal ? error : failureToRefusal(error);
  if (isRead || !refusal.details.isUncertain) return refusal;
  const { status, code } = refusal;
  const message = `${refusal.message}; the call may have been carried out`;
  // A call that may change something gets 502, since clients retry after a 503.
  return status === 503
    ? new Refusal(502, CODES.notReached, message)
    : new Refusal(status, code, message);
}

function failureToRefusal(error: unknown): Refusal {
  const { code, message } = failureOf(error);
  // All messages except "connection refused" complete a sentence that begins with "The node".
  const clause = message === "connection refused" ? `cannot be reached: ${message}` : message;
  return new Refusal(502, CODES.notReached, `The node ${clause}`, {
    isUncertain: !BEFORE.has(code),
  });
}

/**
 * Response headers that are never forwarded: a node could steer browsers, proxies and caches that
 * stand before this service.
 */
const DENIED = patternOf(
  // Browsers
  `set-cookie set-cookie2 set-login idp-* location content-location refresh link-template
   sourcemap x-sourcemap www-authenticate authorization clear-site-data content-disposition
   content-type content-security-policy content-security-policy-report-only
   service-worker-allowed strict-transport-security public-key-pins* expect-ct
   x-content-type-options x-frame-options x-xss-protection x-permitted-cross-domain-policies
   x-dns-prefetch-control x-ua-compatible referrer-policy permissions-policy feature-policy
   document-policy require-document-policy integrity-policy* speculation-rules
   supports-loading-mode origin-agent-cluster accept-ch* critical-ch report-to
   reporting-endpoints nel timing-allow-origin use-as-dictionary activate-storage-access
   observe-browsing-topics attribution-reporting-* ad-auction-* access-control-* cross-origin-*
   sec-* secure-session-* x-nodeface*`,
  // Proxies and caches
  `content-length content-encoding content-range transfer-encoding connection keep-alive upgrade
   trailer te alt-svc proxy-* x-accel-* x-sendfile* x-reproxy-* x-lighttpd-* x-litespeed-*
   x-appengine-* x-envoy-* l5d-* vary no-vary-search cache-control expires age etag last-modified
   surrogate-* *cdn-cache-control edge-control`,
);

const isDenied = memoize((name) => DENIED.test(name));

export const WITHOUT_CONTENT: readonly number[] = [204, 205, 304];

/** Headers about caching, which pass only with what everybody may read. */
const OF_CACHES = ["cache-control", "etag", "last-modified", "vary"] as const;

/** Types that a browser does not run. All other types are downloaded. */
const TYPES = new RegExp(
  String.raw`^(?:application/(?:[\w.-]+\+)?json|application/vnd\.[\w.-]+\+(?:json|cbor|bcs)` +
    "|application/(?:x-ndjson|ndjson|jsonl|cbor|octet-stream)" +
    "|application/(?:protobuf|x-protobuf|msgpack|x-binary)" +
    "|text/(?:plain|csv)|image/(?:png|jpeg|gif|webp))$",
);

const PARAMETERS = /^(?: *; *[\w.-]+=(?:[\w.+:/-]+|"[\w .,+:/=-]*"))*$/;

const PROTECTED = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** The headers of a JSON response that no cache stores. */
export const JSON_HEADERS: Readonly<Record<string, string>> = {
  ...PROTECTED,
  "cache-control": "no-store",
  "content-type": "application/json",
};

interface ResponseUse {
  /** The path of the call at the node. */
  readonly path: string;
  /** True if everybody gets the same response without any credential. */
  readonly isPublic: boolean;
}

/** Returns the headers of the node's response that are passed on, with those of this service. */
export function responseHeaders(
  { status, headers }: ResponseHead,
  { path, isPublic }: ResponseUse,
): Record<string, string> {
  const passed: Record<string, string> = {
    ...PROTECTED,
    "cache-control": isPublic ? "no-store" : "private, no-store",
    ...WITHOUT_CONTENT.includes(status) ? {} : typeOf(headers.get("content-type")),
  };
  const wanted: readonly string[] = [
    ...isPublic ? OF_CACHES : [],
    ...status === 206 || status === 416 ? ["content-range"] : [],
    ...(status === 201 || status === 202) && staysBelow(headers.get("location"), path)
      ? ["location"]
      : [],
  ];
  for (const [name, value] of headers.entries()) {
    const isPassed = wanted.includes(name) || !isDenied(name);
    if (isPassed && VALUE.test(value)) passed[name] = value;
  }
  return passed;
}

const VALUE = /^[\t\x20-\x7e]{0,4096}$/;

/** Tells whether a location is relative to the path, and does not leave the node. */
function staysBelow(location: string | null, path: string): boolean {
  if (location === null || !/^[\w.~][\w.~%/?&=-]*$/.test(location)) return false;
  return new URL(location, `http://node/below${path}`).pathname.startsWith("/below/");
}

function typeOf(type: string | null): Record<string, string> {
  const [essence = ""] = (type ?? "").split(";");
  const parameters = (type ?? "").slice(essence.length);
  const known = essence.trim().toLowerCase();
  if (!TYPES.test(known)) {
    return {
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="response"',
    };
  }
  const passed = PARAMETERS.test(parameters) ? parameters : "";
  const isUnclear = known.startsWith("text/") && !/charset=/i.test(passed);
  return { "content-type": `${known}${passed}${isUnclear ? "; charset=utf-8" : ""}` };
}
