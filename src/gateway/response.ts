/**
 * Makes responses to calls, with headers that stop a browser from running scripts in the node's content.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { type HeldBytes, type HttpStatus, problem } from "../http/response.ts";
import { failureOf } from "../node/failures.ts";
import { CODES } from "../node/json-rpc.ts";
import { HAS_SOCKETS } from "../platform.ts";

/** The names of headers must be in lower case. */
export type MakeResponse = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: ReadableStream<Bytes> | Bytes | HeldBytes | null,
) => Response;

/** Problem details show `more` after `message`, but JSON-RPC errors omit `more`. */
export interface Refusal {
  readonly status: HttpStatus;
  readonly code: number;
  readonly message: string;
  readonly more?: string;
  /** The setting that would allow the call, shown in JSON-RPC errors. */
  readonly setting?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const refuse = ({ status, message, more = "", headers }: Refusal): Response =>
  problem(status, message + more, headers);

export const LATER = { "retry-after": "5" };

export const FULL: Refusal = {
  ...{ status: 503, code: CODES.busy, headers: LATER },
  message: "Too much data is in transit; try again later",
};

export const NO_UPGRADE: Refusal = {
  ...{ status: 400, code: CODES.invalidCall },
  message: "Connections cannot be upgraded",
  more: " here",
};

export function busyNode(
  { status, headers }: { readonly status: number; readonly headers: Pick<Headers, "get"> },
): Refusal {
  return {
    ...{ status: 503, code: CODES.busy },
    message: `The node responded with ${status}: it is busy or starting`,
    headers: { "retry-after": retryAfterOf(headers) ?? LATER["retry-after"] },
  };
}

export const NOT_FORWARDED: Readonly<Record<"off" | "unknown", Refusal>> = {
  off: {
    ...{ status: 403, code: CODES.notAllowed },
    message: HAS_SOCKETS
      ? "This service documents the node but does not forward calls to it; " +
        'the setting "forward" allows calls'
      : "This service runs in a worker, which cannot forward calls to the node",
  },
  // A 404 would mean that the method does not exist.
  unknown: {
    ...{ status: 503, code: CODES.notReached, headers: LATER },
    message: "The node's operations are not known yet; /v1/info shows its status",
  },
};

/** The status that is logged if the client disconnects during a call, as in nginx. */
export const STATUS_GONE = 499;

/** Failure codes which show that the node has not received the call. */
const BEFORE: ReadonlySet<string> = new Set(["connection_refused", "dns", "tls", "not_tls"]);

export class UpstreamError extends Error {
  override name = "UpstreamError";
  readonly status: 502 | 503;
  /** True if the node has certainly not carried out the call. */
  readonly wasRefused: boolean;
  constructor(status: 502 | 503, message: string, wasRefused = false) {
    super(message);
    this.status = status;
    this.wasRefused = wasRefused;
  }
}

/** @param timeout the time limit of the call, in milliseconds */
export function refusalOf(error: unknown, isRead: boolean, timeout: number): Refusal {
  const maybe = isRead ? "" : "; the call may have been carried out";
  const refusal = (status: 502 | 503 | 504, message: string): Refusal => ({
    ...{ status, message },
    code: status === 504 ? CODES.tooLate : status === 503 ? CODES.busy : CODES.notReached,
    ...status === 503 && { headers: LATER },
  });
  if (error instanceof UpstreamError) {
    const { status, message, wasRefused } = error;
    if (wasRefused) return refusal(status, message);
    // A call that may change something gets 502, since clients retry after a 503.
    return refusal(isRead ? status : 502, message + maybe);
  }
  if ((error as Error | undefined)?.name === "TimeoutError") {
    return refusal(504, `The node did not finish its response within ${timeout / 1000} s${maybe}`);
  }
  const { code, message } = failureOf(error);
  const after = BEFORE.has(code) ? "" : maybe;
  // All messages except "connection refused" complete a sentence that begins with "The node".
  const clause = message === "connection refused" ? `cannot be reached: ${message}` : message;
  return refusal(502, `The node ${clause}${after}`);
}

/** Response headers that are never forwarded, even if an operation declares them. */
const DENIED: ReadonlySet<string> = new Set([
  ...["set-cookie", "set-cookie2", "location", "content-location", "refresh", "link-template"],
  ...["www-authenticate", "proxy-authenticate", "authorization", "clear-site-data"],
  ...["content-security-policy", "content-security-policy-report-only", "content-disposition"],
  ...["content-type", "content-length", "content-encoding", "content-range", "transfer-encoding"],
  ...["connection", "keep-alive", "upgrade", "trailer", "te", "alt-svc", "service-worker-allowed"],
  ...["strict-transport-security", "x-accel-redirect", "x-sendfile", "x-content-type-options"],
  ...["referrer-policy", "vary", "cache-control", "expires", "age", "etag", "last-modified"],
  ...["retry-after", "accept-ch", "critical-ch", "permissions-policy", "feature-policy"],
  ...["speculation-rules", "origin-agent-cluster", "document-policy", "x-reproxy-url"],
  ...["x-frame-options", "report-to", "reporting-endpoints", "nel", "sourcemap", "x-sourcemap"],
]);

const DENIED_START =
  /^(?:access-control-|cross-origin-|sec-|proxy-|x-accel-|x-lighttpd-|x-litespeed-|x-nodeface)/;

const TYPES =
  /^(?:application\/(?:[\w.-]+\+)?json|application\/(?:x-ndjson|ndjson|jsonl|cbor|octet-stream|protobuf|x-protobuf|msgpack|x-binary)|application\/vnd\.[\w.-]+\+(?:json|cbor|bcs)|text\/(?:plain|csv))$/;

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
