/**
 * Calls of the node's methods: bodies of JSON-RPC, alone or in a batch, by which existing clients work with another URL;
 * and methods by their names, with `GET` and a query, or `POST` and an object of parameters.
 *
 * @module
 */
import { notFound, problem, problemWith } from "../http/problem-details.ts";
import { FastResponse, REASONS } from "../http/response.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import { type Call, type CalledNode, decodeUtf8, goneOf, readContent } from "./call.ts";
import { checkParams, type Params, readQuery, refuseParameters, WRONG_MAX } from "./check.ts";
import { hasTokenInQuery, looksLikeBrowser, TOKEN_IN_QUERY } from "./guard.ts";
import {
  isFault,
  isHeavyCall,
  isNoMethod,
  type RawCall,
  readNodeResponse,
  readParams,
  readRpcBody,
  statusOf,
  writeError,
  writeNodeCall,
  writeResponse,
} from "./rpc-messages.ts";
import type { Lease, UpstreamResponse } from "./lease.ts";
import { inTurn, NoSlot } from "./limits.ts";
import type { PolicyEntry } from "./policy.ts";
import {
  busyNode,
  CODES,
  errorOf,
  heldJson,
  jsonResponse,
  LATER,
  NO_UPGRADE,
  NONSENSE,
  type Refusal,
  refuse,
  refuseBody,
  STATUS_GONE,
} from "./response.ts";

/** The types of a body, of which no form of a page is one. */
const TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const WRONG_TYPE: Refusal = {
  ...{ status: 415, code: CODES.invalidCall, message: "A call is application/json" },
};

/** A call that may go to the node. */
interface ReadyCall extends Pick<RawCall, "id" | "isJsonRpc1"> {
  readonly params: Params;
  readonly entry: PolicyEntry;
}

/** Responds to a body: `POST /v1/rpc`. */
export async function callRpc(node: CalledNode, call: Call, lease: Lease): Promise<Response> {
  const { request, query } = call;
  const foreign = node.guard.reasonAgainstPage(call);
  if (foreign) return refuseBody(foreign);
  if (hasTokenInQuery(query)) return refuseBody(TOKEN_IN_QUERY);
  if (request.headers.has("upgrade")) return refuseBody(NO_UPGRADE);
  // bitcoin-core of npm names no type; pages can do so as well.
  const types = looksLikeBrowser(request.headers) ? TYPES : [...TYPES, ""];
  const purpose = await node.guard.hasToken(request) ? "token" : "body";
  const content = await readContent(call, types, (bytes) => lease.holdBody(bytes, purpose));
  if ("status" in content) return refuseBody(content.status === 415 ? WRONG_TYPE : content);
  if (!content.bytes) return refuseBody(WRONG_TYPE);
  const text = decodeUtf8(content.bytes);
  const body = text === undefined
    ? { id: "null", code: CODES.noJson, message: "The body is not UTF-8" }
    // A large one is read after the large ones before it.
    : await inTurn(text.length, () => readRpcBody(text));
  if (isFault(body)) {
    const status = body.code === CODES.noJson ? 400 : 200;
    return jsonResponse(status, writeResponse(body, { error: errorOf(body) }));
  }
  const checked: (ReadyCall | string | undefined)[] = [];
  // All calls of a batch share what is told of one.
  const most = Math.max(1, Math.floor(WRONG_MAX / body.calls.length));
  for (const one of body.calls) {
    const isWrong = isFault(one);
    checked.push(
      isWrong
        ? writeResponse(one, { error: errorOf(one) })
        : await checkCall(node, call, one, most),
    );
  }
  const ready = checked.filter((one) => typeof one === "object");
  const responses: string[] = [];
  try {
    await beginAll(ready, lease);
    for (const one of checked) {
      const response = typeof one === "object" ? await sendOne(node, call, one, lease) : one;
      if (response !== undefined) responses.push(response);
    }
  } catch (error) {
    if (!(error instanceof NoSlot)) throw error;
    const { operation } = ready[0]!.entry;
    return refuseBody(node.fail(error, operation, call, node.record(operation)));
  }
  if (responses.length > 0) {
    const text = body.isBatch ? `[${responses.join(",")}]` : responses[0]!;
    return heldJson(text, lease.handOver(), call.makeResponse);
  }
  return new FastResponse(null, {
    status: 204,
    statusText: REASONS[204],
    headers: new Headers({ "cache-control": "no-store" }),
  });
}

/** Checks whether a call may go to the node; gives its response where it may not, and none for a notification. */
async function checkCall(
  node: CalledNode,
  call: Call,
  one: RawCall,
  most: number,
): Promise<ReadyCall | string | undefined> {
  const { id, method, isJsonRpc1 } = one;
  const fail = (refusal: Pick<Refusal, "code" | "message">, data?: object) =>
    id === undefined ? undefined : writeResponse(one, { error: errorOf(refusal, data) });
  const entry = (await node.calls()).methods.get(method);
  if (!entry) return fail({ code: CODES.noMethod, message: "Unknown method" });
  const { operation } = entry;
  const refusal = await node.guard.reasonAgainst(call, entry, method);
  if (refusal) return fail(refusal, { setting: refusal.setting });
  const { params, wrong: errors } = await inTurn(
    one.params.length,
    () => checkParams(operation, one.params, most),
  );
  const [wrong] = errors;
  if (!wrong) return { id, params, isJsonRpc1, entry };
  const message = `${wrong.name || method} ${wrong.rule}`;
  return fail({ code: CODES.wrongParams, message }, { errors });
}

/**
 * Takes the slot of all calls of a body. A batch goes on as one call after the other: no kind says which of its nodes
 * and versions take batches, and where a connection breaks, only the call on it is in doubt.
 *
 * @throws {NoSlot} if there is none
 */
