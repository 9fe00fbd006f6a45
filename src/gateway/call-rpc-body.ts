/**
 * Bodies of JSON-RPC, alone or in a batch: existing clients work by another URL.
 *
 * @module
 */
import { FastResponse } from "../platform.ts";
import { REASONS, type Status } from "../http/problem-details.ts";
import { looksLikeBrowser } from "./browser-guard.ts";
import { BUSY, busyNode, hasTokenInQuery, TOKEN_IN_QUERY, TOKEN_UNKNOWN } from "./call-refusals.ts";
import type { Room } from "./bytes-under-way.ts";
import { describeFailure, STATUS_GONE } from "./call-failures.ts";
import { type Call, type Core, goneOf } from "./every-call.ts";
import type { Decided } from "./decide-operations.ts";
import { isBusy, jsonResponse, nodeResponse, NONSENSE } from "./make-json-answer.ts";
import { NoPlace } from "./call-slots.ts";
import { decodeUtf8, readContent } from "./request-body.ts";
import { isFault, type RawCall, readRpcBody, type RpcFault } from "./parse-rpc-body.ts";
import {
  checkParams,
  type Params,
  readRpcAnswer,
  withCost,
  writeCall,
  writeError,
} from "./one-rpc-call.ts";
import { WRONG_MAX } from "./parameters.ts";
import { CODES } from "./rpc-error-codes.ts";
import { inTurn } from "./take-turns.ts";
import type { UpstreamAnswer } from "./upstream.ts";
import type { RequestContent } from "../node/http1.ts";
import type { Signal } from "../with-timeout.ts";

/** The types of a body, of which no form of a page is one. */
const TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

/** A call that may go to the node. */
interface Ready extends Pick<RawCall, "id" | "isOld"> {
  readonly params: Params;
  readonly decided: Decided;
}

/** How calls are sent, and what lets go of their answers. */
interface Sending {
  readonly gone: Signal;
  readonly send: (decided: Decided, request: RequestContent) => Promise<UpstreamAnswer>;
  /** Gives back the place. */
  readonly free: () => void;
  readonly end: () => void;
}

/** Answers a body. */
export async function callRpc(core: Core, call: Call, room: Room): Promise<Response> {
  const { request, query } = call;
  if (!core.mayCall(call, "open")) {
    return rpcRefusal(403, CODES.notAllowed, "Pages of other origins may not call the node");
  }
  if (hasTokenInQuery(query)) return rpcRefusal(400, CODES.invalidCall, TOKEN_IN_QUERY);
  if (request.headers.has("upgrade")) {
    return rpcRefusal(400, CODES.invalidCall, "Connections are not upgraded");
  }
  // bitcoin-core of npm names no type; pages can do so as well.
  const types = looksLikeBrowser(request.headers) ? TYPES : [...TYPES, ""];
  const purpose = await core.hasToken(request) ? "token" : "body";
  const content = await readContent(call, types, (bytes) => room.set(bytes, purpose));
  if ("status" in content) {
    const { status, detail, headers } = content;
    return rpcRefusal(
      status,
      status === 503 ? CODES.busy : CODES.invalidCall,
      status === 415 ? "A call is application/json" : detail,
      headers,
    );
  }
  if (!content.bytes) {
    return rpcRefusal(415, CODES.invalidCall, "A call is application/json");
  }
  const text = decodeUtf8(content.bytes);
  const body = text === undefined
    ? { id: "null", code: CODES.noJson, message: "This is no text in UTF-8" }
    : await inTurn(text.length, () => readRpcBody(text));
  if (isFault(body)) return jsonResponse(body.code === CODES.noJson ? 400 : 200, writeFault(body));
  const judged: (Ready | string | undefined)[] = [];
  // All calls of a batch share what is told of one.
  const most = Math.max(1, Math.floor(WRONG_MAX / body.calls.length));
  for (const one of body.calls) {
    judged.push(isFault(one) ? writeFault(one) : await judge(core, call, one, most));
  }
  try {
    const { texts, end } = await answerAll(core, call, judged, body.isBatch);
    const answers = texts.filter((text) => text !== undefined);
    if (answers.length === 0) {
      end();
      return new FastResponse(null, {
        status: 204,
        statusText: REASONS[204],
        headers: new Headers({ "cache-control": "no-store" }),
      });
    }
    return nodeResponse(body.isBatch ? `[${answers.join(",")}]` : answers[0]!, end, request)
      .response;
  } catch (error) {
    if (!(error instanceof NoPlace)) throw error;
    return rpcRefusal(503, CODES.busy, BUSY, { "retry-after": "5" });
  }
}

