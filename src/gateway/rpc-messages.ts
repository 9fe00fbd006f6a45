/**
 * JSON-RPC as clients send it, one call or a batch (JSON-RPC 2.0, sections 4 and 6), and how their calls go to the node.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import type { Status } from "../http/response.ts";
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { readRpcError, readRpcResponse, type RpcError, writeCall } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { DEPTH_MAX, isNamed, type Params } from "./check.ts";
import { decodeUtf8 } from "./call.ts";
import type { UpstreamResponse } from "./lease.ts";
import { CODES } from "./response.ts";

/** The most calls in a batch. */
const CALLS_MAX = 100;

/** A call as it came. */
export interface RawCall {
  /** As JSON; `undefined` of a notification, which gets no response. */
  readonly id: string | undefined;
  readonly method: string;
  /** A list or an object, as JSON. */
  readonly params: string;
  /** Responses of JSON-RPC 1 have both `result` and `error`: bitcoin-core of npm wants that. */
  readonly isJsonRpc1: boolean;
}

/** The mistake in a call, or in all of them. */
export interface RpcFault {
  /** As JSON. */
  readonly id: string;
  readonly code: number;
  readonly message: string;
}

/** The calls of a body, or what is wrong with all of it. */
export type RpcBody =
  | { readonly isBatch: boolean; readonly calls: readonly (RawCall | RpcFault)[] }
  | RpcFault;

const fault = (code: number, message: string, id = "null"): RpcFault => ({ id, code, message });

/** Tells a mistake from a call. */
export const isFault = (call: object): call is RpcFault => "code" in call;

/** The members of a call that are read; others are ignored. */
const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

