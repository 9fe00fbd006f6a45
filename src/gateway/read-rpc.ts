/**
 * Reads the JSON-RPC calls that clients send. Values are kept as JSON text, so that numbers are
 * forwarded unchanged.
 *
 * @module
 */
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { CALLS_MAX, CODES, isBatchText } from "../node/json-rpc.ts";
import { decodeUtf8 } from "../utf8.ts";
import type { UnreadCall } from "./call.ts";
import { CALL_DEPTH_MAX, JSON_MAX, refuseEncoded } from "./content.ts";
import { readPlainBatch } from "./plain-batch.ts";

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
export interface UnreadableCall {
  readonly id: string;
  readonly code: number;
  readonly message: string;
  /** The HTTP status, if the whole body cannot be read. */
  readonly status?: number;
}

const fault = (code: number, message: string, id = "null"): UnreadableCall => ({
  id,
  code,
  message,
});

export const isFault = (call: object): call is UnreadableCall => "code" in call;

/** The body of a request that cannot be read. */
const wholeFault = (message: string): RpcBody => ({
  isBatch: false,
  calls: [{ ...fault(CODES.noJson, message), status: 400 }],
});

/** The number of calls in a batch up to which each call of a batch that is too long is refused. */
const REFUSED_MAX = 2000;

export interface RpcBody {
  /** The text of a batch that has nothing that we would not write ourselves, but for its ids. */
  readonly verbatim?: string | undefined;
  readonly isBatch: boolean;
  readonly calls: readonly (RpcCall | UnreadableCall)[];
}

/**
 * Content of any type is taken, since many nodes take what `curl -d` sends. A page of another
 * origin is refused whatever it sends: see `guard.ts`.
 */
export async function readCalls(call: UnreadCall, sizeMax: number = JSON_MAX): Promise<RpcBody> {
  refuseEncoded(call.request);
  const { bytes } = await call.content.read(call.lease.requestBytes, "any", sizeMax);
  if (!bytes) return wholeFault("The body is empty");
  const text = decodeUtf8(bytes);
  return text === undefined ? wholeFault("The body is not UTF-8") : await readRpcBody(text);
}

export async function readRpcBody(text: string): Promise<RpcBody> {
  const plain = isBatchText(text) ? readPlainBatch(text) : undefined;
  if (plain) return { isBatch: true, calls: plain, verbatim: text };
  let root: Part;
  try {
    const wanted = {
      levels: isBatchText(text) ? 2 : 1,
      items: REFUSED_MAX,
      member: (name: string) => /^(?:jsonrpc|id|method|params)$/.test(name),
      duplicates: "refused-if-wanted",
    } as const;
    root = await readParts(text, wanted, CALL_DEPTH_MAX);
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

function readCall(text: string, { members }: Part): RpcCall | UnreadableCall {
  if (!members) return fault(CODES.invalidCall, "A call must be an object");
  const version = members.get("jsonrpc");
  const isJsonRpc1 = version === undefined || textOfPart(text, version) !== '"2.0"';
  const idPart = members.get("id");
  // Nodes respond to a call of JSON-RPC 1 without an id, as people write by hand.
  const id = idPart ? textOfPart(text, idPart) : isJsonRpc1 ? "null" : undefined;
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
  return { id, method, params, isJsonRpc1 };
}

export async function readRpcParams(text: string): Promise<string | UnreadableCall> {
  try {
    const wanted = { levels: 0, duplicates: "last" } as const;
    return listOrObject(text, await readParts(text, wanted, CALL_DEPTH_MAX));
  } catch (error) {
    return fault(CODES.noJson, messageOf(error));
  }
}

function listOrObject(text: string, params: Part): string | UnreadableCall {
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
