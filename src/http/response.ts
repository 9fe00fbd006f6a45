/**
 * The parts of responses: the class, and the status codes with their reason phrases. Like `platform.ts` it goes out of
 * web standards.
 *
 * @module
 */
import { FastResponse as ResponseOfSrvx } from "srvx";
import { type Bytes, partsOf } from "../bytes.ts";

/** A response as `node:http` takes it, in the form of srvx's. */
export interface NodeForm {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Bytes | ReadableStream<Bytes> | null;
}

/**
 * Deno's own, which our server there takes as what it was made of: to read headers and bytes back takes a fifth of the
 * time of a short response (Deno 2.9). Where somebody has asked for the headers or the body, they may be others.
 */
class DenoResponse extends Response {
  #made: Omit<NodeForm, "status" | "statusText"> | undefined;

  constructor(body: BodyInit | null, init: ResponseInit) {
    super(body, init);
    const { headers } = init;
    if (!Array.isArray(headers)) return;
    if (body === null || body instanceof Uint8Array || body instanceof ReadableStream) {
      this.#made = { headers: headers.flat(), body: body as NodeForm["body"] };
    }
  }

  override get headers(): Headers {
    this.#made = undefined;
    return super.headers;
  }

  override get body(): ReadableStream<Bytes> | null {
    this.#made = undefined;
    return super.body;
  }

  _toNodeResponse(): NodeForm {
    const { status, statusText } = this;
    const made = super.bodyUsed ? undefined : this.#made;
    const { headers, body } = made ?? { headers: [...super.headers].flat(), body: super.body };
    return { status, statusText, headers, body };
  }
}

/**
 * The `Response` that the runtime's server writes fastest. On Node it is srvx's: it checks no header values, keeps them as
 * the list that they were given as, and the adapter takes its parts without making a stream. Which runtime this is has to
 * be asked, since a bundle may have been made with the srvx of another.
 */
export const FastResponse: typeof Response = "Deno" in globalThis
  ? DenoResponse as typeof Response
  : "Bun" in globalThis
  ? Response
  : ResponseOfSrvx;

/** True where a response copies the bytes that it is made of. */
export const COPIES: boolean = FastResponse === Response || "Deno" in globalThis;

/** Bytes that somebody has to let go of when they are sent. */
export interface HeldBytes {
  readonly parts: readonly Bytes[];
  /** May be called again. */
  release(): void;
}

/** A response with bytes that are there. An adapter that can send all at once takes the parts, and no stream is read. */
export class ResponseInParts extends FastResponse {
  readonly held: HeldBytes;

  constructor(held: HeldBytes, init: ResponseInit) {
    super(streamOf(held), init);
    this.held = held;
  }
}

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

/** The same bytes in parts that are short enough to be written one by one. */
export function* shortPartsOf(parts: readonly Bytes[]): Generator<Bytes, undefined> {
  for (const part of parts) yield* partsOf(part);
}

/** The reason phrases of the status codes of responses and errors (RFC 9110, section 15). */
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

/** A status with a reason phrase. */
export type Status = keyof typeof REASONS;