/** Reads a body. */
export function readRpcBody(text: string): RpcBody {
  const isBatch = /^\s*\[/.test(text);
  let root: Part;
  try {
    root = readParts(text, {
      levels: isBatch ? 2 : 1,
      items: CALLS_MAX,
      member: (name) => MEMBERS.has(name),
    }, DEPTH_MAX);
  } catch (error) {
    return faultOf(error);
  }
  if (!root.items) return { isBatch: false, calls: [readCall(text, root)] };
  if (root.count === 0) return fault(CODES.invalidCall, "A batch has at least one call");
  if (root.count > CALLS_MAX) {
    return fault(CODES.invalidCall, `A batch has at most ${CALLS_MAX} calls`);
  }
  return { isBatch: true, calls: root.items.map((part) => readCall(text, part)) };
}

function readCall(text: string, { members }: Part): RawCall | RpcFault {
  if (!members) return fault(CODES.invalidCall, "A call is an object");
  const idPart = members.get("id");
  const id = idPart && textOfPart(text, idPart);
  if (idPart && (idPart.kind === "{" || idPart.kind === "[" || id === "true" || id === "false")) {
    return fault(CODES.invalidCall, "The id of a call is a text or a number");
  }
  const methodPart = members.get("method");
  if (methodPart?.kind !== "string") {
    return fault(CODES.invalidCall, "A call has the name of a method", id);
  }
  const method = JSON.parse(textOfPart(text, methodPart)) as string;
  const params = paramsOf(text, members.get("params"));
  if (typeof params !== "string") return { ...params, id: id ?? "null" };
  const version = members.get("jsonrpc");
  const isJsonRpc1 = version === undefined || textOfPart(text, version) !== '"2.0"';
  return { id, method, params, isJsonRpc1 };
}

/** Reads parameters that stand alone: a list or an object, as JSON. */
export function readParams(text: string): string | RpcFault {
  try {
    return paramsOf(text, readParts(text, { levels: 0 }, DEPTH_MAX));
  } catch (error) {
    return faultOf(error);
  }
}

function paramsOf(text: string, params: Part | undefined): string | RpcFault {
  // Some clients write null for none.
  const json = params ? textOfPart(text, params) : "null";
  if (json === "null") return "[]";
  if (params!.kind === "[" || params!.kind === "{") return json;
  return fault(CODES.wrongParams, "The parameters of a call are a list or an object");
}

/** @throws what is no error of JSON */
function faultOf(error: unknown): RpcFault {
  if (!(error instanceof JsonSyntaxError)) throw error;
  return fault(CODES.noJson, `Invalid JSON: ${error.message}`);
}

/** Tells whether a call is heavy: its operation is, or a parameter makes it so. */
export function isHeavyCall({ isHeavy, parameters }: NodeOperation, params: Params): boolean {
  if (isHeavy || typeof params === "string") return isHeavy;
  return parameters?.some(({ name, rule: { heavyFrom = Infinity } }, at) =>
    Number(isNamed(params) ? params.get(name) : params[at]) >= heavyFrom
  ) ?? false;
}

/**
 * Writes a call for the node.
 *
 * @param params by name become positions where the method wants these
 */
export function writeNodeCall(
  { path: methodName, parameters = [], isByPosition }: NodeOperation,
  params: Params,
): string {
  const text = typeof params === "string"
    ? params
    : !isNamed(params)
    ? `[${params.join(",")}]`
    : isByPosition
    ? `[${inPlaces(parameters.map(({ name }) => params.get(name))).join(",")}]`
    : `{${[...params].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
  // Nobody knows then whether the method wants a list or an object.
  const isNone = typeof params === "string"
    ? /^\{\s*\}$/.test(params)
    : isNamed(params) && params.size === 0;
  return writeCall(methodName, 1, isNone ? undefined : text);
}

/** The values at their positions: what is left out between others is null, at the end nothing. */
function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}

/**
 * Reads the node's response to one call.
 *
 * @returns its result as JSON, or the error; `undefined` where it is neither, such as what is not whole or no UTF-8
 */
export function readNodeResponse(
  { isWhole, parts }: Pick<UpstreamResponse, "isWhole" | "parts">,
): { readonly result: string } | RpcError | undefined {
  const text = isWhole ? decodeUtf8(parts.length === 1 ? parts[0]! : joinBytes(parts)) : undefined;
  if (text === undefined) return undefined;
  try {
    const response = readRpcResponse(text, DEPTH_MAX);
    if (Array.isArray(response)) return undefined;
    const { result, error } = response;
    if (error !== undefined) return readRpcError(error, DEPTH_MAX);
    return result === undefined ? undefined : { result };
  } catch {
    return undefined;
  }
}

/** With the code -32004 of EIP-1474, which Solana has for a block that is not available; so the words decide. */
const NOT_SUPPORTED = /^(?:the )?(?:json-?rpc )?method\b[^]{0,80}\bnot (?:found|supported|exist)/i;

/** Tells whether a node says that it has no such method. */
export function isNoMethod({ code, message }: RpcError): boolean {
  return Number(code) === CODES.noMethod || NOT_SUPPORTED.test(message);
}

/** Writes the error of a node. */
export function writeError({ code = String(CODES.internal), message, data }: RpcError): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  return `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
}

/** Writes a response in the version of its call; its members are JSON. */
export function writeResponse(
  { id = "null", isJsonRpc1 = false }: Partial<Pick<RawCall, "id" | "isJsonRpc1">>,
  response: { readonly result: string } | { readonly error: string },
): string {
  if (isJsonRpc1) {
    const { result, error } = { result: "null", error: "null", ...response };
    return `{"result":${result},"error":${error},"id":${id}}`;
  }
  return "result" in response
    ? `{"jsonrpc":"2.0","result":${response.result},"id":${id}}`
    : `{"jsonrpc":"2.0","error":${response.error},"id":${id}}`;
}

/** Bitcoin's code for a node that is starting. */
const WARMING_UP = -28;

/** The status for an error of the node, by its code as it is written. */
export function statusOf(digits: string | undefined): Status {
  const code = Number(digits);
  if (code === CODES.wrongParams) return 400;
  if (code === CODES.noMethod) return 404;
  return code === WARMING_UP ? 503 : 422;
}
