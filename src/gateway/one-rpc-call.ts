/**
 * Writes calls of JSON-RPC anew, and cuts the results out of their answers.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import { parseComparable } from "../json/lossless.ts";
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import type { NodeOperation, NodeParameter } from "../openapi/callable-operations.ts";
import { shorten } from "../untrusted-text.ts";
import { checkValue, placeOf, tellName } from "./check-value.ts";
import type { Decided } from "./decide-operations.ts";
import { WRONG_MAX, type WrongParameter } from "./parameters.ts";
import { DEPTH_MAX } from "./parse-rpc-body.ts";
import { decodeUtf8 } from "./request-body.ts";
import { CODES } from "./rpc-error-codes.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** How long what a node says of an error may be, in UTF-16 code units. */
const CODE_MAX = 32, MESSAGE_MAX = 1024, DATA_MAX = 16_384;

/**
 * The parameters of a call, each as JSON: by position or by name. Where nobody knows what a method takes, all of them
 * as they came.
 */
export type Params = readonly string[] | ReadonlyMap<string, string> | string;

/** What came of parameters: they can be sent if nothing is wrong. */
export interface CheckedParams {
  readonly params: Params;
  readonly wrong: readonly WrongParameter[];
}

/**
 * Holds parameters against what a method takes.
 *
 * @param given a list or an object as JSON, or each by its name
 * @param most how many wrong ones are told
 */
export function checkParams(
  { parameters }: NodeOperation,
  given: string | ReadonlyMap<string, string>,
  most: number = WRONG_MAX,
): CheckedParams {
  if (!parameters) return { params: given, wrong: [] };
  const wrong: WrongParameter[] = [];
  const refuse = (name: string, rule: string) => {
    if (wrong.length < most) wrong.push({ in: "body", name, rule });
  };
  const params = typeof given === "string" ? splitParams(parameters, given, refuse) : given;
  if (!params) return { params: [], wrong };
  for (const [at, { name, isRequired, rule }] of parameters.entries()) {
    if (wrong.length === most) break;
    const text = isNamed(params) ? params.get(name) : params[at];
    if (text === undefined || (text === "null" && !isRequired)) {
      if (isRequired) refuse(name, "is required");
      continue;
    }
    const fault = checkValue(rule, parseComparable(text));
    if (fault) refuse(placeOf(fault, name), fault.rule);
  }
  return { params, wrong };
}

/**
 * Takes parameters apart that are known: what is unknown is refused, and costs no memory.
 *
 * @returns `undefined` where there are too many
 */
function splitParams(
  parameters: readonly NodeParameter[],
  text: string,
  refuse: (name: string, rule: string) => void,
): readonly string[] | ReadonlyMap<string, string> | undefined {
  const known = new Set(parameters.map(({ name }) => name));
  const member = (name: string) => {
    const isKnown = known.has(name);
    if (!isKnown) refuse(tellName(name), "is not known");
    return isKnown;
  };
  const most = parameters.length;
  const { items, members, count } = readParts(text, { levels: 1, items: most, member }, DEPTH_MAX);
  if (items && count > most) {
    refuse("", `takes at most ${most} parameter${most === 1 ? "" : "s"}, got ${count}`);
    return undefined;
  }
  return items?.map((part) => textOfPart(text, part)) ??
    new Map([...members!].map(([name, part]) => [name, textOfPart(text, part)]));
}

/** What was decided of a call: its operation is heavy where a parameter makes it so. */
export function withCost(decided: Decided, params: Params): Decided {
  const { operation } = decided;
  if (typeof params === "string") return decided;
  const isHeavy = operation.parameters?.some(({ name, rule: { heavyFrom = Infinity } }, at) =>
    Number(isNamed(params) ? params.get(name) : params[at]) >= heavyFrom
  );
  return isHeavy ? { ...decided, operation: { ...operation, isHeavy } } : decided;
}

const isNamed = (params: Params): params is ReadonlyMap<string, string> => params instanceof Map;

/**
 * Writes a call.
 *
 * @param id ours
 * @param params by name become positions where the method wants these
 */
export function writeCall(
  { path, parameters = [], isByPosition }: NodeOperation,
  id: number,
  params: Params,
): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(path)}`;
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
  return isNone ? `${start}}` : `${start},"params":${text}}`;
}

/** The values at their positions: what is left out between others is null, at the end nothing. */
function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}

/** An error of a node. */
export interface RpcError {
  /** As it is written; `undefined` where it is no number. */
  readonly code: string | undefined;
  readonly message: string;
  /** As JSON; `undefined` where there is none, or too much. */
  readonly data: string | undefined;
}

/** What a node answers to a call: its result as JSON, or an error. */
export type RpcAnswer = { readonly result: string } | RpcError;

/**
 * Reads the answer to one call.
 *
 * @returns `undefined` where it is none, such as what is not whole or no UTF-8
 */
export function readRpcAnswer(
  { isWhole, parts }: Pick<UpstreamAnswer, "isWhole" | "parts">,
): RpcAnswer | undefined {
  const text = isWhole ? decodeUtf8(parts.length === 1 ? parts[0]! : joinBytes(parts)) : undefined;
  if (text === undefined) return undefined;
  const member = (name: string) => name === "error" || name === "result";
  let root: Part;
  try {
    root = readParts(text, { levels: 1, member }, DEPTH_MAX);
  } catch {
    return undefined;
  }
  const [error, result] = [root.members?.get("error"), root.members?.get("result")];
  const errorText = error && textOfPart(text, error);
  if (errorText !== undefined && errorText !== "null") return readError(errorText);
  return result && { result: textOfPart(text, result) };
}

/** Reads what JSON-RPC has in an error, section 5.1: other members may be a node's stack and its folders. */
function readError(text: string): RpcError {
  const { members } = readParts(text, { levels: 1, member: isOfError }, DEPTH_MAX);
  const read = (name: string, ...kinds: readonly Part["kind"][]) => {
    const part = members?.get(name);
    const isRight = part && (kinds.length === 0 || kinds.includes(part.kind));
    return isRight ? textOfPart(text, part) : undefined;
  };
  const [code, data] = [read("code", "number"), read("data")];
  // Some nodes of JSON-RPC 1 answer with a text.
  const message = text.startsWith('"')
    ? text
    : read("message", "string", "number") ?? '"The node answers with an error"';
  return {
    code: code !== undefined && code.length <= CODE_MAX ? code : undefined,
    message: shorten(message.startsWith('"') ? JSON.parse(message) : message, MESSAGE_MAX),
    data: data !== undefined && data.length <= DATA_MAX ? data : undefined,
  };
}

const isOfError = (name: string): boolean =>
  name === "code" || name === "message" || name === "data";

/** Writes the error of a node. */
export function writeError(
  { code = String(CODES.internal), message, data }: RpcError,
): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  return `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
}
