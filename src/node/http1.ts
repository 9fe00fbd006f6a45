/**
 * Writes requests to the node and parses its responses in HTTP/1.1 (RFC 9112). Responses with
 * ambiguous framing are refused, since a proxy might interpret the framing differently.
 *
 * @module
 */
import type { Signal } from "../abort-signal.ts";
import type { Bytes } from "../bytes.ts";
import { isToken } from "../untrusted-text.ts";
import { SourceError } from "./failures.ts";

/** Tells whether a status stands for a redirect; 304 does not. */
export const isRedirect = (status: number): boolean =>
  status >= 300 && status < 400 && status !== 304;

export interface RequestContent {
  readonly method: string;
  readonly url: URL;
  /** The path and query as they are to be sent, if they differ from those of `url`. */
  readonly target?: string | undefined;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
  /**
   * True if the request has a connection of its own, which is closed afterwards: many servers read
   * the body of a `GET` as the next request.
   */
  readonly closesConnection?: boolean | undefined;
}

export interface NodeRequest extends RequestContent {
  readonly signal: Signal;
  /** If true, the request is not sent again when a reused connection turns out to be closed. */
  readonly isSentOnce: boolean;
  /** Asked right before the request is sent: if true, it is not sent, and fails with `STALE`. */
  readonly isStale?: (() => boolean) | undefined;
  /** Requests share a connection only if they have the same key. */
  readonly connectionKey?: object | undefined;
}

/** Thrown for a request that was not sent, since it has become stale. */
export const STALE: Error = new Error("The request is stale");

export interface ResponseHead {
  readonly status: number;
  readonly headers: Pick<Headers, "get" | "values" | "entries">;
}

export interface NodeResponse extends ResponseHead {
  /**
   * Returns the next bytes, or `undefined` at the end of the response. Throws or rejects if the
   * response breaks off.
   */
  next(): Bytes | undefined | Promise<Bytes | undefined>;
  /**
   * Returns the number of bytes received so far. With `fetch`, the number includes neither the head
   * nor the chunk framing.
   */
  received(): number;
  /** Closes the connection, unless the response has ended. */
  cancel(): void;
}

/**
 * Sends a request without following redirects. A client that uses sockets does not decompress
 * content.
 */
export type HttpClient = (request: NodeRequest) => Promise<NodeResponse>;

/** The value of a header (RFC 9110, section 5.5). */
export const VALUE: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The returned text must be encoded in Latin-1. Throws if a header contains a line break or a
 * forbidden character.
 */
