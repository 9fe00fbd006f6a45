/**
 * JSON-RPC 2.0 over HTTP: all calls in one batch where the node takes one, singly where not.
 *
 * @module
 */
import type { JsonRpcSource } from "../../kinds/kind.ts";
import { readAnswer, type SourceAnswer } from "../bound-answer.ts";
import { formatJson } from "../../json/lossless.ts";
import { isObject, objectOf, textOf } from "../../json/values.ts";
import { excerpt, startOf } from "../../untrusted-text.ts";
import { type HttpContext, type RequestLimits, requestText } from "./http-request.ts";
import { failureOfStatus, SourceError } from "./source-error.ts";

/** What a call gave, or why it gave nothing. */
export type CallOutcome = { answer: SourceAnswer } | { error: SourceError };

/** Calls methods of one endpoint, which remembers whether it takes batches. */
export type Endpoint = (
  calls: readonly JsonRpcSource[],
  limits: RequestLimits,
  context: HttpContext,
) => Promise<CallOutcome[]>;

/** Makes what calls the methods behind one URL. */
export function createEndpoint(url: string): Endpoint {
  let takesBatches = true;

  const post = async (body: unknown, limits: RequestLimits, context: HttpContext) => {
    const { status, text } = await requestText({
      ...limits,
      url,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: formatJson(body),
    }, context);
    // Errors come with statuses of their own from some nodes; the body says more.
    if (status > 299 && !/^\s*[[{]/.test(text)) throw failureOfStatus(status);
    const answer = readAnswer(text);
    if (status > 299 && !Array.isArray(answer.value) && !isObject(objectOf(answer.value).error)) {
      throw failureOfStatus(status);
    }
    return answer;
  };

  const callOne = async (call: JsonRpcSource, limits: RequestLimits, context: HttpContext) => {
    try {
      return outcomeOf(call, await post(requestOf(call, 1), limits, context));
    } catch (error) {
      return failed(error);
    }
  };

  return async (calls, limits, context) => {
    if (calls.length <= 1 || !takesBatches) {
      return await Promise.all(calls.map((call) => callOne(call, limits, context)));
    }
    try {
      const answer = await post(calls.map(requestOf), limits, context);
      const { value } = answer;
      if (Array.isArray(value) && calls.some((_, id) => indexOf(value, id) >= 0)) {
        // Of what was left out only the first few are named: a result may be among the others.
        const isPartial = answer.leftOut.length > 0;
        return calls.map((call, id) => outcomeOf(call, partOf(answer, id), isPartial));
      }
    } catch (error) {
      // Only an answer can mean that the node takes no batches.
      const isRefusal = error instanceof SourceError && error.code === "bad_answer";
      if (!isRefusal) return calls.map(() => failed(error));
    }
    const outcomes = await Promise.all(calls.map((call) => callOne(call, limits, context)));
    // A node that is starting refuses single calls as well.
    takesBatches = !outcomes.some((outcome) => "answer" in outcome);
    return outcomes;
  };
}

function requestOf({ jsonrpc: method, params = [] }: JsonRpcSource, id: number) {
  return { jsonrpc: "2.0", id, method, params };
}

function indexOf(answers: readonly unknown[], id: number): number {
  return answers.findIndex((answer) => isObject(answer) && answer.id === id);
}

/** The answer to one call of a batch. */
function partOf({ value, leftOut }: SourceAnswer, id: number): SourceAnswer {
  const answers = value as unknown[];
  const index = indexOf(answers, id);
  const name = `/${index}`;
  return {
    value: answers[index],
    leftOut: leftOut.filter((out) => out.startsWith(`${name}/`)).map((out) =>
      out.slice(name.length)
    ),
  };
}

/** Not every node writes the members that JSON-RPC 2.0 asks for; these two are enough. */
function outcomeOf(
  { keep_errors: keepErrors }: JsonRpcSource,
  answer: SourceAnswer,
  isPartial: boolean = answer.leftOut.length > 0,
): CallOutcome {
  const { result, error } = objectOf(answer.value);
  if (error) {
    const failure = sourceErrorOf(error);
    const isKept = keepErrors && !failure.isAbsent;
    return isKept ? { answer: { value: { error }, leftOut: answer.leftOut } } : { error: failure };
  }
  const leftOut = answer.leftOut.filter((out) => RESULT.test(out))
    .map((out) => out.replace(RESULT, "").replace(/^:/, "the answer:"));
  if (result === undefined && !isPartial) {
    const message = "gives no result in JSON-RPC";
    return { error: new SourceError("bad_answer", message, { isForeign: true }) };
  }
  return { answer: { value: keepErrors ? { result } : result, leftOut } };
}

/** The result, or a part of it, at the start of what names a place. */
const RESULT = /^\/result(?![^/: ])/;

/** JSON-RPC's code for a method that is not there. */
const NO_METHOD = -32601;

/** Words for it beside other codes: -32604 of Besu, -32004 of EIP-1474 (which is another thing on Solana). */
const NO_METHOD_WORDS =
  /\bmethod\b.{0,80}\b(?:not (?:found|supported|enabled|available|implemented)|does not exist|unknown)|\bunknown method/i;

function sourceErrorOf(error: unknown): SourceError {
  const { code, message } = objectOf(error);
  const said = startOf(textOf(message) ?? textOf(error) ?? "an error", 1024);
  const number = typeof code === "number" ? code : undefined;
  const words = `${excerpt(said, 80)} (${excerpt(textOf(code) ?? "no code", 20)})`;
  return new SourceError("bad_answer", `answers: ${words}`, {
    number,
    isAbsent: number === NO_METHOD || NO_METHOD_WORDS.test(said),
  });
}

function failed(error: unknown): CallOutcome {
  if (error instanceof SourceError) return { error };
  throw error;
}
