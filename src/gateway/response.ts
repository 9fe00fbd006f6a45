/**
 * Makes responses to calls, with headers that stop a browser from running scripts in the node's
 * content.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { type HeldBytes, type HttpStatus, problemWith } from "../http/response.ts";
import { failureOf } from "../node/failures.ts";
import { CODES } from "../node/json-rpc.ts";
import { HAS_SOCKETS } from "../platform.ts";

/** The names of headers must be in lower case. */
export type MakeResponse = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: ReadableStream<Bytes> | Bytes | HeldBytes | null,
) => Response;

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

export function refuse({ status, message, details }: Refusal): Response {
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

export const NO_UPGRADE: Refusal = new Refusal(
  400,
  CODES.invalidCall,
  "Connections cannot be upgraded",
  { more: " here" },
);

export const CREDENTIALS_REJECTED: Refusal = new Refusal(
  502,
  CODES.notReached,
  "The node rejected the service's credentials",
);

export function busyNode(
  { status, headers }: { readonly status: number; readonly headers: Pick<Headers, "get"> },
): Refusal {
  return new Refusal(503, CODES.busy, `The node responded with ${status}: it is busy or starting`, {
    headers: { "retry-after": retryAfterOf(headers) ?? LATER["retry-after"] },
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

/** @param timeout the time limit of the call, in milliseconds */
export function refusalOf(error: unknown, isRead: boolean, timeout: number): Refusal {
  const refusal = error instanceof Refusal ? error : failureToRefusal(error, timeout);
  if (isRead || !refusal.details.isUncertain) return refusal;
  const { status, code } = refusal;
  const message = `${refusal.message}; the call may have been carried out`;
  // A call that may change something gets 502, since clients retry after a 503.
  return status === 503
    ? new Refusal(502, CODES.notReached, message)
    : new Refusal(status, code, message);
}

function failureToRefusal(error: unknown, timeout: number): Refusal {
  if ((error as Error | undefined)?.name === "TimeoutError") {
    const message = `The node did not finish its response within ${timeout / 1000} s`;
    return new Refusal(504, CODES.tooLate, message, { isUncertain: true });
  }
  const { code, message } = failureOf(error);
  // All messages except "connection refused" complete a sentence that begins with "The node".
  const clause = message === "connection refused" ? `cannot be reached: ${message}` : message;
  return new Refusal(502, CODES.notReached, `The node ${clause}`, {
    isUncertain: !BEFORE.has(code),
  });
}

/** Response headers that are never forwarded, even if an operation declares them. */
const DENIED: ReadonlySet<string> = new Set(
  `set-cookie set-cookie2 location content-location refresh link-template www-authenticate
   proxy-authenticate authorization clear-site-data content-security-policy
   content-security-policy-report-only content-disposition content-type content-length
   content-encoding content-range transfer-encoding connection keep-alive upgrade trailer te alt-svc
   service-worker-allowed strict-transport-security x-accel-redirect x-sendfile
   x-content-type-options referrer-policy vary cache-control expires age etag last-modified
   retry-after accept-ch critical-ch permissions-policy feature-policy speculation-rules
   origin-agent-cluster document-policy x-reproxy-url x-frame-options report-to reporting-endpoints
   nel sourcemap x-sourcemap`.split(/\s+/),
);

const DENIED_START =
  /^(?:access-control-|cross-origin-|sec-|proxy-|x-accel-|x-lighttpd-|x-litespeed-|x-nodeface)/;

const TYPES = new RegExp(
  String.raw`^(?:application/(?:[\w.-]+\+)?json|application/vnd\.[\w.-]+\+(?:json|cbor|bcs)` +
    "|application/(?:x-ndjson|ndjson|jsonl|cbor|octet-stream)" +
    "|application/(?:protobuf|x-protobuf|msgpack|x-binary)" +
    "|text/(?:plain|csv))$",
);

const COMMON = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** `named` lists the response headers that the operation declares, in lower case. */
export function responseHeaders(
  headers: Pick<Headers, "get">,
  named: readonly string[],
): Record<string, string> {
  const type = typeOf(headers.get("content-type"));
  const passed: Record<string, string> = { ...COMMON, ...type };
  const retryAfter = retryAfterOf(headers);
  if (retryAfter !== undefined) passed["retry-after"] = retryAfter;
  for (const name of named) {
    if (DENIED.has(name) || DENIED_START.test(name)) continue;
    const value = headers.get(name);
    if (value !== null && /^[\t\x20-\x7e]{0,4096}$/.test(value)) passed[name] = value;
  }
  return passed;
}

function retryAfterOf(headers: Pick<Headers, "get">): string | undefined {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(seconds) ? seconds : undefined;
}

function typeOf(type: string | null): Record<string, string> {
  const [essence = "", ...parameters] = (type ?? "").split(";").map((part) => part.trim());
  const known = essence.toLowerCase();
  if (!TYPES.test(known)) {
    return {
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="response"',
    };
  }
  const charset = parameters.map((parameter) => /^charset="?([\w-]+)"?$/i.exec(parameter)?.[1])
    .find((charset) => charset !== undefined);
  const isText = known.startsWith("text/");
  return { "content-type": isText ? `${known}; charset=${charset ?? "utf-8"}` : known };
}
