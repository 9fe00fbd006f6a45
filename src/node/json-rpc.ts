/**
 * The JSON-RPC messages that the node gets and sends. Values are kept as JSON text, so that numbers
 * are forwarded unchanged.
 *
 * @module
 */
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
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
  noJson: -32700,
} as const;

/** The maximum nesting depth of what a node sends. Traces have two levels for each call. */
export const RESPONSE_DEPTH_MAX = 10_000;

/** The number of calls in a batch. */
export const CALLS_MAX = 1000;

/** All members are JSON text. Some nodes omit members that JSON-RPC requires. */
export interface RpcResponse {
  readonly id?: string | undefined;
  readonly result?: string | undefined;
  /** `undefined` if the node sends `null`: JSON-RPC 1 nodes send a null error with each result. */
  readonly error?: string | undefined;
  /** True if the response has the form of JSON-RPC 1. */
  readonly isJsonRpc1?: boolean;
}

/** If `wanted`, a response must not have two results; if `last`, the last one is used. */
export type Duplicates = "refused-if-wanted" | "last";

/**
 * Of a batch, reads at most `CALLS_MAX` responses, since a node may send many more than it was
 * asked for. What a result or an error holds is not checked here, since it is passed on or parsed
 * later.
 *
 * @throws {JsonSyntaxError} if the text is invalid around its results, or too deep
 */
export async function readRpcResponse(
  text: string,
  depthMax: number,
  duplicates: Duplicates,
): Promise<RpcResponse | RpcResponse[]> {
  const isBatch = isBatchText(text);
  const wanted = {
    levels: isBatch ? 2 : 1,
    items: CALLS_MAX,
    member: (name: string) => /^(?:jsonrpc|id|result|error)$/.test(name),
    duplicates,
    isPassedOn: true,
  };
  const root = await readParts(text, wanted, depthMax);
  return root.items?.map((part) => responseIn(text, part)) ?? responseIn(text, root);
}

/**
 * Counts the responses of a batch, of which nothing else is read.
 *
 * @throws {JsonSyntaxError} if the text is invalid around its responses, or too deep
 */
export async function countResponses(text: string, depthMax: number): Promise<number> {
  return (await readParts(text, { levels: 1, items: 0, isPassedOn: true }, depthMax)).count;
}

/** Reads a response whose members have been found. */
export function responseIn(text: string, { members }: Pick<Part, "members">): RpcResponse {
  const member = (name: string) => {
    const part = members?.get(name);
    return part && textOfPart(text, part);
  };
  const [result, error] = [member("result"), member("error")];
  return {
    id: member("id"),
    result,
    error: error === "null" ? undefined : error,
    isJsonRpc1: result !== undefined && error !== undefined && !members?.has("jsonrpc"),
  };
}

export const isBatchText = (text: string): boolean => /^\s*\[/.test(text);

export interface RpcError {
  /** The code as JSON text, or `undefined` if it is not a number. */
  readonly code?: string | undefined;
  /** The first 1000 characters of the message. */
  readonly message: string;
  /** The whole message as the JSON text of a string. */
  readonly messageJson: string;
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
  if (text.startsWith('"')) return { message: readStart(text), messageJson: text };
  const wanted = {
    levels: 1,
    member: (name: string) => /^(?:code|message|data)$/.test(name),
    duplicates: "last",
  } as const;
  const { members } = await readParts(text, wanted, Infinity);
  const read = (name: string, ...kinds: readonly Part["kind"][]) => {
    const part = members?.get(name);
    const isRight = part && (kinds.length === 0 || kinds.includes(part.kind));
    return isRight ? textOfPart(text, part) : undefined;
  };
  const message = read("message", "string", "number") ?? JSON.stringify(without);
  const messageJson = message.startsWith('"') ? message : JSON.stringify(message);
  const code = read("code", "number");
  return { code, message: readStart(messageJson), messageJson, data: read("data") };
}

const START = /^"(?:[^"\\]|\\(?:u[\da-f]{4}|[^u])){0,1000}/i;

/** Reads at most 1000 characters of a string that is JSON text, since a node chooses its length. */
const readStart = (json: string): string => JSON.parse(`${START.exec(json)![0]}"`);

/**
 * Nodes use different codes for an unknown method: EIP-1474 defines -32004, which Solana uses for a
 * different error, and Besu sends -32604. The words must be at the start of the message, since a
 * contract can revert with any words.
 */
const NO_METHOD = new RegExp(
  "^(?:error: )?(?:" +
    "(?:unknown|unsupported) (?:rpc )?method\\b|" +
    "(?:the )?(?:(?:json-?)?rpc )?method\\b[^:;\\n]{0,80}\\b" +
    // Proxies of the OP Stack say `whitelisted`.
    "(?:not (?:found|supported|enabled|available|implemented|exist|whitelisted)|unknown|" +
    // Nethermind, without the module of the method.
    "is found but the namespace)|" +
    // Besu's `net_peerCount`.
    "P2P has been disabled)",
  "i",
);

/** Tells whether an error means that the node lacks the called method. */
export function isNoMethod({ code, message }: Omit<RpcError, "messageJson">): boolean {
  return Number(code) === CODES.noMethod || NO_METHOD.test(message);
}

/** The JSON text of a result, or the failure of a call. */
export type RpcOutcome =
  & { readonly isJsonRpc1?: boolean | undefined }
  & ({ readonly result: string; readonly error?: undefined } | RpcFailure);

export interface RpcFailure {
  readonly error: SourceError;
  /** The error of the node; `undefined` if the node sent no JSON-RPC error. */
  readonly json?: string;
  /** What was thrown, if the call could not be sent or its response could not be read. */
  readonly reason?: unknown;
}

export async function outcomeOf(
  { result, error, isJsonRpc1 }: RpcResponse,
): Promise<RpcOutcome> {
  if (error === undefined) {
    return result === undefined ? { error: noResult() } : { result, isJsonRpc1 };
  }
  let read: RpcError;
  try {
    read = await readRpcError(error, "an error");
  } catch (reason) {
    if (!(reason instanceof JsonSyntaxError)) throw reason;
    return { error: notJson(error) };
  }
  const { code, message } = read;
  const words = `${excerpt(message, 80)} (${excerpt(code ?? "no code", 20)})`;
  const failure = new SourceError("bad_answer", `responded with an error: ${words}`, {
    number: code === undefined ? undefined : Number(code),
    isAbsent: isNoMethod({ code, message }),
    isQuoting: true,
  });
  return { error: failure, json: error, isJsonRpc1 };
}

const noResult = () =>
  new SourceError("bad_answer", "sent a response without a JSON-RPC result", { isOtherKind: true });
