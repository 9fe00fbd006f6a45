/**
 * Writes calls of JSON-RPC anew, and cuts the results out of their answers.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import { parseJson } from "../json/lossless.ts";
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { objectOf, textOf } from "../json/values.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { shorten } from "../untrusted-text.ts";
import { checkValue } from "./check-value.ts";
import type { Decided } from "./decide-operations.ts";
import type { WrongParameter } from "./parameters.ts";
import { decodeUtf8 } from "./request-body.ts";
import type { RawParams } from "./parse-rpc-body.ts";
import { DEPTH_MAX } from "./parse-rpc-body.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** How long what a node says of an error may be, in UTF-16 code units. */
const MESSAGE_MAX = 1024, DATA_MAX = 16_384;

/**
 * Holds parameters against what a method takes.
 *
 * @returns what is wrong; none where nothing is, or where nobody knows the parameters
 */
export function checkParams({ parameters }: NodeOperation, params: RawParams): WrongParameter[] {
  if (!parameters) return [];
  const wrong: WrongParameter[] = [];
  const refuse = (name: string, rule: string) => wrong.push({ in: "body", name, rule });
  const given = new Map<string, string>();
  if (isNamed(params)) {
    const known = new Set(parameters.map(({ name }) => name));
    for (const [name, text] of params) {
      if (known.has(name)) given.set(name, text);
      else refuse(shorten(name, 100), "is not known");
    }
  } else {
    for (const [at, text] of params.entries()) {
      const parameter = parameters[at];
      if (parameter) given.set(parameter.name, text);
      else refuse(String(at), `is one too many: there are ${parameters.length}`);
    }
  }
  for (const { name, isRequired, rule } of parameters) {
    const text = given.get(name);
    if (text === undefined || (text === "null" && !isRequired)) {
      if (isRequired) refuse(name, "is required");
      continue;
    }
    const fault = checkValue(rule, parseJson(text));
    if (fault) refuse([name, ...fault.path].join("."), fault.rule);
  }
  return wrong;
}

/** What was decided of a call: its operation is heavy where a parameter makes it so. */
export function withCost(decided: Decided, params: RawParams): Decided {
  const { operation } = decided;
  const isHeavy = operation.parameters?.some(({ name, rule: { heavyFrom = Infinity } }, at) =>
    Number(isNamed(params) ? params.get(name) : params[at]) >= heavyFrom
  );
  return isHeavy ? { ...decided, operation: { ...operation, isHeavy } } : decided;
}

/** Whether parameters are given by name. */
export const isNamed = (params: RawParams): params is ReadonlyMap<string, string> =>
  !Array.isArray(params);

/**
 * Writes a call.
 *
 * @param id ours
 * @param params as JSON each; by name they become positions where the method wants these
 */
export function writeCall(
  { path, parameters = [], isByPosition }: NodeOperation,
  id: number,
  params: RawParams,
): string {
  const start = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(path)}`;
  // Nobody knows then whether the method wants a list or an object.
  if (isNamed(params) && params.size === 0) return `${start}}`;
  const list = !isNamed(params)
    ? params
    : isByPosition
    ? inPlaces(parameters.map(({ name }) => params.get(name)))
    : undefined;
  const text = list
    ? `[${list.join(",")}]`
    : `{${
      [...params as ReadonlyMap<string, string>].map(([name, text]) =>
        `${JSON.stringify(name)}:${text}`
      ).join(",")
    }}`;
  return `${start},"params":${text}}`;
}

/** The values at their positions: what is left out between others is null, at the end nothing. */
function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}

/** What a node answers to a call: its result as JSON, or an error. */
export type RpcAnswer =
  | { readonly result: string }
  | {
    readonly code: number | undefined;
    readonly message: string;
    /** As JSON; `undefined` where there is none, or too much. */
    readonly data: string | undefined;
    /** The whole error as it came, as JSON. */
    readonly error: string;
  };

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
  let root: Part;
  try {
    root = readParts(text, 1, DEPTH_MAX);
  } catch {
    return undefined;
  }
  const [error, result] = [root.members?.get("error"), root.members?.get("result")];
  const errorText = error && textOfPart(text, error);
  if (errorText !== undefined && errorText !== "null") return readError(errorText);
  return result && { result: textOfPart(text, result) };
}

function readError(text: string): RpcAnswer {
  const { code, message } = objectOf(parseJson(text));
  const data = readParts(text, 1, DEPTH_MAX).members?.get("data");
  const dataText = data && textOfPart(text, data);
  return {
    code: typeof code === "number" ? code : undefined,
    message: shorten(textOf(message) ?? "The node answers with an error", MESSAGE_MAX),
    data: dataText !== undefined && dataText.length <= DATA_MAX ? dataText : undefined,
    error: text,
  };
}
