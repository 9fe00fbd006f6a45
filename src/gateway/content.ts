/**
 * Reads the body of a call: bounded in size and time.
 *
 * @module
 */
import { type Bytes, createCollector, isInTinyParts, joinBytes } from "../bytes.ts";
import { namesContent, type ReadParts, type ServedRequest } from "../http/request.ts";
import { LightSignal } from "../with-timeout.ts";
import { CODES, type Refusal } from "./response.ts";

/** The longest body, in bytes. */
const BODY_MAX = 1024 * 1024;

/** How long a body may take, in milliseconds. */
const TIMEOUT = 10_000;

/** Takes room for so many bytes; `false` where there is none. */
type Grow = (bytes: number) => boolean;

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
  { request, content }: { readonly request: ServedRequest; readonly content: { isRead: boolean } },
  types: readonly string[],
  grow: Grow,
): Promise<Content | Refusal> {
  const { headers } = request;
  const wrongType = refusal(
    415,
    types.length === 0
      ? "This operation takes no content"
      : `The content of this call is ${types.join(" or ")}`,
  );
  // A parser that knows no other transfer coding takes its bytes for the content.
  const transferred = headers.get("transfer-encoding") ?? "chunked";
  if (headers.has("content-encoding") || transferred.toLowerCase() !== "chunked") {
    return ENCODED;
  }
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const isTaken = types.includes(type);
  if (!isTaken && namesContent(request)) return wrongType;
  const { readParts = readerOf(request) } = request;
  if (!readParts) {
    content.isRead = true;
    return NO_CONTENT;
  }
  const said = Number(headers.get("content-length") ?? 0);
  // HTTP/2 and a host's own requests need no length: nothing is of any type.
  const most = isTaken ? BODY_MAX : 0;
  const bytes = said > most ? TOO_LARGE : await readBody(readParts, most, grow);
  if ("status" in bytes) return !isTaken && bytes.status === 413 ? wrongType : bytes;
  content.isRead = true;
  return bytes.byteLength === 0 ? NO_CONTENT : { bytes, type: isTaken ? type : undefined };
}

const NO_CONTENT: Content = { bytes: undefined, type: undefined };

const refusal = (status: 400 | 408 | 413 | 415, message: string): Refusal => ({
  ...{ status, message, code: CODES.invalidCall },
});

const TOO_LARGE = refusal(413, `The content of a call has at most ${BODY_MAX / 1024} KiB`);
const LATE = refusal(408, "The content of the call does not arrive in time");
const TINY = refusal(400, "The content of the call comes in too many parts");
const BROKEN = refusal(400, "The content of the call breaks off");
const ENCODED = refusal(415, "The content of a call is not encoded");
const FULL: Refusal = {
  ...{ status: 503, code: CODES.busy, headers: { "retry-after": "5" } },
  message: "Too many bytes are under way",
};

/** Reads the stream of a request. */
function readerOf({ body }: Request): ReadParts | undefined {
  return body === null ? undefined : async (take, stop) => {
    const reader = body.getReader() as ReadableStreamDefaultReader<Bytes>;
    // Not at once: Node 20 fails as a whole where what it was about to hand over is cancelled.
    const cancel = () => void setTimeout(() => void reader.cancel().catch(() => {}), 0);
    stop.addEventListener("abort", cancel);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!take(value)) return cancel();
    }
  };
}

async function readBody(
  readParts: ReadParts,
  most: number,
  grow: Grow,
): Promise<Bytes | Refusal> {
  const come = createCollector();
  let length = 0;
  let count = 0;
  let reason: Refusal | undefined;
  const stop = new LightSignal();
  const timer = setTimeout(() => stop.abort(LATE), TIMEOUT);
  const take = (part: Bytes) => {
    length += part.byteLength;
    if (length > most) reason = TOO_LARGE;
    else if (isInTinyParts(++count, length)) reason = TINY;
    else if (!grow(length)) reason = FULL;
    else come.push(part);
    return reason === undefined;
  };
  try {
    await readParts(take, stop);
  } catch {
    reason ??= BROKEN;
  }
  clearTimeout(timer);
  if (stop.aborted) return LATE;
  return reason ?? joinBytes(come.take());
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Some bytes as text, whose byte order mark stays; `undefined` where they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
