/**
 * Reads the content of a call, with limits on size and time.
 *
 * @module
 */
import { type Bytes, createCollector, isInTinyParts, joinBytes } from "../bytes.ts";
import { namesContent, type ReadChunks, type ServedRequest } from "../http/request.ts";
import { CODES } from "../node/json-rpc.ts";
import { nextTurn } from "../slices.ts";
import { LightSignal, type Signal } from "../with-timeout.ts";
import type { Lease } from "./lease.ts";
import { FULL, type MakeResponse, type Refusal } from "./response.ts";

export interface Call {
  readonly request: ServedRequest;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as received. */
  readonly path: string;
  readonly query: string;
  /** If the content was not read to its end, the response closes the connection. */
  readonly content: { isRead: boolean };
  readonly makeResponse: MakeResponse;
}

export const goneOf = ({ request }: Pick<Call, "request">): Signal =>
  request.gone ?? request.signal;

const BODY_MAX = 1024 * 1024, BODY_TIMEOUT_MS = 10_000;

export interface Content {
  readonly bytes: Bytes | undefined;
  /** The media type in lower case, without parameters. */
  readonly type: string | undefined;
}

/** @param types the allowed content types, in lower case; `""` allows a missing header */
export async function readContent(
  { request, content }: Pick<Call, "request" | "content">,
  types: readonly string[],
  lease: Lease,
  hasToken: boolean,
): Promise<Content | Refusal> {
  const { headers } = request;
  const expected = types.length === 0
    ? "This operation accepts no content"
    : `The content of this call must be ${types.join(" or ")}`;
  const wrongType = refusal(415, expected);
  // A lenient parser would mistake the bytes of an unknown transfer coding for the content.
  const transferred = headers.get("transfer-encoding") ?? "chunked";
  if (headers.has("content-encoding") || transferred.toLowerCase() !== "chunked") return ENCODED;
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const isTaken = types.includes(type);
  if (!isTaken && namesContent(request)) return wrongType;
  const { readChunks = readerOf(request) } = request;
  if (!readChunks) {
    content.isRead = true;
    return NO_CONTENT;
  }
  const declared = Number(headers.get("content-length") ?? 0);
  // Empty content is accepted whatever its type. If `content-length` is missing, the content must be read to find out
  // whether it is empty.
  const most = isTaken ? BODY_MAX : 0;
  const hold = (length: number) => lease.holdBody(length, hasToken);
  const bytes = declared > most ? TOO_LARGE : await readBody(readChunks, most, hold);
  if ("status" in bytes) return !isTaken && bytes.status === 413 ? wrongType : bytes;
  content.isRead = true;
  return bytes.byteLength === 0 ? NO_CONTENT : { bytes, type: isTaken ? type : undefined };
}

const NO_CONTENT: Content = { bytes: undefined, type: undefined };

const refusal = (status: 400 | 408 | 413 | 415, message: string): Refusal => ({
  ...{ status, message, code: CODES.invalidCall },
});

const TOO_LARGE = refusal(413, `The content of a call may have at most ${BODY_MAX / 1024} KiB`);
const LATE = refusal(408, "The content of the call did not arrive in time");
const TINY = refusal(400, "The content of the call arrived in too many small parts");
const BROKEN = refusal(400, "The content of the call is incomplete");
const ENCODED = refusal(415, "The content of a call must not be encoded");

function readerOf({ body }: Request): ReadChunks | undefined {
  return body === null ? undefined : async (take, stop) => {
    const reader = body.getReader() as ReadableStreamDefaultReader<Bytes>;
    // Node 20 crashes if a stream is cancelled while it delivers a part, so this stream is cancelled later.
    const cancel = () => void setTimeout(() => void reader.cancel().catch(() => {}), 0);
    stop.addEventListener("abort", cancel);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!take(value)) return cancel();
    }
  };
}

async function readBody(readChunks: ReadChunks, most: number, hold: (length: number) => boolean) {
  const come = createCollector();
  let length = 0, count = 0;
  let reason: Refusal | undefined;
  const stop = new LightSignal();
  const timer = setTimeout(() => stop.abort(LATE), BODY_TIMEOUT_MS);
  const take = (part: Bytes) => {
    length += part.byteLength;
    if (length > most) reason = TOO_LARGE;
    else if (isInTinyParts(++count, length)) reason = TINY;
    else if (!hold(length)) reason = FULL;
    else come.push(part);
    return reason === undefined;
  };
  try {
    await readChunks(take, stop);
  } catch {
    reason ??= BROKEN;
  }
  clearTimeout(timer);
  if (stop.aborted) return LATE;
  return reason ?? joinBytes(come.take());
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Keeps a byte order mark as part of the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The number of bytes that can be parsed in about a millisecond. */
const AT_ONCE = 32_768;

/** Work on a large content begins in a turn of the event loop of its own, so that others are not delayed by more. */
export async function inTurn<T>(size: number, work: () => T): Promise<T> {
  if (size > AT_ONCE) await nextTurn();
  return work();
}
