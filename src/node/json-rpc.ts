/**
 * JSON-RPC 2.0 messages. Values are kept as JSON text, so that numbers are forwarded unchanged.
 *
 * @module
 */
import { findParts, type Part, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { inSlices } from "../slices.ts";
import { excerpt, shorten } from "../untrusted-text.ts";
import { SourceError } from "./failures.ts";

/**
 * The codes from -32700 to -32600 are those of JSON-RPC 2.0 (section 5.1). Nodeface's own codes
 * differ from those of EIP-1474 (-32000 to -32006), Ethereum nodes (-32009, -32010, -32015) and MCP
 * (-32020 and below).
 */
export const CODES = {
  notAllowed: -32011,
  wantsToken: -32012,
  notReached: -32013,
  tooLate: -32014,
  busy: -32016,
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
 * asked for.
 *
 * @param duplicates if `wanted`, the response must not have two results; if `last`, the last one is
 * used
 * @throws {JsonSyntaxError} if the text is invalid or too deep
 */
export async function readRpcResponse(
  text: string,
  depthMax: number,
  duplicates: "wanted" | "last" = "wanted",
): Promise<RpcResponse | RpcResponse[]> {
  const isBatch = /^\s*\[/.test(text);
  const wanted = {
    levels: isBatch ? 2 : 1,
    items: CALLS_MAX,
    member: (name: string) => /^(?:id|result|error)$/.test(name),
    duplicates,
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

export interface RpcError {
  /** The code as the node sends it, or `undefined` if the code is too long or not a number. */
  readonly code?: string | number | undefined;
  readonly message: string;
  readonly data?: string | undefined;
}

const CODE_MAX = 32, MESSAGE_MAX = 1024, DATA_MAX = 16_384;

/**
 * Members that JSON-RPC does not define are dropped, since they may expose stack traces or
 * directories.
 *
 * @param without the message of an error that has none
 * @throws {JsonSyntaxError} if the text is invalid or too deep
 */
export async function readRpcError(
  text: string,
  depthMax: number,
  without: string = "The node responded with an error",
): Promise<RpcError> {
  const wanted = {
    levels: 1,
    member: (name: string) => /^(?:code|message|data)$/.test(name),
    duplicates: "wanted",
  } as const;
  const { members } = await inSlices(findParts(text, wanted, depthMax));
  const read = (name: string, ...kinds: readonly Part["kind"][]) => {
    const part = members?.get(name);
    const isRight = part && (kinds.length === 0 || kinds.includes(part.kind));
    return isRight ? textOfPart(text, part) : undefined;
  };
  const [code, data] = [read("code", "number"), read("data")];
  // Some JSON-RPC 1 nodes send a string as the error.
  const message = text.startsWith('"')
    ? text
    : read("message", "string", "number") ?? JSON.stringify(without);
  return {
    code: code !== undefined && code.length <= CODE_MAX ? code : undefined,
    message: shorten(message.startsWith('"') ? JSON.parse(message) : message, MESSAGE_MAX),
    data: data !== undefined && data.length <= DATA_MAX ? data : undefined,
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
export type RpcOutcome =
  | { readonly result: string; readonly error?: undefined }
  /** `json` is the error of the node; `undefined` if the node sent no JSON-RPC error. */
  | { readonly error: SourceError; readonly json?: string };

export async function outcomeOf({ result, error }: RpcResponse): Promise<RpcOutcome> {
  if (error === undefined) return result === undefined ? { error: noResult() } : { result };
  const { code, message } = await readRpcError(error, Infinity, "an error");
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

export interface RpcFault {
  readonly id: string;
  readonly code: number;
  readonly message: string;
}

const fault = (code: number, message: string, id = "null"): RpcFault => ({ id, code, message });
export const isFault = (call: object): call is RpcFault => "code" in call;
const CALLS_MAX = 100;

interface RpcBody {
  readonly isBatch: boolean;
  readonly calls: readonly (RpcCall | RpcFault)[];
}

export async function readRpcBody(text: string, depthMax: number): Promise<RpcBody | RpcFault> {
  const isBatch = /^\s*\[/.test(text);
  let root: Part;
  try {
    const wanted = {
      levels: isBatch ? 2 : 1,
      items: CALLS_MAX,
      member: (name: string) => /^(?:jsonrpc|id|method|params)$/.test(name),
      duplicates: "wanted",
    } as const;
    root = await inSlices(findParts(text, wanted, depthMax));
  } catch (error) {
    return faultOf(error);
  }
  if (!root.items) return { isBatch: false, calls: [readCall(text, root)] };
  if (root.count === 0) return fault(CODES.invalidCall, "A batch must have at least one call");
  if (root.count > CALLS_MAX) {
    return fault(CODES.invalidCall, `A batch may have at most ${CALLS_MAX} calls`);
  }
  return { isBatch: true, calls: root.items.map((part) => readCall(text, part)) };
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
    return faultOf(error);
  }
}

function listOrObject(text: string, params: Part): string | RpcFault {
  const json = textOfPart(text, params);
  // Some clients send null instead of omitting the parameters.
  if (json === "null") return "[]";
  if (params.kind === "[" || params.kind === "{") return json;
  return fault(CODES.wrongParams, "The params of a call must be an array or an object");
}

function faultOf(error: unknown): RpcFault {
  if (!(error instanceof JsonSyntaxError)) throw error;
  return fault(CODES.noJson, `Invalid JSON: ${error.message}`);
}

export function writeRpcResponse(
  { id = "null", isJsonRpc1 = false }: Partial<Pick<RpcCall, "id" | "isJsonRpc1">>,
  response: { readonly result: string } | { readonly error: RpcError },
): string {
  const result = "result" in response ? response.result : "null";
  const error = "error" in response ? writeRpcError(response.error) : "null";
  if (isJsonRpc1) return `{"result":${result},"error":${error},"id":${id}}`;
  const member = "result" in response ? `"result":${result}` : `"error":${error}`;
  return `{"jsonrpc":"2.0",${member},"id":${id}}`;
}

function writeRpcError({ code = CODES.internal, message, data }: RpcError): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  return `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
}
