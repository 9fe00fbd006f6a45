/**
 * A call of the node, the view of the node that calls use (made in `gateway.ts`), and the content of a call, limited in
 * size and time.
 *
 * @module
 */
import { type Bytes, createCollector, isInTinyParts, joinBytes } from "../bytes.ts";
import { namesContent, type ReadChunks, type ServedRequest } from "../http/request.ts";
import type { RequestContent } from "../node/http1.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { LightSignal, type Signal } from "../with-timeout.ts";
import type { Guard } from "./guard.ts";
import type { PathTable } from "./match.ts";
import type { PolicyEntry } from "./policy.ts";
import { CODES, LATER, type MakeResponse, type Refusal } from "./response.ts";

export interface Call {
  readonly request: ServedRequest;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as received; unused for a JSON-RPC body. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  /** The connection is closed unless the content was read to its end. */
  readonly content: { isRead: boolean };
  /** Makes the response with the node's content and the common headers; refusals get these headers later. */
  readonly makeResponse: MakeResponse;
}

export const goneOf = ({ request }: Pick<Call, "request">): Signal =>
  request.gone ?? request.signal;

export interface CallTable {
  readonly paths: PathTable;
  readonly methods: ReadonlyMap<string, PolicyEntry>;
}

export interface CalledNode {
  readonly limit: number;
  /**
   * The header that carries the node's secret, in lower case, if the operator configured one; clients cannot set it.
   */
  readonly secretHeader: string | undefined;
  readonly guard: Guard;
  /** The node's URL, normalized and without a trailing slash. */
  readonly base: string;
  calls(): Promise<CallTable>;
  rpcRequest(text: string): Promise<RequestContent>;
  /** Called when the node reports that a method is missing. */
  onNoMethod(operation: NodeOperation): void;
  record(operation: NodeOperation): CallRecorder;
  fail(error: unknown, operation: NodeOperation, call: Call, record: CallRecorder): Refusal;
}

/** Writes the log line of a call, with its status and the size of its response. */
export type CallRecorder = (status: number, bytes: number) => void;

const BODY_MAX = 1024 * 1024;

const BODY_TIMEOUT_MS = 10_000;

type Grow = (bytes: number) => boolean;

export interface Content {
  readonly bytes: Bytes | undefined;
  /** The media type in lower case, without parameters. */
  readonly type: string | undefined;
}

/** Reads a content whose type is one of `types`, in lower case; the type `""` stands for a missing header. */
export async function readContent(
  { request, content }: Pick<Call, "request" | "content">,
  types: readonly string[],
  grow: Grow,
): Promise<Content | Refusal> {
  const { headers } = request;
  const wrongType = refusal(
    415,
    types.length === 0
      ? "This operation accepts no content"
      : `The content of this call must be ${types.join(" or ")}`,
  );
  // A lenient parser would read the bytes of an unknown transfer coding as the content.
  const transferred = headers.get("transfer-encoding") ?? "chunked";
  if (headers.has("content-encoding") || transferred.toLowerCase() !== "chunked") {
    return ENCODED;
  }
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const isTaken = types.includes(type);
  if (!isTaken && namesContent(request)) return wrongType;
  const { readChunks = readerOf(request) } = request;
  if (!readChunks) {
    content.isRead = true;
    return NO_CONTENT;
  }
  const said = Number(headers.get("content-length") ?? 0);
  // HTTP/2 and a host's own requests may omit the length, so an empty content can have any type.
  const most = isTaken ? BODY_MAX : 0;
  const bytes = said > most ? TOO_LARGE : await readBody(readChunks, most, grow);
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
const FULL: Refusal = {
  ...{ status: 503, code: CODES.busy, headers: LATER },
  message: "Too much data is in transit; try again later",
};

function readerOf({ body }: Request): ReadChunks | undefined {
  return body === null ? undefined : async (take, stop) => {
    const reader = body.getReader() as ReadableStreamDefaultReader<Bytes>;
    // Cancelled later: Node 20 crashes if a stream is cancelled while it delivers a part.
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
  readChunks: ReadChunks,
  most: number,
  grow: Grow,
): Promise<Bytes | Refusal> {
  const come = createCollector();
  let length = 0;
  let count = 0;
  let reason: Refusal | undefined;
  // An `AbortSignal` of the platform is slower.
  const stop = new LightSignal();
  const timer = setTimeout(() => stop.abort(LATE), BODY_TIMEOUT_MS);
  const take = (part: Bytes) => {
    length += part.byteLength;
    if (length > most) reason = TOO_LARGE;
    else if (isInTinyParts(++count, length)) reason = TINY;
    else if (!grow(length)) reason = FULL;
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

/** Decodes UTF-8 and keeps a byte order mark; `undefined` if the bytes are malformed. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
