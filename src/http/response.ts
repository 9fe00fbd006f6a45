/**
 * Makes responses with the headers that all responses have.
 *
 * @module
 */
import { type Bytes, partsOf } from "../bytes.ts";
import type { CommonHeaders } from "./common-headers.ts";

type Body = Bytes | Blob | ReadableStream<Bytes> | null;

/**
 * The class of the service's responses. On Node and Deno, the adapter replaces the native class by
 * srvx's, which takes less time to create and to send (10 µs less on Deno 2.9).
 */
export let ResponseClass: new (body: Body, init: ResponseInit) => Response = Response;
let isNative = true;

export function useResponseClass(responseClass: typeof ResponseClass): void {
  ResponseClass = responseClass;
  isNative = false;
}

/** srvx makes the native response when it is read. */
export function nativeOf(response: Response): Response {
  const { _response: native } = response as { readonly _response?: Response };
  if (!native) return response;
  return isStreamed(response) ? Object.assign(native, { [STREAMED]: true }) : native;
}

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

/** The bytes of a response, which are held until whoever sends them releases them. */
export class HeldBytes {
  readonly parts: readonly Bytes[];
  /** Must be called when the bytes are not held any more. Repeated calls have no effect. */
  readonly release: () => void;
  #stop: (reason: unknown) => void;

  constructor(parts: readonly Bytes[], release: () => void) {
    this.parts = parts;
    this.release = release;
    this.#stop = release;
  }

  /** Called by whoever is going to send the bytes, in place of who wanted to before. */
  takeOver(stop: (reason: unknown) => void): void {
    this.#stop = stop;
  }

  /** Ends the response before all bytes are sent. */
  drop(reason: unknown): void {
    this.#stop(reason);
  }
}

/** A response of known length, whose bytes are held until they are sent. */
export class ResponseInParts extends Response {
  readonly held: HeldBytes;
  constructor(held: HeldBytes, head: ResponseInit) {
    super(streamOf(held), head);
    this.held = held;
  }
}

function streamOf(held: HeldBytes): ReadableStream<Bytes> {
  const { parts, release } = held;
  const left = shortPartsOfAll(parts);
  return new ReadableStream({
    start(controller) {
      held.takeOver((reason) => {
        controller.error(reason);
        release();
      });
    },
    pull(controller) {
      const { value } = left.next();
      if (value) return controller.enqueue(value);
      release();
      controller.close();
    },
    cancel: release,
  }, { highWaterMark: 0 });
}

function* shortPartsOfAll(parts: readonly Bytes[]): Generator<Bytes, undefined> {
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

export const PROBLEM = "application/problem+json";

/** The status that is recorded if the client has disconnected, as in nginx. */
export const STATUS_CLIENT_CLOSED_REQUEST = 499;

export const titleOf = (status: number): string | undefined =>
  (REASONS as Readonly<Record<number, string>>)[status];

/**
 * Marks a response that already has the common headers. A `WeakSet` of such responses would be
 * slower.
 */
const COMPLETE = Symbol("complete");
const markComplete = (response: Response): Response =>
  Object.assign(response, { [COMPLETE]: true });

/** Returns the start of a response with the common headers, which its own headers override. */
function completeHead(
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
    headers: isNative ? new Headers(headers) : Object.entries(headers),
    // Keeps workerd from encoding the bytes again
    // (https://developers.cloudflare.com/workers/runtime-apis/response/).
    encodeBody: "manual",
  };
  return head;
}

/**
 * Makes a response to which {@linkcode complete} need not add the common headers, which would take
 * as long as the rest of a short request.
 *
 * @param head the result of {@linkcode completeHead}
 */
function responseWith(body: HeldBytes | Body, head: ResponseInit): Response {
  if (body && "parts" in body) return markComplete(new ResponseInParts(body, head));
  const response = markComplete(new ResponseClass(isNative ? sendable(body) : body, head));
  return body instanceof ReadableStream ? Object.assign(response, { [STREAMED]: true }) : response;
}

/** Marks a response whose body is a stream, even if it has a length. */
const STREAMED = Symbol("streamed");
export const isStreamed = (response: Response): boolean => STREAMED in response;

/** The start of a response. It is made once for each set of common headers, which are few. */
export class PreparedHead {
  readonly #status: HttpStatus;
  readonly #own: Readonly<Record<string, string>>;
  readonly #made = new Map<CommonHeaders, ResponseInit>();

  constructor(status: HttpStatus, own: Readonly<Record<string, string>>) {
    this.#status = status;
    this.#own = own;
  }

  respond(common: CommonHeaders, body: Body): Response {
    let head = this.#made.get(common);
    if (!head) this.#made.set(common, head = completeHead(this.#status, this.#own, common));
    return responseWith(body, head);
  }
}

/** @param headers the response's own headers, with names in lower case */
export function completeResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: HeldBytes | Body,
  common: CommonHeaders,
): Response {
  return responseWith(body, completeHead(status, headers, common));
}

/** Makes a response to which {@linkcode complete} adds the common headers. */
export const bareResponse = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Body = null,
): Response =>
  new ResponseClass(body, {
    status,
    statusText: titleOf(status) ?? "",
    headers: Object.entries(headers),
  });

/**
 * Adds the common headers, unless the response has them already, and removes the body for HEAD.
 * Problem details are sent as `application/json` to a client that asks for this type by name, and
 * not for their own.
 */
export function complete(
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
    markComplete(response);
  }
  if (method !== "HEAD") return response;
  // A handler may hold resources until the body is read or cancelled.
  response.body?.cancel().catch(() => {});
  const withoutBody = new ResponseClass(null, { status, statusText, headers: response.headers });
  return markComplete(withoutBody);
}

/** Makes problem details `application/json`, unless the client asks for their own type by name. */
export function useJsonType(response: Response, accept: string): void {
  const isProblem = !(COMPLETE in response) && response.headers.get("content-type") === PROBLEM;
  if (isProblem && !accept.includes(PROBLEM)) {
    response.headers.set("content-type", "application/json");
  }
}