export function writeHead(request: RequestContent): string {
  const { method, url, headers, body, closesConnection } = request;
  let head = `${method} ${targetOf(request)} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (!isToken(name) || !VALUE.test(value)) throw new TypeError("A header is malformed");
    head += `${name}: ${value}\r\n`;
  }
  // Methods such as POST need `content-length` even without a body (RFC 9110, section 8.6).
  if (body || /^(?:POST|PUT|PATCH)$/.test(method)) {
    head += `content-length: ${body?.byteLength ?? 0}\r\n`;
  }
  return `${head}connection: ${closesConnection ? "close" : "keep-alive"}\r\n\r\n`;
}

/** Returns the path and query of a request, as in its request line. */
export const targetOf = ({ url, target }: Pick<RequestContent, "url" | "target">): string =>
  target ?? url.pathname + url.search;

export interface ResponseEvents {
  head(head: ResponseHead): void;
  part(bytes: Bytes): void;
  end(isKept: boolean): void;
}

/** The maximum length of a response's head with the interim responses (1xx) before it, in bytes. */
const HEAD_MAX = 16_384;
/** RFC 9110 (section 15.2) allows any number of interim responses, but servers send one or two. */
const INTERIM_MAX = 10;
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** Framing fields are refused in trailers, since a proxy might obey them. */
const FRAMING = /^(?:content-length|transfer-encoding):/i;
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const WORD = String.raw`[!-~\x80-\xff]+`;
/** A name, and a value without the white space around it. */
const FIELD = new RegExp(`^(${TOKEN}):[\t ]*(?:(${WORD}(?:[\t ]+${WORD})*)[\t ]*)?$`);
const QUOTED = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`;
/**
 * A chunk size with optional extensions (RFC 9112, section 7.1.1). White space is accepted only in
 * quoted values.
 */
const CHUNK_SIZE = new RegExp(
  `^([\\da-f]{1,12})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`,
  "i",
);

type State =
  | ("status" | "field" | "size" | "break" | "trailer")
  | ("length" | "chunk" | "close")
  | "over";

export class ResponseReader {
  /** The number of chunks so far. */
  chunks = 0;
  readonly #method: string;
  readonly #events: ResponseEvents;
  #state: State = "status";
  #status = 0;
  #isHttp10 = false;
  #fields: string[] = [];
  #left = 0;
  #isKept = false;
  #begun = "";
  #interims = 0;
  /** Counts the bytes before the content, and then the bytes of chunk extensions and trailers. */
  #headLength = 0;

  /** @param method the request method, since a response to HEAD has no content */
  constructor(method: string, events: ResponseEvents) {
    this.#method = method;
    this.#events = events;
  }

  /**
   * Reads bytes of the response, and may move them. If the bytes are malformed, throws an error
   * whose code begins with `HPE_`, as `node:http` does. Throws a `SourceError` if the node sends
   * too much beside the content.
   */
  push(bytes: Bytes): void {
    for (let at = 0; at < bytes.byteLength;) {
      const state = this.#state;
      if (state === "over") refuseMalformed("end");
      if (state === "chunk") {
        at = this.#readChunks(bytes, at);
        continue;
      }
      if (state === "length" || state === "close") {
        at = this.#readContent(bytes, at);
        continue;
      }
      const stop = bytes.indexOf(LINE_FEED, at);
      const until = stop < 0 ? bytes.byteLength : stop + 1;
      this.#headLength += until - at;
      if (this.#headLength > HEAD_MAX) this.#refuseLength();
      const text = this.#begun + textOfLatin1(bytes.subarray(at, until));
      at = until;
      if (stop < 0) {
        this.#begun = text;
        return;
      }
      this.#begun = "";
      if (!text.endsWith("\r\n")) refuseMalformed("line");
      this.#readLine(text.slice(0, -2));
    }
  }

  /** The node sends no more bytes, which ends a response without a length. */
  close(): void {
    if (this.#state === "close") this.#end();
  }

  #readLine(line: string): void {
    if (this.#state === "status") {
      const [, minor, digits] = STATUS_LINE.exec(line) ?? refuseMalformed("status line");
      this.#isHttp10 = minor === "0";
      this.#status = Number(digits);
      this.#fields = [];
      this.#state = "field";
    } else if (this.#state === "field") {
      if (line === "") return this.#endHead();
      const [, name = "", value = ""] = FIELD.exec(line) ?? refuseMalformed("header");
      this.#fields.push(name.toLowerCase(), value);
    } else if (this.#state === "size") {
      const [, digits = ""] = CHUNK_SIZE.exec(line) ?? refuseMalformed("chunk size");
      // Chunk extensions count towards `HEAD_MAX`, but chunk sizes and line breaks do not.
      this.#headLength -= digits.length + 2;
      this.#left = parseInt(digits, 16);
      this.#state = this.#left === 0 ? "trailer" : "chunk";
    } else if (this.#state === "break") {
      if (line !== "") refuseMalformed("chunk");
      this.#headLength -= 2;
      this.#state = "size";
    } else if (line === "") this.#end();
    // Kubo has sent the status before it meets the error.
    else if (/^x-stream-error:/i.test(line)) {
      excess("an error after the start of its response");
    } else if (!FIELD.test(line) || FRAMING.test(line)) refuseMalformed("trailer");
  }

  #endHead(): void {
    const status = this.#status;
    const headers = headersOfFields(this.#fields);
    const coding = headers.get("transfer-encoding");
    const length = contentLengthOf(headers.get("content-length"));
    const connection = headers.get("connection") ?? "";
    this.#isKept = !this.#isHttp10 && !/(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(connection);
    if (status < 200) return this.#endInterim(coding !== null || length !== undefined);
    this.#headLength = 0;
    if (status > 599) refuseMalformed("status");
    const isTwofold = this.#isHttp10 || length !== undefined || coding?.toLowerCase() !== "chunked";
    if (coding !== null && isTwofold) refuseMalformed("framing");
    const isEmpty = this.#method === "HEAD" || status === 204 || status === 304 || length === 0;
    this.#left = length ?? 0;
    this.#state = isEmpty
      ? "over"
      : coding !== null
      ? "size"
      : length === undefined
      ? "close"
      : "length";
    // Some servers send content after a head that must not have any.
    const mayFollow = isEmpty && (length ?? 0) + (coding?.length ?? 0) > 0;
    if (this.#state === "close" || mayFollow) this.#isKept = false;
    this.#events.head({ status, headers });
    if (isEmpty) this.#end();
  }

  #endInterim(isFramed: boolean): void {
    // The status 101 is refused, since no request asks to switch protocols.
    if (this.#status < 100 || this.#status === 101) refuseMalformed("status");
    // Every HTTP/1.0 response closes the connection, which an interim response (1xx) must not do.
    if (isFramed || !this.#isKept) refuseMalformed("framing");
    if (++this.#interims > INTERIM_MAX) {
      excess(`more than ${INTERIM_MAX} interim responses (1xx) before its response`);
    }
    this.#state = "status";
  }

  #refuseLength(): never {
    const isHead = this.#state === "status" || this.#state === "field";
    excess(
      `more than ${HEAD_MAX / 1024} KiB of ${isHead ? "headers" : "chunk extensions or trailers"}`,
    );
  }

  #readContent(bytes: Bytes, at: number): number {
    const left = bytes.byteLength - at;
    const length = this.#state === "close" ? left : Math.min(left, this.#left);
    this.#events.part(length === bytes.byteLength ? bytes : bytes.subarray(at, at + length));
    if (this.#state === "close") return at + length;
    this.#left -= length;
    if (this.#left === 0) this.#end();
    return at + length;
  }

  /**
   * Moves the content of chunks together, and passes it on as one part: a read may have 100,000
   * chunks. Leaves a size that is not plain digits to `#readLine`.
   */
  #readChunks(bytes: Bytes, start: number): number {
    let at = start, end = start;
    for (;;) {
      const until = Math.min(bytes.byteLength, at + this.#left);
      this.#left -= until - at;
      if (end === at) end = at = until;
      else if (until - at > SHORT) {
        bytes.copyWithin(end, at, until);
        end += until - at;
        at = until;
      } else while (at < until) bytes[end++] = bytes[at++]!;
      if (this.#left > 0) break;
      this.chunks++;
      let size = 0, next = at + 2;
      for (let digits = 0; digits < DIGITS_MAX; digits++) {
        const digit = digitOf(bytes[next]);
        if (digit < 0) break;
        size = size * 16 + digit;
        next++;
      }
      const isPlain = size > 0 && isLineBreak(bytes, at) && isLineBreak(bytes, next);
      if (!isPlain) {
        this.#state = "break";
        break;
      }
      this.#left = size;
      at = next + 2;
    }
    const content = bytes.subarray(start, end);
    // The whole read stays in memory as long as a part of it does.
    this.#events.part(end - start < (at - start) / 2 ? new Uint8Array(content) : content);
    return at;
  }

  #end(): void {
    this.#state = "over";
    this.#events.end(this.#isKept);
  }
}

const LINE_FEED = 10, RETURN = 13;
/** The maximum length of a chunk size, as in `CHUNK_SIZE`. */
const DIGITS_MAX = 12;
/** Up to this number of bytes, a loop is faster than `copyWithin`. */
const SHORT = 32;

const isLineBreak = (bytes: Bytes, at: number): boolean =>
  bytes[at] === RETURN && bytes[at + 1] === LINE_FEED;

/** Returns the value of a hexadecimal digit, or -1 for any other byte. */
function digitOf(byte: number = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const textOfLatin1 = (bytes: Bytes): string =>
  String.fromCharCode.apply(null, bytes as unknown as number[]);

function refuseMalformed(what: string): never {
  throw Object.assign(new Error(`The ${what} of a response is malformed`), { code: "HPE_INVALID" });
}

function excess(what: string): never {
  throw new SourceError("bad_answer", `sent ${what}`);
}

/** Parses `content-length`, whose value may be repeated (RFC 9112, section 6.3). */
function contentLengthOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const [, length] = /^(\d{1,15})(?:[\t ]*,[\t ]*\1)*$/.exec(text) ?? refuseMalformed("length");
  return Number(length);
}

/** @param fields alternating names and values, with names in lower case */
function headersOfFields(fields: readonly string[]): ResponseHead["headers"] {
  const values = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at]!, fields[at + 1]!];
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return {
    get: (name) => values.get(name.toLowerCase()) ?? null,
    values: () => values.values(),
    entries: () => values.entries(),
  };
}