/** Whether a call may go to the node; the answer where it may not, and none for a notification. */
async function judge(
  core: Core,
  call: Call,
  { id, method, params: given, isOld }: RawCall,
  most: number,
): Promise<Ready | string | undefined> {
  const fail = (code: number, message: string, data?: object) =>
    id === undefined ? undefined : writeFault({ id, code, message }, JSON.stringify(data), isOld);
  const decided = (await core.lookUp()).methods.get(method);
  if (!decided) return fail(CODES.noMethod, "There is no such method here");
  const { operation, decision } = decided;
  if (decision.right === "refused") {
    const message = `${method} is not forwarded: ${decision.reason}`;
    return fail(CODES.notAllowed, message, { setting: "forward" });
  }
  if (!core.mayCall(call, decision.right)) {
    const message = `Pages of other origins may not call ${method}`;
    return fail(CODES.notAllowed, message, { setting: "forward.origins" });
  }
  const right = await core.rightOf(call.request, decision);
  if (right === "unknown") {
    return fail(CODES.wantsToken, TOKEN_UNKNOWN, { setting: "forward.token_file" });
  }
  if (right === "refused") {
    const message = `${method} needs the operator's token`;
    return fail(CODES.wantsToken, message, { setting: "forward.token_file" });
  }
  const { params, wrong: errors } = await inTurn(
    given.length,
    () => checkParams(operation, given, most),
  );
  const [wrong] = errors;
  if (wrong) {
    return fail(CODES.wrongParams, `${wrong.name || method} ${wrong.rule}`, { errors });
  }
  return { id, params, isOld, decided: withCost(decided, params) };
}

/** The answers to calls as JSON, in their order; their bytes count until `end`. */
interface Answered {
  readonly texts: readonly (string | undefined)[];
  readonly end: () => void;
}

/**
 * Answers calls. A batch has one place for all of them, and goes on as one call after the other: no kind says
 * which of its nodes and versions take batches, and where a connection breaks, only the call on it is in doubt.
 *
 * @throws {NoPlace} if there is no place
 */
async function answerAll(
  core: Core,
  call: Call,
  judged: readonly (Ready | string | undefined)[],
  isBatch: boolean,
): Promise<Answered> {
  const ready = judged.filter((one) => typeof one === "object");
  if (ready.length === 0) return { texts: judged as (string | undefined)[], end() {} };
  const gone = goneOf(call);
  const sending = isBatch ? await sendTogether(core, ready, gone) : sendAlone(core, gone);
  try {
    const texts: (string | undefined)[] = [];
    for (const one of judged) {
      texts.push(typeof one === "object" ? await answerOne(core, one, sending) : one);
    }
    sending.free();
    return { texts, end: sending.end };
  } catch (error) {
    sending.end();
    throw error;
  }
}

function sendAlone({ options, send }: Core, gone: Signal): Sending {
  let end = () => {};
  return {
    gone,
    async send(decided, request) {
      const sent = await send(decided, request, options.limit, gone);
      ({ end } = sent);
      return sent.answer;
    },
    // The place of one call is given back with its answer.
    free() {},
    end: () => end(),
  };
}

/** @throws {NoPlace} if there is no place */
async function sendTogether(
  { options, leases }: Core,
  ready: readonly Ready[],
  gone: Signal,
): Promise<Sending> {
  const isWithToken = ready.some(({ decided }) => decided.decision.right === "token");
  const isHeavy = ready.some(({ decided }) => decided.operation.isHeavy);
  const lease = await leases.begin(isWithToken ? "token" : "open", isHeavy, gone);
  return {
    ...{ gone, free: lease.free, end: lease.end },
    send: ({ operation }, request) => lease.send(request, operation, options.limit),
  };
}

/**
 * One call: its answer as JSON, with the caller's id; nothing for a notification.
 *
 * @throws {NoPlace} if there is no place
 */
async function answerOne(
  core: Core,
  { id, params, isOld, decided }: Ready,
  { gone, send }: Sending,
): Promise<string | undefined> {
  const { operation } = decided;
  const { log, timeout } = core.options;
  const started = performance.now();
  let status = 200;
  let bytes = 0;
  const fail = (failed: number, message: string) => {
    status = gone.aborted ? STATUS_GONE : failed;
    const code = failed === 504 ? CODES.tooLate : failed === 503 ? CODES.busy : CODES.notReached;
    return id === undefined ? undefined : writeFault({ id, code, message }, undefined, isOld);
  };
  try {
    const request = await core.rpcRequest(writeCall(operation, 1, params));
    const answer = await send(decided, request);
    const read = readRpcAnswer(answer);
    bytes = answer.size;
    if (!read) return isBusy(answer) ? fail(503, busyNode(answer)) : fail(502, NONSENSE);
    if (id === undefined) return undefined;
    return writeAnswer(id, "result" in read ? read : { error: writeError(read) }, isOld);
  } catch (error) {
    if (error instanceof NoPlace) {
      status = gone.aborted ? STATUS_GONE : 503;
      throw error;
    }
    const failure = describeFailure(error, operation.access === "read", timeout);
    return fail(failure.status, failure.detail);
  } finally {
    log({ operation: operation.name, status, milliseconds: performance.now() - started, bytes });
  }
}

const rpcRefusal = (
  status: Status,
  code: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Response => jsonResponse(status, writeFault({ id: "null", code, message }), headers);

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
