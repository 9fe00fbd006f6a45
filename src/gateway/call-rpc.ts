/**
 * Forwards calls to the node's methods: single JSON-RPC calls, JSON-RPC batches, and requests to `/v1/rpc/METHOD`.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import {
  FastResponse,
  type HttpStatus,
  notAllowed,
  notFound,
  problem,
  problemWith,
  REASONS,
} from "../http/response.ts";
import {
  CODES,
  isFault,
  isNoMethod,
  readRpcBody,
  readRpcError,
  readRpcParams,
  readRpcResponse,
  type RpcCall,
  type RpcError,
  writeCall,
  writeRpcResponse,
} from "../node/json-rpc.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import { type Call, decodeUtf8, goneOf, inTurn, readContent } from "./call.ts";
import {
  checkParams,
  DEPTH_MAX,
  isNamed,
  type Params,
  readQuery,
  refuseParameters,
  WRONG_MAX,
} from "./check.ts";
import type { Gateway } from "./gateway.ts";
import { hasTokenInQuery, looksLikeBrowser, TOKEN_IN_QUERY } from "./guard.ts";
import type { Lease, UpstreamResponse } from "./lease.ts";
import type { PolicyEntry } from "./policy.ts";
import {
  busyNode,
  LATER,
  type MakeResponse,
  NO_UPGRADE,
  type Refusal,
  refuse,
  responseHeaders,
  STATUS_GONE,
} from "./response.ts";

/** An HTML form cannot send any of these content types. */
const TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const WRONG_TYPE: Refusal = {
  ...{ status: 415, code: CODES.invalidCall, message: "A call must be sent as application/json" },
};

interface ReadyCall extends Pick<RpcCall, "id" | "isJsonRpc1"> {
  readonly params: Params;
  readonly entry: PolicyEntry;
}

export async function callRpc(gateway: Gateway, call: Call, lease: Lease): Promise<Response> {
  const { request, query } = call;
  const foreign = gateway.refusalForPage(request);
  if (foreign) return refuseRpc(foreign);
  if (hasTokenInQuery(query)) return refuseRpc(TOKEN_IN_QUERY);
  if (request.headers.has("upgrade")) return refuseRpc(NO_UPGRADE);
  // The npm package bitcoin-core sends no content type. A request from a browser must have a content type: any web page
  // can make a browser send a request without a content type.
  const types = looksLikeBrowser(request.headers) ? TYPES : [...TYPES, ""];
  const hasToken = await gateway.hasToken(request);
  const content = await readContent(call, types, lease, hasToken);
  if ("status" in content) return refuseRpc(content.status === 415 ? WRONG_TYPE : content);
  if (!content.bytes) return refuseRpc(WRONG_TYPE);
  const text = decodeUtf8(content.bytes);
  const body = text === undefined
    ? { id: "null", code: CODES.noJson, message: "The body is not UTF-8" }
    : await readRpcBody(text, DEPTH_MAX);
  if (isFault(body)) {
    const status = body.code === CODES.noJson ? 400 : 200;
    return jsonResponse(status, writeRpcResponse(body, { error: body }));
  }
  const checked: (ReadyCall | string | undefined)[] = [];
  const most = Math.max(1, Math.floor(WRONG_MAX / body.calls.length));
  for (const one of body.calls) {
    if (isFault(one)) checked.push(writeRpcResponse(one, { error: one }));
    else checked.push(await checkCall(gateway, call, one, most));
  }
  const ready = checked.filter((one) => typeof one === "object");
  if (ready.length > 0) {
    const isWithToken = ready.some(({ entry }) => entry.permission === "token");
    const isHeavy = ready.some(({ entry, params }) => isHeavyCall(entry.operation, params));
    try {
      await lease.begin(isWithToken, isHeavy);
    } catch (error) {
      const { operation } = ready[0]!.entry;
      return refuseRpc(gateway.fail(error, operation, call, gateway.record(operation)));
    }
  }
  const responses: string[] = [];
  // Some nodes accept no batch, so the calls are sent one by one. If the connection breaks, the outcome of only one
  // call is unknown.
  for (const one of checked) {
    const response = typeof one === "object" ? await sendOne(gateway, call, one, lease) : one;
    if (response !== undefined) responses.push(response);
  }
  if (responses.length > 0) {
    const text = body.isBatch ? `[${responses.join(",")}]` : responses[0]!;
    return await sendJson(text, lease, call.makeResponse);
  }
  return new FastResponse(null, {
    status: 204,
    statusText: REASONS[204],
    headers: new Headers({ "cache-control": "no-store" }),
  });
}

