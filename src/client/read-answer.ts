/**
 * Reads answers of HTTP/1.1 (RFC 9112). What can be read in two ways is refused: a server that an answer comes from
 * may not be the only one that has a hand in it.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";

/** The head of an answer. */
export interface AnswerHead {
  /** 200 to 599. */
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
}

/** What is told of an answer. */
export interface AnswerEvents {
  head(head: AnswerHead): void;
  part(bytes: Bytes): void;
  /** @param isKept whether the connection can be used again */
  end(isKept: boolean): void;
}

/** Reads one answer. */
export interface AnswerReader {
  /** Whether a byte of it has come. */
  readonly hasBegun: boolean;
  /**
   * Reads what has come.
   *
   * @throws {Error} with a code that begins with `HPE_`, as those of `node:http`, if it is no answer of HTTP/1.1
   */
  push(bytes: Bytes): void;
  /** Says that no more will come; returns whether the answer is whole. */
  close(): boolean;
}

/** How long a head may be, and a line of its chunks, in bytes. */
const HEAD_MAX = 16_384;

/** Where the reader is: `over` is behind the answer. */
type State =
  | "status"
  | "field"
  | "length"
  | "close"
  | "size"
  | "chunk"
  | "break"
  | "trailer"
  | "over";

/**
 * Makes what reads the answer to one request.
 *
 * @param method of the request: the answer to a HEAD has no content
 */
export function createAnswerReader(method: string, events: AnswerEvents): AnswerReader {
  let state: State = "status";
  let status = 0;
  let isOld = false;
  let fields: string[] = [];
  /** What is left of a content or a chunk, in bytes. */
  let left = 0;
  let isKept = false;
  /** The start of a line whose end has not come. */
  let begun = "";
  /** The length of the head, or of the lines around chunks. */
  let headLength = 0;
  let hasBegun = false;

  const end = () => {
    state = "over";
    events.end(isKept);
  };

  const readLine = (line: string): void => {
    if (state === "status") {
      const [, minor, digits] = /^HTTP\/1\.([01]) (\d{3})(?: [^\0\r]*)?$/.exec(line) ??
        refuse("status line");
      [isOld, status, fields] = [minor === "0", Number(digits), []];
      state = "field";
    } else if (state === "field") {
      if (line === "") return endHead();
      const [, name = "", value = ""] = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([^\0\r]*)$/.exec(line) ??
        refuse("header");
      fields.push(name.toLowerCase(), value.trimEnd());
    } else if (state === "size") {
      const [, digits = ""] = /^([\da-f]{1,12})[\t ]*(?:;[^\0\r]*)?$/i.exec(line) ??
        refuse("chunk size");
      left = parseInt(digits, 16);
      state = left === 0 ? "trailer" : "chunk";
    } else if (state === "break") {
      if (line !== "") refuse("chunk");
      state = "size";
    } else if (line === "") end();
  };

  const endHead = () => {
    headLength = 0;
    if (status < 200) {
      // Early hints and the like go before the answer; nobody has asked for another protocol.
      if (status < 100 || status === 101) refuse("status");
      state = "status";
      return;
    }
    if (status > 599) refuse("status");
    const headers = headersOf(fields);
    const coding = headers.get("transfer-encoding");
    const length = lengthOf(headers.get("content-length"));
    if (coding !== null && (isOld || length !== undefined || coding.toLowerCase() !== "chunked")) {
      refuse("framing");
    }
    const connection = headers.get("connection") ?? "";
    isKept = !isOld && !/(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(connection);
    const isEmpty = method === "HEAD" || status === 204 || status === 304 || length === 0;
    left = length ?? 0;
    state = isEmpty ? "over" : coding !== null ? "size" : length === undefined ? "close" : "length";
    if (state === "close") isKept = false;
    events.head({ status, headers });
    if (state === "over") end();
  };

  /** Reads content; returns how many bytes were taken. */
  const readContent = (bytes: Bytes): number => {
    const part = state !== "close" && bytes.byteLength > left ? bytes.subarray(0, left) : bytes;
    events.part(part);
    if (state === "close") return part.byteLength;
    left -= part.byteLength;
    if (left === 0 && state === "chunk") state = "break";
    else if (left === 0) end();
    return part.byteLength;
  };

  return {
    get hasBegun() {
      return hasBegun;
    },
    push(bytes) {
      hasBegun = true;
      for (let at = 0; at < bytes.byteLength;) {
        // Nobody has asked for what comes behind an answer.
        if (state === "over") refuse("end");
        if (state === "length" || state === "chunk" || state === "close") {
          at += readContent(at === 0 ? bytes : bytes.subarray(at));
          continue;
        }
        const stop = bytes.indexOf(LINE_FEED, at);
        const until = stop < 0 ? bytes.byteLength : stop + 1;
        headLength += until - at;
        if (headLength > HEAD_MAX) refuse("length");
        begun += latin1(bytes.subarray(at, until));
        at = until;
        if (stop < 0) return;
        if (!begun.endsWith("\r\n")) refuse("line");
        const line = begun.slice(0, -2);
        begun = "";
        if (state === "size") headLength = 0;
        readLine(line);
      }
    },
    close() {
      if (state === "close") end();
      return state === "over";
    },
  };
}

const LINE_FEED = 10;

const latin1 = (bytes: Bytes): string =>
  String.fromCharCode.apply(null, bytes as unknown as number[]);

function refuse(what: string): never {
  throw Object.assign(new Error(`The ${what} of an answer is malformed`), { code: "HPE_INVALID" });
}

/** A length in bytes; servers may say the same twice (RFC 9112, section 6.3). */
function lengthOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const [first = "", ...others] = text.split(",").map((part) => part.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) refuse("length");
  return Number(first);
}

/** Headers of alternating names, in lower case, and values; several values are joined by commas. */
function headersOf(fields: readonly string[]): Pick<Headers, "get"> {
  return {
    get(name) {
      const wanted = name.toLowerCase();
      let value: string | null = null;
      for (let at = 0; at < fields.length; at += 2) {
        if (fields[at] !== wanted) continue;
        value = value === null ? fields[at + 1]! : `${value}, ${fields[at + 1]}`;
      }
      return value;
    },
  };
}
