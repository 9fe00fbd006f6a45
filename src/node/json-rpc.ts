/**
 * JSON-RPC 2.0 messages. Values are kept as JSON text, so that numbers are forwarded unchanged.
 *
 * @module
 */
import { findParts, type Part, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { inSlices } from "../slices.ts";
import { excerpt } from "../untrusted-text.ts";
import { notJson, SourceError } from "./failures.ts";

/**
 * The codes from -32700 to -32600 are those of JSON-RPC 2.0 (section 5.1). Our own begin at -32050,
 * since nodes and other protocols use most of the range below -32000: EIP-1474 to -32006, jsonrpsee
 * to -32011, Solana to -32021, MCP from -32020 on in part, OpenEthereum -32055 and -32058.
 */
export const CODES = {
  wantsToken: -32050,
  notAllowed: -32051,
  notReached: -32052,
  tooLate: -32053,
  busy: -32054,
  limited: -32056,
  invalidCall: -32600,
  noMethod: -32601,
  wrongParams: -32602,
  internal: -32603,
  noJson: -32700,
} as const;

export const RPC_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** `params` is the JSON text of an array or an object. */
export function writeCall(method: string, id: number, params: string | undefined): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${start}}` : `${start},"params":${params}}`;
}

/** All members are JSON text. Some nodes omit members that JSON-RPC requires. */
export interface RpcResponse {
  readonly id?: string | undefined;
  readonly result?: string | undefined;
  /** `undefined` if the node sends `null`: JSON-RPC 1 nodes send a null error with each result. */
  readonly error?: string | undefined;
}

/**
 * Of a batch, reads at most `CALLS_MAX` responses, since a node may send many more than it was
 * asked for. What a result or an error holds is not checked here, since it is passed on or parsed
 * later.
 *
 * @param duplicates if `wanted`, the response must not have two results; if `last`, the last one is
 * used
 * @throws {JsonSyntaxError} if the text is invalid around its results, or too deep
 */
export async function readRpcResponse(
  text: string,
  depthMax: number,
  duplicates: "wanted" | "last" = "wanted",
): Promise<RpcResponse | RpcResponse[]> {
  const isBatch = isList(text);
  const wanted = {
    levels: isBatch ? 2 : 1,
    items: CALLS_MAX,
    member: (name: string) => /^(?:id|result|error)$/.test(name),
    duplicates,
    isPassedOn: true,
  };
  const root = await inSlices(findParts(text, wanted, depthMax));
  const read = ({ members }: Part): RpcResponse => {
    const member = (name: string) => {
      const part = members?.get(name);
      return part && textOfPart(text, part);
    };
    const error = member("error");
    return {
      id: member("id"),
      result: member("result"),
      error: error === "null" ? undefined : error,
    };
  };
  return root.items?.map(read) ?? read(root);
}

const isList = (text: string): boolean => /^\s*\[/.test(text);

export interface RpcError {
  /** The code as the node sends it, or `undefined` if it is not a number. */
  readonly code?: string | number | undefined;
  readonly message: string;
  /** JSON text. */
  readonly data?: string | undefined;
}

/**
 * @param without the message of an error that has none
 * @throws {JsonSyntaxError} if the text is invalid
 */
export async function readRpcError(
  text: string,
  without: string = "The node responded with an error",
): Promise<RpcError> {
  // Some JSON-RPC 1 nodes send a string as the error.
  if (text.startsWith('"')) return { message: JSON.parse(text) };
  const wanted = {
    levels: 1,
    member: (name: string) => /^(?:code|message|data)$/.test(name),
    duplicates: "last",
  } as const;
  const { members } = await inSlices(findParts(text, wanted, Infinity));
  const read = (name: string, ...kinds: readonly Part["kind"][]) => {
    const part = members?.get(name);
    const isRight = part && (kinds.length === 0 || kinds.includes(part.kind));
    return isRight ? textOfPart(text, part) : undefined;
  };
  const message = read("message", "string", "number") ?? JSON.stringify(without);
  return {
    code: read("code", "number"),
    message: message.startsWith('"') ? JSON.parse(message) : message,
    data: read("data"),
  };
}

/**
 * Nodes use different codes for an unknown method: EIP-1474 defines -32004, which Solana uses for a
 * different error, and Besu sends -32604. The words must be at the start of the message, since a
 * contract can revert with any words.
 */
const NO_METHOD = new RegExp(
  "^(?:error: )?(?:(?:unknown|unsupported) (?:rpc )?method\\b|(?:the )?(?:(?:json-?)?rpc " +
    ")?method\\b" +
    "[^:;\\n]{0,80}\\b(?:not (?:found|supported|enabled|available|implemented|exist)|unknown))",
  "i",
);

/** Tells whether an error means that the node lacks the called method. */
export function isNoMethod({ code, message }: RpcError): boolean {
  return Number(code) === CODES.noMethod || NO_METHOD.test(message);
}

/** The JSON text of a result, or the failure of a call. */
export type RpcOutcome = { readonly result: string; readonly error?: undefined } | RpcFailure;

export interface RpcFailure {
  readonly error: SourceError;
  /** The error of the node; `undefined` if the node sent no JSON-RPC error. */
  readonly json?: string;
  /** What was thrown, if the call could not be sent or its response could not be read. */
  readonly reason?: unknown;
}

export async function outcomeOf({ result, error }: RpcResponse): Promise<RpcOutcome> {
  if (error === undefined) return result === undefined ? { error: noResult() } : { result };
  let read: RpcError;
  try {
    read = await readRpcError(error, "an error");
  } catch (reason) {
    if (!(reason instanceof JsonSyntaxError)) throw reason;
    return { error: notJson(error) };
  }
  const { code, message } = read;
  const words = `${excerpt(message, 80)} (${excerpt(code?.toString() ?? "no code", 20)})`;
  const failure = new SourceError("bad_answer", `responded with an error: ${words}`, {
    number: code === undefined ? undefined : Number(code),
    isAbsent: isNoMethod({ code, message }),
    isQuoting: true,
  });
  return { error: failure, json: error };
}

const noResult = () =>
  new SourceError("bad_answer", "sent a response without a JSON-RPC result", { isForeign: true });

/** `id` and `params` are JSON text. */
export interface RpcCall {
  /** `undefined` for a notification. */
  readonly id: string | undefined;
  readonly method: string;
  readonly params: string | undefined;
  /**
   * True for a call without `"jsonrpc": "2.0"`. The response to a JSON-RPC 1 call has both `result`
   * and `error`, one of which is null.
   */
  readonly isJsonRpc1: boolean;
}

/** Why a call cannot be read. */
export interface RpcFault {
  readonly id: string;
  readonly code: number;
  readonly message: string;
  /** The HTTP status, if the whole body cannot be read. */
  readonly status?: number;
}

const fault = (code: number, message: string, id = "null"): RpcFault => ({ id, code, message });

export const isFault = (call: object): call is RpcFault => "code" in call;

/** The body of a request that cannot be read. */
export const wholeFault = (message: string): RpcBody => ({
  isBatch: false,
  calls: [{ ...fault(CODES.noJson, message), status: 400 }],
});

/** The number of calls in a batch. */
const CALLS_MAX = 1000;
/** The number of calls in a batch up to which each call of a batch that is too long is refused. */
const REFUSED_MAX = 10_000;

export interface RpcBody {
  readonly isBatch: boolean;
  readonly calls: readonly (RpcCall | RpcFault)[];
}

export async function readRpcBody(text: string, depthMax: number): Promise<RpcBody> {
  let root: Part;
  try {
    const wanted = {
      levels: isList(text) ? 2 : 1,
      items: REFUSED_MAX,
      member: (name: string) => /^(?:jsonrpc|id|method|params)$/.test(name),
      duplicates: "wanted",
    } as const;
    root = await inSlices(findParts(text, wanted, depthMax));
  } catch (error) {
    return wholeFault(messageOf(error));
  }
  const { items, count } = root;
  if (!items) return { isBatch: false, calls: [readCall(text, root)] };
  if (count === 0) {
    const empty = fault(CODES.invalidCall, "A batch must have at least one call");
    return { isBatch: false, calls: [empty] };
  }
  const calls = items.map((part) => readCall(text, part));
  if (count <= CALLS_MAX) return { isBatch: true, calls };
  const tooMany = (id?: string) =>
    fault(CODES.invalidCall, `A batch may have at most ${CALLS_MAX} calls`, id);
  return count > REFUSED_MAX
    ? { isBatch: false, calls: [{ ...tooMany(), status: 413 }] }
    : { isBatch: true, calls: calls.map(({ id }) => tooMany(id)) };
}

function readCall(text: string, { members }: Part): RpcCall | RpcFault {
  if (!members) return fault(CODES.invalidCall, "A call must be an object");
  const idPart = members.get("id");
  const id = idPart && textOfPart(text, idPart);
  if (idPart && (idPart.kind === "{" || idPart.kind === "[" || id === "true" || id === "false")) {
    return fault(CODES.invalidCall, "The id of a call must be a string or a number");
  }
  const methodPart = members.get("method");
  if (methodPart?.kind !== "string") {
    return fault(CODES.invalidCall, "The method of a call must be a string", id);
  }
  const method = JSON.parse(textOfPart(text, methodPart)) as string;
  const part = members.get("params");
  const params = part && listOrObject(text, part);
  if (params && typeof params !== "string") return { ...params, id: id ?? "null" };
  const version = members.get("jsonrpc");
  const isJsonRpc1 = version === undefined || textOfPart(text, version) !== '"2.0"';
  return { id, method, params, isJsonRpc1 };
}

export async function readRpcParams(text: string, depthMax: number): Promise<string | RpcFault> {
  try {
    const wanted = { levels: 0, duplicates: "last" } as const;
    return listOrObject(text, await inSlices(findParts(text, wanted, depthMax)));
  } catch (error) {
    return fault(CODES.noJson, messageOf(error));
  }
}

function listOrObject(text: string, params: Part): string | RpcFault {
  const json = textOfPart(text, params);
  // Some clients send null instead of omitting the parameters.
  if (json === "null") return "[]";
  if (params.kind === "[" || params.kind === "{") return json;
  return fault(CODES.wrongParams, "The params of a call must be an array or an object");
}

function messageOf(error: unknown): string {
  if (!(error instanceof JsonSyntaxError)) throw error;
  return `Invalid JSON: ${error.message}`;
}

/** What a call gets: the JSON text of its result, or of an error. */
export type RpcReply = { readonly result: string } | { readonly error: string };

export function writeRpcResponse(
  { id = "null", isJsonRpc1 = false }: Partial<Pick<RpcCall, "id" | "isJsonRpc1">>,
  reply: RpcReply,
): string {
  const isError = "error" in reply;
  if (isJsonRpc1) {
    const [result, error] = isError ? ["null", reply.error] : [reply.result, "null"];
    return `{"result":${result},"error":${error},"id":${id}}`;
  }
  const member = isError ? `"error":${reply.error}` : `"result":${reply.result}`;
  return `{"jsonrpc":"2.0",${member},"id":${id}}`;
}
