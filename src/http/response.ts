/**
 * Responses: problem details (RFC 9457), and the headers that all responses have, such as CORS
 * (Fetch standard).
 *
 * @module
 */
import { type Bytes, partsOf } from "../bytes.ts";

type Body = Bytes | Blob | ReadableStream<Bytes> | null;

/**
 * The class of the service's responses. On Node and Deno, the adapter replaces the native class by
 * srvx's, which takes less time to create and to send (10 µs less on Deno 2.9).
 */
export let FastResponse: new (body: Body, init: ResponseInit) => Response = Response;

export function useResponseClass(responseClass: typeof FastResponse): void {
  FastResponse = responseClass;
}

/** srvx makes the native response when it is read. */
export const nativeOf = (response: Response): Response =>
  (response as { readonly _response?: Response })._response ?? response;

const BLOB_BYTES_MIN = 65_536;
const blobs = new WeakMap<Bytes, Blob>();

/**
 * Puts long bodies in a `Blob`: Bun copies bytes for each `Response`
 * (https://github.com/oven-sh/bun/issues/35138).
 */
function sendable(body: Body): Body {
  if (!(body instanceof Uint8Array) || body.byteLength < BLOB_BYTES_MIN) return body;
  let blob = blobs.get(body);
  // Deno 2.9 reads a whole part of a `Blob` at once, so the body is split into short parts.
  if (!blob) blobs.set(body, blob = new Blob([...partsOf(body)]));
  return blob;
}

export interface HeldBytes {
  readonly parts: readonly Bytes[];
  /** Repeated calls of `release` have no effect. */
  release(): void;
}

/** Marks a response whose body the Bun adapter must send as a stream, though it has a length. */
export class ResponseInParts extends Response {}

function streamOf({ parts, release }: HeldBytes): ReadableStream<Bytes> {
  const left = shortPartsOf(parts);
  return new ReadableStream({
    pull(controller) {
      const { value } = left.next();
      if (value) return controller.enqueue(value);
      release();
      controller.close();
    },
    cancel: release,
  }, { highWaterMark: 0 });
}

function* shortPartsOf(parts: readonly Bytes[]): Generator<Bytes, undefined> {
  for (const part of parts) yield* partsOf(part);
}

export const REASONS = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  307: "Temporary Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  407: "Proxy Authentication Required",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  423: "Locked",
  424: "Failed Dependency",
  425: "Too Early",
  426: "Upgrade Required",
  428: "Precondition Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  451: "Unavailable For Legal Reasons",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  506: "Variant Also Negotiates",
  507: "Insufficient Storage",
  508: "Loop Detected",
  511: "Network Authentication Required",
} as const;

export type HttpStatus = keyof typeof REASONS;

/**
 * Like {@linkcode nativeProblem}, but returns a `FastResponse`, which takes less time to create.
 */
export function problem(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return problemWith(status, detail, {}, headers);
}

/**
 * Makes an `application/problem+json` response (RFC 9457), to return or to throw. Caches do not
 * store the response.
 *
 * @param status 400 to 599
 * @param detail one or two sentences for the client, without internals of the service
 * @param headers further headers, such as `retry-after`
 * @throws {RangeError} if the status is not an error status
 * @throws {TypeError} if a header is invalid
 * @example
 * ```ts
 * if (!peer) throw problem(404, `Unknown peer ${id}`);
 * ```
 */
export const nativeProblem: typeof problem = (...parts) => nativeOf(problem(...parts));

const PROBLEM = "application/problem+json";

export function problemWith(
  status: number,
  detail: string,
  members: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(`the status of a problem must be from 400 to 599, not ${status}`);
  }
  const body = new TextEncoder().encode(problemText(status, detail, members));
  return new FastResponse(body, {
    status,
    statusText: titleOf(status) ?? "",
    // `Headers` rejects values with line breaks. `FastResponse` would not check a list of headers.
    headers: new Headers({
      "content-type": PROBLEM,
      "content-length": String(body.byteLength),
      "cache-control": "no-store",
      ...headers,
    }),
  });
}

export const titleOf = (status: number): string | undefined =>
  (REASONS as Readonly<Record<number, string>>)[status];

