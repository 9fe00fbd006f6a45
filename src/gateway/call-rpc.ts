/**
 * Bodies of JSON-RPC, alone or in a batch: existing clients work by another URL.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import type { Status } from "../http/status.ts";
import { looksLikeBrowser } from "./browser-guard.ts";
import { type Call, type Core, isExpected, type Lookup } from "./core.ts";
import { jsonAnswer, NONSENSE } from "./json-answer.ts";
import type { WrongParameter } from "./parameters.ts";
import { decodeUtf8, readBody } from "./request-body.ts";
import { isFault, type RawCall, readRpcBody, type RpcFault } from "./rpc-body.ts";
import { checkParams, readRpcAnswer, writeCall } from "./rpc-call.ts";
import { CODES } from "./rpc-errors.ts";

/** Answers a body. */
export async function callRpc(core: Core, call: Call): Promise<Answer | Response> {
  const { head } = call;
  if (!core.mayCall(call, "open")) {
    return rpcRefusal(403, CODES.notAllowed, "Pages of other origins may not call the node");
  }
  const type = (head.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  // bitcoin-core of npm names no type; pages can do so as well.
  const isTyped = type === ""
    ? !looksLikeBrowser(head.headers)
    : /^application\/(?:json|json-rpc|jsonrequest)$/.test(type);
  if (!isTyped || head.headers.has("content-encoding")) {
    return rpcRefusal(415, -32600, "A call is application/json");
  }
  const request = await call.makeRequest();
  const bytes = await readBody(request);
  if ("status" in bytes) return rpcRefusal(bytes.status, -32600, bytes.detail);
  const text = decodeUtf8(bytes);
  const body = text === undefined
    ? { id: "null", code: -32700, message: "This is no text in UTF-8" }
    : readRpcBody(text);
  if (isFault(body)) return rpcAnswer(writeFault(body), body.code === -32700 ? 400 : 200);
  const { methods } = await core.lookUp();
  const answers: string[] = [];
  for (const one of body.calls) {
    const answered = isFault(one)
      ? writeFault(one)
      : await callOne(core, call, one, methods, request.signal);
    if (answered !== undefined) answers.push(answered);
  }
  if (answers.length === 0) {
    return { status: 204, headers: { "cache-control": "no-store" }, body: null };
  }
  return rpcAnswer(body.isBatch ? `[${answers.join(",")}]` : answers[0]!, 200);
}

/** One call of a body: its answer as JSON, with the caller's id; nothing for a notification. */
async function callOne(
  core: Core,
  call: Call,
  { id, method, params, isOld }: RawCall,
  methods: Lookup["methods"],
  gone: AbortSignal,
): Promise<string | undefined> {
  const { limit, onError, log } = core.options;
  const started = performance.now();
  const fail = (code: number, message: string, more?: string) =>
    id === undefined ? undefined : writeFault({ id, code, message }, more, isOld);
  const decided = methods.get(method);
  if (!decided) return fail(CODES.noMethod, "There is no such method here");
  const { operation, decision } = decided;
  const setting = (name: string) => JSON.stringify({ setting: name });
  if (decision.right === "refused") {
    return fail(
      CODES.notAllowed,
      `${method} is not forwarded: ${decision.reason}`,
      setting("forward"),
    );
  }
  if (decision.right === "token") {
    const right = await core.rightOf(call.head, decision);
    if (right !== "token") {
      return fail(
        CODES.wantsToken,
        `${method} needs the operator's token`,
        setting("forward.token_file"),
      );
    }
  }
  const wrong = checkParams(operation, params);
  if (wrong.length > 0) {
    const [{ name, rule }] = wrong as [WrongParameter];
    return fail(CODES.wrongParams, `${name} ${rule}`, JSON.stringify({ errors: wrong }));
  }
  let status = 200;
  let length = 0;
  try {
    const request = await core.rpcRequest(writeCall(operation, 1, params));
    const { answer, end } = await core.send(operation, decision.right, request, limit, gone);
    try {
      const read = answer.isWhole
        ? readRpcAnswer(new TextDecoder().decode(answer.start))
        : undefined;
      length = answer.start.byteLength;
      if (!read) return fail(CODES.notReached, NONSENSE);
      if (id === undefined) return undefined;
      return writeAnswer(id, read, isOld);
    } finally {
      end();
    }
  } catch (error) {
    if (!isExpected(error)) onError(error);
    const isLate = (error as Error).name === "TimeoutError";
    status = isLate ? 504 : 502;
    return isLate
      ? fail(CODES.tooLate, "The node gives no answer in time")
      : fail(CODES.notReached, "The node cannot be reached");
  } finally {
    const milliseconds = performance.now() - started;
    log({ operation: operation.name, status, milliseconds, bytes: length });
  }
}

const rpcAnswer = (text: string, status: Status): Answer => jsonAnswer(status, text);

const rpcRefusal = (status: Status, code: number, message: string): Answer =>
  jsonAnswer(status, writeFault({ id: "null", code, message }));

function writeFault({ id, code, message }: RpcFault, data?: string, isOld = false): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  const error = `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
  return writeAnswer(id, { error }, isOld);
}

/** An answer in the version of its call. */
function writeAnswer(
  id: string,
  answer: { readonly result: string } | { readonly error: string },
  isOld: boolean,
): string {
  if (isOld) {
    const { result, error } = { result: "null", error: "null", ...answer };
    return `{"result":${result},"error":${error},"id":${id}}`;
  }
  return "result" in answer
    ? `{"jsonrpc":"2.0","result":${answer.result},"id":${id}}`
    : `{"jsonrpc":"2.0","error":${answer.error},"id":${id}}`;
}