async function checkCall(gateway: Gateway, call: Call, one: RpcCall, most: number) {
  const { id, method, isJsonRpc1 } = one;
  const fail = ({ code, message }: RpcError, data?: object) => {
    if (id === undefined) return undefined;
    return writeRpcResponse(one, { error: { code, message, data: data && JSON.stringify(data) } });
  };
  const entry = (await gateway.table()).methods.get(method);
  if (!entry) return fail({ code: CODES.noMethod, message: "Unknown method" });
  const { operation } = entry;
  const refusal = await gateway.authorize(call, entry, method);
  if (refusal) return fail(refusal, { setting: refusal.setting });
  const check = () => checkParams(operation, one.params, most);
  const { params, wrong: errors } = await inTurn(one.params.length, check);
  const [wrong] = errors;
  if (!wrong) return { id, params, isJsonRpc1, entry };
  const message = `${wrong.name || method} ${wrong.rule}`;
  return fail({ code: CODES.wrongParams, message }, { errors });
}

async function sendOne(gateway: Gateway, call: Call, ready: ReadyCall, lease: Lease) {
  const { entry: { operation }, params, id } = ready;
  const write = (response: { result: string } | { error: RpcError }) =>
    id === undefined ? undefined : writeRpcResponse(ready, response);
  const record = gateway.record(operation);
  try {
    const request = await gateway.rpcRequest(writeNodeCall(operation, params));
    const upstream = await lease.send(request, operation, gateway.limit);
    const read = await readResponse(upstream, lease);
    if (read) {
      record(200, upstream.size);
      return write("result" in read ? read : { error: read });
    }
    const { status, code, message } = refusalOfNonsense(upstream);
    record(goneOf(call).aborted ? STATUS_GONE : status, upstream.size);
    return write({ error: { code, message } });
  } catch (error) {
    const { code, message } = gateway.fail(error, operation, call, record);
    return write({ error: { code, message } });
  }
}

function refusalOfNonsense(upstream: UpstreamResponse): Refusal {
  if (upstream.status === 503 || upstream.status === 429) return busyNode(upstream);
  const message = "The node's response is not JSON-RPC";
  return { status: 502, code: CODES.notReached, message };
}

export async function callMethod(gateway: Gateway, call: Call, lease: Lease): Promise<Response> {
  const { request } = call;
  const entry = (await gateway.table()).methods.get(parsePercent(call.path) ?? "");
  if (!entry) return notFound();
  const { operation, permission } = entry;
  const methods = methodsOf(operation);
  if (!methods.includes(request.method)) return notAllowed(methods);
  const refusal = await gateway.authorize(call, entry);
  if (refusal) return refuse(refusal);
  if (request.headers.has("upgrade")) return refuse(NO_UPGRADE);
  const hasToken = permission === "token";
  const given = await paramsOf(operation, call, lease, hasToken);
  if (given instanceof Response) return given;
  const size = typeof given === "string" ? given.length : 0;
  const { params, wrong } = await inTurn(size, () => checkParams(operation, given));
  if (wrong.length > 0) {
    const place = isQuery(request) ? "query" : "body";
    return refuseParameters(wrong.map((one) => ({ ...one, in: place })));
  }
  const record = gateway.record(operation);
  let upstream: UpstreamResponse;
  let read: NodeOutcome | undefined;
  try {
    const sent = await gateway.rpcRequest(writeNodeCall(operation, params));
    await lease.begin(hasToken, isHeavyCall(operation, params));
    upstream = await lease.send(sent, operation, gateway.limit);
    read = await readResponse(upstream, lease);
  } catch (error) {
    return refuse(gateway.fail(error, operation, call, record));
  }
  const response = !read
    ? refuse(refusalOfNonsense(upstream))
    : "result" in read
    ? await sendJson(read.result, lease, call.makeResponse)
    : refuseAsNode(read);
  record(response.status, upstream.size);
  return response;
}

const methodsOf = ({ isGettable }: NodeOperation): readonly string[] =>
  isGettable ? ["GET", "HEAD", "POST"] : ["POST"];

/** Returns the methods that do not get 405, or `undefined` for an unknown path. `path` is like `Call.path`. */
export async function methodsOfMethod(
  gateway: Gateway,
  path: string,
): Promise<readonly string[] | undefined> {
  const entry = (await gateway.table()).methods.get(parsePercent(path) ?? "");
  return entry && methodsOf(entry.operation);
}

function refuseAsNode(error: RpcError): Response {
  const { code, message, data } = error;
  const status = statusOf(error);
  const members = { code: code?.toString(), message: JSON.stringify(message), data };
  return problemWith(status, "The node refused the call", members, status === 503 ? LATER : {});
}