export function problemText(
  status: number,
  detail: string,
  members: Readonly<Record<string, string | undefined>> = {},
): string {
  const lines = Object.entries({
    // `about:blank` adds no meaning to the status (RFC 9457, section 4.2.1).
    type: '"about:blank"',
    title: JSON.stringify(titleOf(status)),
    status: String(status),
    detail: JSON.stringify(detail),
    // Many clients show only a member with this name.
    message: JSON.stringify(detail),
    ...members,
  }).filter(([, json]) => json !== undefined)
    .map(([name, json]) => `  ${JSON.stringify(name)}: ${json}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** @param hint a sentence for clients that have a wrong address */
export function notFound(hint: string): Response {
  const detail = "This path is not served; see /v1/spec for the available paths";
  return problem(404, detail + hint);
}

export function notAllowed(methods: readonly string[], hint: string): Response {
  const allow = [...methods, "OPTIONS"].join(", ");
  return problem(405, `This path allows ${allow}${hint}`, { allow });
}

/**
 * The origins whose pages may read a response, such as `https://app.example`; `"*"` for any. See
 * [Other origins](../docs/http.md#cors).
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

const EXPOSED = { "access-control-expose-headers": "etag, allow, link" };

/** @param resources the value of `Cross-Origin-Resource-Policy` */
export function createCommonHeaders(
  cors: Cors,
  resources: "cross-origin" | "same-origin" = cors === "*" ? "cross-origin" : "same-origin",
): CommonHeadersFor {
  // `cross-origin-resource-policy` also prevents embedding by pages that may not read the response.
  const common = { ...SECURITY_HEADERS, "cross-origin-resource-policy": resources };
  const allowing = (origin: string, vary?: "Origin"): CommonHeaders => ({
    headers: { ...common, "access-control-allow-origin": origin, ...EXPOSED },
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

/**
 * Marks a response that already has the common headers. A `WeakSet` of such responses would be
 * slower.
 */
const COMPLETE = Symbol("complete");

/** Returns the start of a response with the common headers, which its own headers override. */
export function completeHead(
  status: number,
  own: Readonly<Record<string, string>>,
  { headers: common, vary }: CommonHeaders,
): ResponseInit {
  const headers: Record<string, string> = { ...common, ...own };
  if (vary) headers.vary = own.vary === undefined ? vary : `${own.vary}, ${vary}`;
  const head = {
    status,
    statusText: titleOf(status) ?? "",
    // A native `Response` copies a `Headers` object more than twice as fast as a list of headers.
    headers: FastResponse === Response ? new Headers(headers) : Object.entries(headers),
    // Keeps workerd from encoding the bytes again
    // (https://developers.cloudflare.com/workers/runtime-apis/response/).
    encodeBody: "manual",
  };
  return head;
}

/**
 * Makes a response to which {@linkcode finish} need not add the common headers, which would take as
 * long as the rest of a short request.
 *
 * @param head the result of {@linkcode completeHead}
 */
export function completeResponse(body: Bytes | HeldBytes | Body, head: ResponseInit): Response {
  const response = body && "parts" in body
    ? new ResponseInParts(streamOf(body), head)
    : new FastResponse(FastResponse === Response ? sendable(body) : body, head);
  return Object.assign(response, { [COMPLETE]: true });
}

/** @param headers the response's own headers, with names in lower case */
export function makeResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Bytes | HeldBytes | Body,
  common: CommonHeaders,
): Response {
  return completeResponse(body, completeHead(status, headers, common));
}

/**
 * Adds the common headers, unless the response has them already, and removes the body for HEAD.
 * Problem details are sent as `application/json` to a client that asks for this type by name, and
 * not for their own.
 */
export function finish(
  response: Response,
  { headers: common, vary }: CommonHeaders,
  { method, headers: asked }: Pick<Request, "method"> & Partial<Pick<Request, "headers">>,
): Response {
  const { status, statusText } = response;
  if (!(COMPLETE in response)) {
    const { headers } = response;
    const accept = asked?.get("accept") ?? "";
    if (accept.includes("application/json")) useJsonType(response, accept);
    for (const [name, value] of Object.entries(common)) {
      if (!headers.has(name)) headers.set(name, value);
    }
    if (vary) headers.append("vary", vary);
    Object.assign(response, { [COMPLETE]: true });
  }
  if (method !== "HEAD") return response;
  // A handler may hold resources until the body is read or cancelled.
  response.body?.cancel().catch(() => {});
  const withoutBody = new FastResponse(null, { status, statusText, headers: response.headers });
  return Object.assign(withoutBody, { [COMPLETE]: true });
}

/** Makes problem details `application/json`, unless the client asks for their own type by name. */
export function useJsonType(response: Response, accept: string): void {
  const isProblem = !(COMPLETE in response) && response.headers.get("content-type") === PROBLEM;
  if (isProblem && !accept.includes(PROBLEM)) {
    response.headers.set("content-type", "application/json");
  }
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
