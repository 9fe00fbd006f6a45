/**
 * Reads what a client of JSON-RPC sends: one call, or a batch (JSON-RPC 2.0, sections 4 and 6).
 *
 * @module
 */
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { CODES } from "./rpc-error-codes.ts";

/** How many levels a body may have. */
export const DEPTH_MAX = 64;

/** How many calls a batch may have. */
export const CALLS_MAX = 100;

/** The parameters of a call, each as JSON. */
export type RawParams = readonly string[] | ReadonlyMap<string, string>;

/** A call as it came. */
export interface RawCall {
  /** As JSON; `undefined` of a notification, which gets no answer. */
  readonly id: string | undefined;
  readonly method: string;
  readonly params: RawParams;
  /** Whether it is of JSON-RPC 1, whose answers have both `result` and `error`: bitcoin-core of npm wants that. */
  readonly isOld: boolean;
}

/** What is wrong with a call, or with all of them. */
export interface RpcFault {
  /** As JSON. */
  readonly id: string;
  readonly code: number;
  readonly message: string;
}

/** What came of a body. */
export type RpcBody =
  | { readonly isBatch: boolean; readonly calls: readonly (RawCall | RpcFault)[] }
  | RpcFault;

const fault = (code: number, message: string, id = "null"): RpcFault => ({ id, code, message });

/** Whether something is a call that is wrong, and no call. */
export const isFault = (call: object): call is RpcFault => "code" in call;

/** Reads a body. */
export function readRpcBody(text: string): RpcBody {
  let root: Part;
  try {
    root = readParts(text, 4, DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return fault(CODES.noJson, `This is no JSON that is read here: ${error.message}`);
  }
  if (!root.items) return { isBatch: false, calls: [readCall(text, root)] };
  if (root.items.length === 0) return fault(CODES.invalidCall, "A batch has at least one call");
  if (root.items.length > CALLS_MAX) {
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
  if (isFault(params)) return { ...params, id: id ?? "null" };
  const version = members.get("jsonrpc");
  const isOld = version === undefined || textOfPart(text, version) !== '"2.0"';
  return { id, method, params, isOld };
}

/** Reads parameters that stand alone. */
export function readParams(text: string): RawParams | RpcFault {
  try {
    return paramsOf(text, readParts(text, 1, DEPTH_MAX));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return fault(CODES.noJson, `This is no JSON that is read here: ${error.message}`);
  }
}

function paramsOf(text: string, params: Part | undefined): RawParams | RpcFault {
  if (params?.items) return params.items.map((part) => textOfPart(text, part));
  if (params?.members) {
    return new Map([...params.members].map(([name, part]) => [name, textOfPart(text, part)]));
  }
  // Some clients write null for none.
  if (!params || textOfPart(text, params) === "null") return [];
  return fault(CODES.wrongParams, "The parameters of a call are a list or an object");
}
