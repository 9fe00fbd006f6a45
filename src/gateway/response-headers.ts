/**
 * The headers of responses to calls, which stop a browser from running scripts in the node's
 * content.
 *
 * @module
 */
import { memoize } from "../lazy.ts";
import type { ResponseHead } from "../node/http1.ts";
import { patternOf } from "./request-headers.ts";

/**
 * Response headers that are never forwarded as they are: a node could steer browsers, proxies and
 * caches that stand before this service.
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

/** Tells whether a status is about the connection to the node: no client must act on it. */
export const isAboutConnection = (status: number): boolean =>
  [407, 408, 421, 425, 426].includes(status);

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
    ...WITHOUT_CONTENT.includes(status) ? {} : passedTypeOf(headers),
  };
  const wanted: readonly string[] = [
    ...isPublic ? OF_CACHES : [],
    ...status === 206 || status === 416 ? ["content-range"] : [],
    ...(status === 201 || status === 202) && staysBelow(headers.get("location"), path)
      ? ["location"]
      : [],
  ];
  // These are for the connection alone (RFC 9110, section 7.6.1).
  const ofConnection = (headers.get("connection") ?? "").toLowerCase().split(/[\s,]+/);
  for (const [name, value] of headers.entries()) {
    const isPassed = (wanted.includes(name) || !isDenied(name)) && !ofConnection.includes(name);
    if (isPassed && PASSED_VALUE.test(value)) passed[name] = value;
  }
  return passed;
}

const PASSED_VALUE = /^[\t\x20-\x7e]{0,4096}$/;

/** Tells whether a location is relative to the path, and does not leave the node. */
function staysBelow(location: string | null, path: string): boolean {
  if (location === null || !/^[\w.~][\w.~%/?&=-]*$/.test(location)) return false;
  return new URL(location, `http://node/below${path}`).pathname.startsWith("/below/");
}

const DISPOSITION = /^ *(inline|attachment) *;.*?\bfilename\*? *= *(?:"([^"]*)|([^\s";]*))/i;

/** Returns whether the node's file is shown or saved, and a plain form of its name. */
function fileIn(headers: ResponseHead["headers"]) {
  const [, way, quoted, plain = ""] = DISPOSITION.exec(
    (headers.get("content-disposition") ?? "").slice(0, FILE_HEADER_MAX),
  ) ?? [];
  const name = (quoted ?? plain).replace(/^UTF-8''/i, "").replaceAll(/[^\w .()-]/g, "_")
    .replace(/^\W+/, "");
  return { way: way?.toLowerCase(), name: name || "response" };
}

const FILE_HEADER_MAX = 400;

function passedTypeOf(headers: ResponseHead["headers"]): Record<string, string> {
  const type = headers.get("content-type");
  const { way, name } = fileIn(headers);
  const [essence = ""] = (type ?? "").split(";");
  const parameters = (type ?? "").slice(essence.length);
  const known = essence.trim().toLowerCase();
  if (!TYPES.test(known)) {
    return {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${name}"`,
    };
  }
  const disposition = way && { "content-disposition": `${way}; filename="${name}"` };
  const passed = PARAMETERS.test(parameters) ? parameters : "";
  const isUnclear = known.startsWith("text/") && !/charset=/i.test(passed);
  return {
    ...disposition,
    "content-type": `${known}${passed}${isUnclear ? "; charset=utf-8" : ""}`,
  };
}
