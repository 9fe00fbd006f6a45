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

/** A call as it came. */
export interface RawCall {
  /** As JSON; `undefined` of a notification, which gets no answer. */
  readonly id: string | undefined;
  readonly method: string;
  /** A list or an object, as JSON. */
  readonly params: string;
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
  const isOld = version === undefined || textOfPart(text, version) !== '"2.0"';
  return { id, method, params, isOld };
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
  return fault(CODES.noJson, `This is no JSON that is read here: ${error.message}`);
}