/** Tells whether the parameters are in the query. */
const isQuery = ({ method }: Request): boolean => method !== "POST";

async function paramsOf(
  operation: NodeOperation,
  call: Call,
  lease: Lease,
  hasToken: boolean,
): Promise<string | ReadonlyMap<string, string> | Response> {
  const isGet = isQuery(call.request);
  const content = await readContent(call, isGet ? [] : ["application/json"], lease, hasToken);
  if ("status" in content) return refuse(content);
  const known = isGet ? operation.parameters ?? [] : [];
  const { given, wrong } = readQuery(known, call.query, "body");
  if (wrong.length > 0) return refuseParameters(wrong);
  if (isGet) {
    return new Map(given.map(({ parameter, texts, value }) => [
      parameter.name,
      ["number", "bigint", "boolean"].includes(typeof value)
        ? texts[0]!
        : JSON.stringify(texts.join(",")),
    ]));
  }
  if (!content.bytes) return new Map();
  const text = decodeUtf8(content.bytes);
  if (text === undefined) return problem(400, "The content is not UTF-8");
  const params = await readRpcParams(text, DEPTH_MAX);
  return typeof params === "string" ? params : problem(400, params.message);
}

/** A value that is not a number, such as the text "2", counts as heavy: the node may read it as one. */
function isHeavyCall({ isHeavy, parameters = [] }: NodeOperation, params: Params): boolean {
  if (isHeavy || typeof params === "string") return isHeavy;
  return parameters.some(({ name, rule: { heavyFrom } }, at) => {
    const text = isNamed(params) ? params.get(name) : params[at];
    if (heavyFrom === undefined || text === undefined || text === "null") return false;
    return !(Number(text) < heavyFrom);
  });
}

function writeNodeCall(
  { path: methodName, parameters = [], isByPosition }: NodeOperation,
  params: Params,
): string {
  const text = typeof params === "string"
    ? params
    : !isNamed(params)
    ? `[${params.join(",")}]`
    : isByPosition
    ? `[${inPlaces(parameters.map(({ name }) => params.get(name))).join(",")}]`
    : `{${[...params].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
  // An empty object is omitted, since a method that expects an array may refuse an object.
  const isNone = typeof params === "string"
    ? /^\{\s*\}$/.test(params)
    : isNamed(params) && params.size === 0;
  return writeCall(methodName, 1, isNone ? undefined : text);
}

function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}

/** The JSON text of the result, or the node's error. */
type NodeOutcome = { readonly result: string } | RpcError;

/** Returns `undefined` if the response is not JSON-RPC. */
async function readResponse(
  { isWhole, parts, size }: UpstreamResponse,
  lease: Lease,
): Promise<NodeOutcome | undefined> {
  if (!isWhole) return undefined;
  // The text needs about as much memory as its bytes, which are held already.
  const release = lease.hold(size);
  try {
    const join = () => parts.length === 1 ? parts[0]! : joinBytes(parts);
    const bytes = await inTurn(size, join);
    const text = await inTurn(size, () => decodeUtf8(bytes));
    if (text === undefined) return undefined;
    const response = await readRpcResponse(text, DEPTH_MAX);
    if (Array.isArray(response)) return undefined;
    const { result, error: errorText } = response;
    if (errorText === undefined) return result === undefined ? undefined : { result };
    return await readRpcError(errorText, DEPTH_MAX);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  } finally {
    release();
  }
}

function statusOf(error: RpcError): HttpStatus {
  const code = Number(error.code);
  if (code === CODES.wrongParams) return 400;
  if (isNoMethod(error)) return 404;
  // Bitcoin Core responds with -28 while it starts.
  return code === -28 ? 503 : 422;
}

export function refuseRpc({ status, code, message, headers }: Refusal): Response {
  return jsonResponse(status, writeRpcResponse({}, { error: { code, message } }), headers);
}

const encoder = new TextEncoder();
const JSON_HEADERS = responseHeaders(new Headers({ "content-type": "application/json" }), []);
const headersOf = (length: number) => ({ ...JSON_HEADERS, "content-length": String(length) });

function jsonResponse(
  status: HttpStatus,
  text: string,
  headers: Refusal["headers"] = {},
): Response {
  const bytes = encoder.encode(text);
  return new FastResponse(bytes, {
    status,
    statusText: REASONS[status],
    headers: Object.entries({ ...headersOf(bytes.byteLength), ...headers }),
  });
}

async function sendJson(
  text: string,
  lease: Lease,
  makeResponse: MakeResponse,
): Promise<Response> {
  const bytes = await inTurn(text.length, () => encoder.encode(text));
  return makeResponse(200, headersOf(bytes.byteLength), lease.handOverBytes([bytes]));
}