async function beginAll(calls: readonly ReadyCall[], lease: Lease): Promise<void> {
  if (calls.length === 0) return;
  const isWithToken = calls.some(({ entry }) => entry.permission === "token");
  const isHeavy = calls.some(({ entry, params }) => isHeavyCall(entry.operation, params));
  await lease.begin(isWithToken ? "token" : "open", isHeavy);
}

/** Sends one call: gives its response as JSON, with the caller's id; nothing for a notification. */
async function sendOne(
  node: CalledNode,
  call: Call,
  ready: ReadyCall,
  lease: Lease,
): Promise<string | undefined> {
  const { entry: { operation }, params, id } = ready;
  const fail = (refusal: Refusal) =>
    id === undefined ? undefined : writeResponse(ready, { error: errorOf(refusal) });
  const record = node.record(operation);
  try {
    const request = await node.rpcRequest(writeNodeCall(operation, params));
    const upstream = await lease.send(request, operation, node.limit);
    const read = readResponse(node, operation, upstream);
    const refusal = read ? undefined : refusalOfNonsense(upstream);
    const failed = goneOf(call).aborted ? STATUS_GONE : refusal?.status;
    record(refusal ? failed! : 200, upstream.size);
    if (!read) return fail(refusal!);
    return id === undefined
      ? undefined
      : writeResponse(ready, "result" in read ? read : { error: writeError(read) });
  } catch (error) {
    return fail(node.fail(error, operation, call, record));
  }
}

function readResponse(node: CalledNode, operation: NodeOperation, upstream: UpstreamResponse) {
  const read = readNodeResponse(upstream);
  if (read && "message" in read && isNoMethod(read)) node.onNoMethod(operation);
  return read;
}

/** The refusal for a response that is no JSON-RPC: by its status a node may have too much to do, or be starting. */
const refusalOfNonsense = (upstream: UpstreamResponse): Refusal =>
  upstream.status === 503 || upstream.status === 429 ? busyNode(upstream) : NONSENSE;

/** Responds to a call of a method by its name: `/v1/rpc/{method}`. */
export async function callMethod(node: CalledNode, call: Call, lease: Lease): Promise<Response> {
  const { request } = call;
  const entry = (await node.calls()).methods.get(parsePercent(call.path) ?? "");
  if (!entry) return notFound();
  const { operation, permission } = entry;
  const methods = operation.isGettable ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(request.method)) {
    const allow = [...methods, "OPTIONS"].join(", ");
    return problem(405, `This path allows ${allow}`, { allow });
  }
  const refusal = await node.guard.reasonAgainst(call, entry);
  if (refusal) return refuse(refusal);
  if (request.headers.has("upgrade")) return refuse(NO_UPGRADE);
  const purpose = permission === "token" ? "token" : "body";
  const given = await paramsOf(operation, call, (bytes) => lease.holdBody(bytes, purpose));
  if (given instanceof Response) return given;
  const size = typeof given === "string" ? given.length : 0;
  const { params, wrong } = await inTurn(size, () => checkParams(operation, given));
  if (wrong.length > 0) {
    const place = request.method === "GET" ? "query" : "body";
    return refuseParameters(wrong.map((one) => ({ ...one, in: place })));
  }
  const record = node.record(operation);
  let upstream: UpstreamResponse;
  try {
    const sent = await node.rpcRequest(writeNodeCall(operation, params));
    const isHeavy = isHeavyCall(operation, params);
    await lease.begin(permission === "token" ? "token" : "open", isHeavy);
    upstream = await lease.send(sent, operation, node.limit);
  } catch (error) {
    return refuse(node.fail(error, operation, call, record));
  }
  const response = respondTo(upstream, readResponse(node, operation, upstream), call, lease);
  record(response.status, upstream.size);
  return response;
}

/** Makes the response to a call of a method: its result, or problem details. */
function respondTo(
  upstream: UpstreamResponse,
  read: ReturnType<typeof readNodeResponse>,
  call: Call,
  lease: Lease,
): Response {
  if (!read) return refuse(refusalOfNonsense(upstream));
  if ("result" in read) return heldJson(read.result, lease.handOver(), call.makeResponse);
  const { code, message, data } = read;
  const status = statusOf(code);
  const members = { code, message: JSON.stringify(message), data };
  return problemWith(status, "The node refuses the call", members, status === 503 ? LATER : {});
}

/** Reads the parameters of a method: in the query of a GET, each as JSON; in the content of a POST, all of them. */
async function paramsOf(
  operation: NodeOperation,
  call: Call,
  grow: (bytes: number) => boolean,
): Promise<string | ReadonlyMap<string, string> | Response> {
  const isGet = call.request.method === "GET";
  const content = await readContent(call, isGet ? [] : ["application/json"], grow);
  if ("status" in content) return refuse(content);
  const known = isGet ? operation.parameters ?? [] : [];
  const { given, wrong } = readQuery(known, call.query, "body");
  if (wrong.length > 0) return refuseParameters(wrong);
  if (isGet) {
    return new Map(given.map(({ parameter, texts, value }) => [
      parameter.name,
      // Digits stay as they are. What is no number and no truth value is text.
      ["number", "bigint", "boolean"].includes(typeof value)
        ? texts[0]!
        : JSON.stringify(texts.join(",")),
    ]));
  }
  if (!content.bytes) return new Map();
  const text = decodeUtf8(content.bytes);
  if (text === undefined) return problem(400, "The content is not UTF-8");
  const params = await inTurn(text.length, () => readParams(text));
  return typeof params === "string" ? params : problem(400, params.message);
}
