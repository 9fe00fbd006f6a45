/**
 * Reads the body of a call: bounded in size and time.
 *
 * @module
 */
import { type Bytes, joinBytes } from "../bytes.ts";
import type { Awaitable } from "../http/message.ts";
import { namesContent } from "../http/request-has-content.ts";
import { withTimeout } from "../with-timeout.ts";
import type { Call } from "./every-call.ts";

/** The longest body, in bytes. */
export const BODY_MAX: number = 1024 * 1024;

/** How long a body may take, in milliseconds. */
const TIMEOUT = 10_000;

/** Why a body cannot be had: the status of the answer and its sentence. */
export interface BodyRefusal {
  readonly status: 400 | 408 | 413 | 415;
  readonly detail: string;
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
export function readContent(
  call: Pick<Call, "head" | "makeRequest" | "content">,
  types: readonly string[],
): Awaitable<Content | BodyRefusal> {
  const { head } = call;
  const { headers } = head;
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
  if (!isTaken && namesContent(head)) return wrongType;
  if (head.hasContent === false) return NO_CONTENT;
  return readTyped(call, isTaken ? type : undefined, wrongType);
}

/** @param type `undefined` where the operation takes no content of this type */
async function readTyped(
  { makeRequest, content }: Pick<Call, "makeRequest" | "content">,
  type: string | undefined,
  wrongType: BodyRefusal,
): Promise<Content | BodyRefusal> {
  const request = await makeRequest();
  if (!request.body) {
    content.isRead = true;
    return NO_CONTENT;
  }
  // HTTP/2 and a host's own requests need no length: nothing is of any type.
  const bytes = await readBody(request, type === undefined ? 0 : BODY_MAX);
  if ("status" in bytes) {
    return type === undefined && bytes.status === 413 ? wrongType : bytes;
  }
  content.isRead = true;
  return bytes.byteLength === 0 ? NO_CONTENT : { bytes, type };
}

const NO_CONTENT: Content = { bytes: undefined, type: undefined };

const TOO_LARGE: BodyRefusal = {
  status: 413,
  detail: `The content of a call has at most ${BODY_MAX / 1024} KiB`,
};

async function readBody(request: Request, most: number): Promise<Bytes | BodyRefusal> {
  if (Number(request.headers.get("content-length") ?? 0) > most) return TOO_LARGE;
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let length = 0;
  const until = performance.now() + TIMEOUT;
  try {
    for (;;) {
      const late = { done: true, value: undefined, isLate: true } as const;
      const left = Math.max(0, until - performance.now());
      const read = await withTimeout(reader.read(), left, () => late);
      if ("isLate" in read) {
        void reader.cancel().catch(() => {});
        return { status: 408, detail: "The content of the call does not arrive in time" };
      }
      if (read.done) return joinBytes(parts);
      length += read.value.byteLength;
      if (length > most) {
        void reader.cancel().catch(() => {});
        return TOO_LARGE;
      }
      parts.push(read.value);
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
