/**
 * A request as servers pass it on, and what handlers ask of it.
 *
 * @module
 */
import Negotiator from "negotiator";
import type { Signal } from "../abort-signal.ts";
import type { Bytes } from "../bytes.ts";
import type { Connect, Upgrade } from "./socket.ts";

export interface ServedRequest extends Request {
  /**
   * The path and query that the client requested, if a router such as Express has shortened `url`.
   */
  readonly originalUrl?: unknown;
  /** The URL as it came, if the URL parser may have changed `url`. */
  readonly rawUrl?: string | undefined;
  readonly ip?: string | undefined;
  /** Returns the client's address on runtimes where `ip` is absent. */
  readonly findIp?: (() => string | undefined) | undefined;
  /** Aborted when the client disconnects. This signal is cheaper to create than `signal`. */
  readonly disconnectSignal?: Signal | undefined;
  /**
   * True if `signal` surely is aborted when the client disconnects, where `disconnectSignal` is
   * missing.
   */
  readonly signalTellsDisconnect?: boolean | undefined;
  /**
   * True if the server can send a `ResponseClass`. Other servers may accept only a native
   * `Response`.
   */
  readonly takesFastResponse?: boolean | undefined;
  /**
   * True if the server reads the rest of the content after a response with `connection: close`.
   * Others may close at once, so that a client that still sends gets no response (RFC 9112, section
   * 9.6).
   */
  readonly drainsContent?: boolean | undefined;
  /** The client whose call this is, for the access log; set only if there are clients. */
  clientName?: string | undefined;
  /** Present if the request is a WebSocket handshake, and the server can complete it. */
  readonly upgrade?: Upgrade | undefined;
  /** Opens WebSocket connections, if the server can. */
  readonly connect?: Connect | undefined;
  /** Reads the content of the request more cheaply than `body`. */
  readonly readChunks?: ReadChunks | undefined;
}

/** What `Deno.serve` and `Bun.serve` pass to a handler beside the request. */
interface RuntimeContext {
  readonly remoteAddr?: { readonly hostname?: string | undefined } | undefined;
  requestIP?(request: Request): { readonly address?: string | undefined } | null;
}

/**
 * Returns the client's address, if the server tells it.
 *
 * @param context the arguments that the server passed beside the request
 */
export function clientAddress(
  request: ServedRequest,
  [context]: readonly unknown[],
): string | undefined {
  const { ip, findIp } = request;
  if (ip !== undefined || findIp || typeof context !== "object") return ip ?? findIp?.();
  const server = (context ?? {}) as RuntimeContext;
  const { remoteAddr } = server;
  if (remoteAddr) return remoteAddr.hostname;
  return typeof server.requestIP === "function" ? server.requestIP(request)?.address : undefined;
}

/**
 * Returns the signal that is aborted when the client disconnects. `signal` itself is read only if
 * it must be, since that adds a listener to each request.
 */
export const disconnectSignalOf = (request: ServedRequest): Signal =>
  request.disconnectSignal ?? request.signal;

/**
 * Reads until the content ends, `accept` returns false, or `stop` aborts. Rejects if the content
 * breaks off.
 */
export type ReadChunks = (accept: (part: Bytes) => boolean, stop: Signal) => Promise<void>;

/**
 * The error of content that the server does not read to its end, since the client has sent it in
 * thousands of tiny parts, or not as HTTP wants.
 */
export const UNREADABLE_CONTENT: Error = new Error("The content of the request cannot be read");

/** The mistake of a host that has read the content before it calls the service. */
export const READ_BY_HOST: string = "the host read the content of this request before it called " +
  "Nodeface; call request.clone() before reading, and pass the clone";

export function declaresContent({ headers }: Pick<Request, "headers">): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && !/^0+$/.test(length));
}

/** Tells whether a client, such as a browser, asks for HTML rather than for JSON. */
export function prefersHtml({ headers }: Pick<Request, "headers">): boolean {
  const accept = headers.get("accept") ?? "*/*";
  return new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, HTML_TYPE]) === HTML_TYPE;
}

const JSON_TYPE = "application/json", HTML_TYPE = "text/html";

export function isWebSocket({ headers }: Pick<Request, "headers">): boolean {
  return /\bwebsocket\b/i.test(headers.get("upgrade") ?? "");
}
