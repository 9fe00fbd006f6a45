/**
 * Writes what JSON-RPC calls get.
 *
 * @module
 */
import { completeResponse } from "../http/response.ts";
import { CODES } from "../node/json-rpc.ts";
import { excerpt } from "../untrusted-text.ts";
import { encodeTexts } from "../utf8.ts";
import type { Call } from "./call.ts";
import { LATER, Refusal } from "./refusal.ts";
import { JSON_HEADERS } from "./response-headers.ts";
import { isFault, type RpcBody, type RpcCall, type UnreadableCall } from "./read-rpc.ts";

/** The JSON text of a result, or of an error. */
type ReplyContent = { readonly result: string } | { readonly error: string };

/** What a call gets, and the HTTP status that its response has if the call is alone. */
export interface Reply {
  readonly content: ReplyContent;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True if nobody has the method. */
  readonly isAbsent?: boolean;
  /** True if the node responds in the form of JSON-RPC 1, whatever the form of the call. */
  readonly isJsonRpc1?: boolean | undefined;
}

/** What a request gets. */
export interface WrittenReplies {
  /** The texts that make the response one after the other; none if all calls are notifications. */
  readonly texts: readonly string[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes the response to a request from the parts of its JSON text. */
export async function respondWithTexts(
  { texts, status = 200, headers = JSON_HEADERS }:
    & Pick<WrittenReplies, "texts">
    & Partial<WrittenReplies>,
  { lease, common }: Call,
): Promise<Response> {
  if (texts.length === 0) return completeResponse(status, headers, null, common);
  const bytes = await encodeTexts(texts);
  return completeResponse(
    status,
    { ...headers, "content-length": String(bytes.byteLength) },
    lease.holdUntilSent([bytes]),
    common,
  );
}

/** Clients know these words. */
export function unavailable(
  method: string,
  reason: string,
  setting?: string,
  forWhom: string = "",
): Refusal {
  const what = `the method ${excerpt(method, 80)} does not exist/is not available${forWhom}`;
  const message = `${what}: ${reason}`;
  return new Refusal(404, CODES.noMethod, message, setting === undefined ? {} : { setting });
}

export const replyFromFault = ({ code, message, status = 200 }: UnreadableCall): Reply => ({
  content: { error: JSON.stringify({ code, message }) },
  status,
});

/**
 * A refusal is a response to the call, with the status 200, unless the client should try again, or
 * is a page of an origin that is not allowed.
 *
 * @throws what is no refusal
 */
export function replyFromRefusal(error: unknown, kind?: string): Reply {
  if (!(error instanceof Refusal)) throw error;
  const { status, code, message, details: { setting, headers, isAway } } = error;
  const data = setting === undefined ? undefined : { setting };
  // A node that is away may be back soon. Clients do not repeat a call that has an error of 200.
  const later = isAway ? LATER : headers?.["retry-after"] !== undefined ? headers : undefined;
  return {
    content: {
      error: JSON.stringify({ ...kind === "near" && nearError(message), code, message, data }),
    },
    status: isAway ? 503 : later || code === CODES.notAllowed ? status : 200,
    headers: later,
    isAbsent: code === CODES.noMethod,
  };
}

/** Clients of NEAR show no other errors than those of its own form. */
const nearError = (message: string) => ({
  name: "REQUEST_VALIDATION_ERROR",
  cause: { name: "PARSE_ERROR", info: { error_message: message } },
});

export function repliesFromRefusal(refusal: Refusal, { calls }: RpcBody): Reply[] {
  const { code, message } = refusal;
  const isOff = code === CODES.notAllowed;
  return calls.map((one) =>
    isFault(one)
      ? replyFromFault(one)
      : replyFromRefusal(isOff ? unavailable(one.method, message, "forward") : refusal)
  );
}

/** @param replies what each call gets */
export function writeReplies(
  { calls, isBatch }: RpcBody,
  replies: readonly Reply[],
): WrittenReplies {
  const responses = calls.flatMap((call, at) =>
    call.id === undefined ? [] : [writeRpcResponse(call, replies[at]!)]
  );
  if (responses.length === 0) {
    return { texts: [], status: 204, headers: { "cache-control": "no-store" } };
  }
  const [first] = replies as [Reply];
  const isSame = replies.every(({ status }) => status === first.status);
  return {
    texts: isBatch
      ? [...responses.flatMap((texts, at) => [at === 0 ? "[" : ",", ...texts]), "]"]
      : responses[0]!,
    status: !isSame ? 200 : isBatch ? first.status : statusOfReply(calls[0]!, first),
    headers: { ...JSON_HEADERS, ...isSame ? first.headers : {} },
  };
}

/**
 * Clients of Bitcoin Core tell an error of JSON-RPC 1 by its status. A node that responds in this
 * form to each call has chosen the status itself.
 */
function statusOfReply(
  call: RpcCall | UnreadableCall,
  { content, status, isAbsent, isJsonRpc1 }: Reply,
): number {
  const isByStatus = !isFault(call) && call.isJsonRpc1 && !isJsonRpc1 && "error" in content;
  if (!isByStatus || status >= 400) return status;
  return isAbsent ? 404 : 500;
}

/** Writes the response to a request whose calls cannot be read. */
export const writeRefusalAlone = (refusal: Refusal): string[] =>
  writeRpcResponse({}, replyFromRefusal(refusal));

function writeRpcResponse(
  call: Partial<Pick<RpcCall, "id" | "isJsonRpc1">>,
  { content, isJsonRpc1 }: Reply,
): string[] {
  const { id = "null" } = call;
  if (call.isJsonRpc1 || isJsonRpc1) {
    return "error" in content
      ? ['{"result":null,"error":', content.error, `,"id":${id}}`]
      : ['{"result":', content.result, `,"error":null,"id":${id}}`];
  }
  const [name, value] = "error" in content ? ["error", content.error] : ["result", content.result];
  return [`{"jsonrpc":"2.0","${name}":`, value, `,"id":${id}}`];
}
