/**
 * Reads the body of a call: bounded in size and time.
 *
 * @module
 */
import { type Bytes, createCollector, isInTinyParts, joinBytes } from "../bytes.ts";
import { namesContent } from "../http/request.ts";
import { withTimeout } from "../with-timeout.ts";
import type { Call } from "./every-call.ts";

/** The longest body, in bytes. */
export const BODY_MAX: number = 1024 * 1024;

/** How long a body may take, in milliseconds. */
const TIMEOUT = 10_000;

/** Takes room for so many bytes; `false` where there is none. */
type Grow = (bytes: number) => boolean;

/** Why a body cannot be had: the status of the answer and its sentence. */
export interface BodyRefusal {
  readonly status: 400 | 408 | 413 | 415 | 503;
  readonly detail: string;
  readonly headers?: Record<string, string>;
}

/** The content of a call; both are `undefined` where there is none. */
export interface Content {
  readonly bytes: Bytes | undefined;
  /** The media type in lower case, without parameters. */
  readonly type: string | undefined;
}

/**
 * Reads the content of a call, if it is of a type that is taken: no type is none of these.
 *
 * @param types in lower case; none where the operation takes no content
 */
export async function readContent(
  { request, content }: Pick<Call, "request" | "content">,
  types: readonly string[],
  grow: Grow,
): Promise<Content | BodyRefusal> {
  const { headers } = request;
  const wrongType: BodyRefusal = {
    status: 415,
    detail: types.length === 0
      ? "This operation takes no content"
      : `The content of this call is ${types.join(" or ")}`,
  };
  // A parser that knows no other transfer coding takes its bytes for the content.
  const transferred = headers.get("transfer-encoding") ?? "chunked";
  if (headers.has("content-encoding") || transferred.toLowerCase() !== "chunked") {
    return { status: 415, detail: "The content of a call is not encoded" };
  }
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const isTaken = types.includes(type);
  if (!isTaken && namesContent(request)) return wrongType;
  if (!request.body) {
    content.isRead = true;
    return NO_CONTENT;
  }
  const said = Number(headers.get("content-length") ?? 0);
  // HTTP/2 and a host's own requests need no length: nothing is of any type.
  const most = isTaken ? BODY_MAX : 0;
  const bytes = said > most ? TOO_LARGE : await readBody(request.body, most, grow);
  if ("status" in bytes) return !isTaken && bytes.status === 413 ? wrongType : bytes;
  content.isRead = true;
  return bytes.byteLength === 0 ? NO_CONTENT : { bytes, type: isTaken ? type : undefined };
}

const NO_CONTENT: Content = { bytes: undefined, type: undefined };

const TOO_LARGE: BodyRefusal = {
  status: 413,
  detail: `The content of a call has at most ${BODY_MAX / 1024} KiB`,
};

const LATE: BodyRefusal = {
  status: 408,
  detail: "The content of the call does not arrive in time",
};

const FULL: BodyRefusal = {
  status: 503,
  detail: "Too many bytes are under way",
  headers: { "retry-after": "5" },
};

async function readBody(
  body: ReadableStream<Uint8Array>,
  most: number,
  grow: Grow,
): Promise<Bytes | BodyRefusal> {
  const reader = body.getReader() as ReadableStreamDefaultReader<Bytes>;
  const bytes = await withTimeout(gather(reader, most, grow), TIMEOUT, () => LATE);
  // Not at once: Node 20 fails as a whole where what it was about to hand over is cancelled.
  if ("status" in bytes) setTimeout(() => void reader.cancel().catch(() => {}), 0);
  return bytes;
}

async function gather(
  reader: ReadableStreamDefaultReader<Bytes>,
  most: number,
  grow: Grow,
): Promise<Bytes | BodyRefusal> {
  const come = createCollector();
  let length = 0;
  let parts = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return joinBytes(come.take());
      length += value.byteLength;
      if (length > most) return TOO_LARGE;
      if (isInTinyParts(++parts, length)) {
        return { status: 400, detail: "The content of the call comes in too many parts" };
      }
      if (!grow(length)) return FULL;
      come.push(value);
    }
  } catch {
    return { status: 400, detail: "The content of the call breaks off" };
  }
}

/** Some bytes as text, whose byte order mark stays; `undefined` where they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
