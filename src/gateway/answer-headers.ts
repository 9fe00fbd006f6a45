/**
 * Which headers of a node's answer are passed on, and how its content is labelled: nothing of it may run in a page.
 *
 * @module
 */

/** Headers that are never passed on, though an operation names them. */
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

/** Types whose content is shown as what it is. */
const TYPES =
  /^(?:application\/(?:[\w.-]+\+)?json|application\/(?:x-ndjson|ndjson|jsonl|cbor|octet-stream|protobuf|x-protobuf|msgpack|x-binary)|application\/vnd\.[\w.-]+\+(?:json|cbor|bcs)|text\/(?:plain|csv))$/;

/** The headers of every forwarded answer. */
const COMMON = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/**
 * Makes the headers of a forwarded answer.
 *
 * @param headers those of the node
 * @param named those that the operation names, in lower case
 */
export function answerHeaders(
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

/** The seconds after which a node is to be asked again; `undefined` where it does not say so in digits. */
export function retryAfterOf(headers: Pick<Headers, "get">): string | undefined {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(seconds) ? seconds : undefined;
}

/** The media type, built anew; what is not on the list becomes a download. */
function typeOf(type: string | null): Record<string, string> {
  const [essence = "", ...parameters] = (type ?? "").split(";").map((part) => part.trim());
  const known = essence.toLowerCase();
  if (!TYPES.test(known)) {
    return {
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="answer"',
    };
  }
  const charset = parameters.map((parameter) => /^charset="?([\w-]+)"?$/i.exec(parameter)?.[1])
    .find((charset) => charset !== undefined);
  const isText = known.startsWith("text/");
  return { "content-type": isText ? `${known}; charset=${charset ?? "utf-8"}` : known };
}
