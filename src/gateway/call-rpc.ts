/**
 * Calls of the node's methods. Existing JSON-RPC clients send bodies, single or as a batch, with only the URL changed;
 * others call a method by name, with `GET` and a query or `POST` and an object of parameters.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import {
  FastResponse,
  notAllowed,
  notFound,
  problem,
  problemWith,
  REASONS,
  type Status,
} from "../http/response.ts";
import { type Part, readParts, textOfPart } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { readRpcError, readRpcResponse, type RpcError, writeCall } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import { type Call, type CalledNode, decodeUtf8, goneOf, readContent } from "./call.ts";
import {
  checkParams,
  DEPTH_MAX,
  isNamed,
  type Params,
  readQuery,
  refuseParameters,
  WRONG_MAX,
} from "./check.ts";
import { hasTokenInQuery, looksLikeBrowser, TOKEN_IN_QUERY } from "./guard.ts";
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

/** Content types of a JSON-RPC body; an HTML form cannot send any of them. */
const TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const WRONG_TYPE: Refusal = {
  ...{ status: 415, code: CODES.invalidCall, message: "A call must be sent as application/json" },
};

interface ReadyCall extends Pick<RawCall, "id" | "isJsonRpc1"> {
  readonly params: Params;
  readonly entry: PolicyEntry;
}

export async function callRpc(node: CalledNode, call: Call, lease: Lease): Promise<Response> {
  const { request, query } = call;
  const foreign = node.guard.reasonAgainstPage(request);
  if (foreign) return refuseBody(foreign);
  if (hasTokenInQuery(query)) return refuseBody(TOKEN_IN_QUERY);
  if (request.headers.has("upgrade")) return refuseBody(NO_UPGRADE);
  // bitcoin-core (npm) sends no type. Pages can do that too, so browsers are excluded.
  const types = looksLikeBrowser(request.headers) ? TYPES : [...TYPES, ""];
  const purpose = await node.guard.hasToken(request) ? "token" : "body";
  const content = await readContent(call, types, (bytes) => lease.holdBody(bytes, purpose));
  if ("status" in content) return refuseBody(content.status === 415 ? WRONG_TYPE : content);
  if (!content.bytes) return refuseBody(WRONG_TYPE);
  const text = decodeUtf8(content.bytes);
  const body = text === undefined
    ? { id: "null", code: CODES.noJson, message: "The body is not UTF-8" }
    // Large bodies are parsed one after the other.
    : await inTurn(text.length, () => readRpcBody(text));
  if (isFault(body)) {
    const status = body.code === CODES.noJson ? 400 : 200;
    return jsonResponse(status, writeResponse(body, { error: errorOf(body) }));
  }
  const checked: (ReadyCall | string | undefined)[] = [];
  // The calls of a batch share the limit on reported errors.
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
    const isWithToken = ready.some(({ entry }) => entry.permission === "token");
    const isHeavy = ready.some(({ entry, params }) => isHeavyCall(entry.operation, params));
    if (ready.length > 0) await lease.begin(isWithToken ? "token" : "open", isHeavy);
    // Calls of a batch are sent one by one: not every node accepts a batch, and if a connection breaks, the outcome of
    // only one call is unknown.
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

/**
 * Checks a call. Returns the call if the node may receive it, otherwise an error response, or nothing for a
 * notification.
 */
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

/** Sends one call. Returns its response as JSON with the caller's id, or nothing for a notification. */
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

/** Returns the refusal for a response that is not JSON-RPC: by its status, the node may be busy or starting. */
const refusalOfNonsense = (upstream: UpstreamResponse): Refusal =>
  upstream.status === 503 || upstream.status === 429 ? busyNode(upstream) : NONSENSE;

export async function callMethod(node: CalledNode, call: Call, lease: Lease): Promise<Response> {
  const { request } = call;
  const entry = (await node.calls()).methods.get(parsePercent(call.path) ?? "");
  if (!entry) return notFound();
  const { operation, permission } = entry;
  const methods = operation.isGettable ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(request.method)) return notAllowed(methods);
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
  return problemWith(status, "The node refused the call", members, status === 503 ? LATER : {});
}

/** Reads the parameters of a method: from the query of a GET, each as JSON, or from the content of a POST. */
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
      // Digits are kept as written. Everything except numbers and booleans becomes a string.
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

const CALLS_MAX = 100;

interface RawCall {
  readonly id: string | undefined;
  readonly method: string;
  readonly params: string;
  /** True if the response needs both `result` and `error`, as bitcoin-core (npm) expects. */
  readonly isJsonRpc1: boolean;
}

interface RpcFault {
  readonly id: string;
  readonly code: number;
  readonly message: string;
}

const fault = (code: number, message: string, id = "null"): RpcFault => ({ id, code, message });

const isFault = (call: object): call is RpcFault => "code" in call;

const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

function readRpcBody(
  text: string,
): { readonly isBatch: boolean; readonly calls: readonly (RawCall | RpcFault)[] } | RpcFault {
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
  if (root.count === 0) return fault(CODES.invalidCall, "A batch must have at least one call");
  if (root.count > CALLS_MAX) {
    return fault(CODES.invalidCall, `A batch may have at most ${CALLS_MAX} calls`);
  }
  return { isBatch: true, calls: root.items.map((part) => readCall(text, part)) };
}

function readCall(text: string, { members }: Part): RawCall | RpcFault {
  if (!members) return fault(CODES.invalidCall, "A call must be an object");
  const idPart = members.get("id");
  const id = idPart && textOfPart(text, idPart);
  if (idPart && (idPart.kind === "{" || idPart.kind === "[" || id === "true" || id === "false")) {
    return fault(CODES.invalidCall, "The id of a call must be a string or a number");
  }
  const methodPart = members.get("method");
  if (methodPart?.kind !== "string") {
    return fault(CODES.invalidCall, "The method of a call must be a string", id);
  }
  const method = JSON.parse(textOfPart(text, methodPart)) as string;
  const params = listOrObject(text, members.get("params"));
  if (typeof params !== "string") return { ...params, id: id ?? "null" };
  const version = members.get("jsonrpc");
  const isJsonRpc1 = version === undefined || textOfPart(text, version) !== '"2.0"';
  return { id, method, params, isJsonRpc1 };
}

function readParams(text: string): string | RpcFault {
  try {
    return listOrObject(text, readParts(text, { levels: 0 }, DEPTH_MAX));
  } catch (error) {
    return faultOf(error);
  }
}

function listOrObject(text: string, params: Part | undefined): string | RpcFault {
  // Some clients send null instead of omitting the parameters.
  const json = params ? textOfPart(text, params) : "null";
  if (json === "null") return "[]";
  if (params!.kind === "[" || params!.kind === "{") return json;
  return fault(CODES.wrongParams, "The params of a call must be an array or an object");
}

function faultOf(error: unknown): RpcFault {
  if (!(error instanceof JsonSyntaxError)) throw error;
  return fault(CODES.noJson, `Invalid JSON: ${error.message}`);
}

/** Tells whether a call is heavy, because of its operation or of a parameter's value. */
function isHeavyCall({ isHeavy, parameters }: NodeOperation, params: Params): boolean {
  if (isHeavy || typeof params === "string") return isHeavy;
  return parameters?.some(({ name, rule: { heavyFrom = Infinity } }, at) =>
    Number(isNamed(params) ? params.get(name) : params[at]) >= heavyFrom
  ) ?? false;
}

/** Writes a call for the node; named parameters become positions where the method needs them. */
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
  // Without a description, only the absence of parameters suits methods of either style.
  const isNone = typeof params === "string"
    ? /^\{\s*\}$/.test(params)
    : isNamed(params) && params.size === 0;
  return writeCall(methodName, 1, isNone ? undefined : text);
}

/** Returns values by position: a missing value becomes null, and is omitted at the end. */
function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}

/** Reads the node's response to one call: the result as JSON, or the error; `undefined` if it is malformed. */
function readNodeResponse(
  { isWhole, parts }: Pick<UpstreamResponse, "isWhole" | "parts">,
): { readonly result: string } | RpcError | undefined {
  const text = isWhole ? decodeUtf8(parts.length === 1 ? parts[0]! : joinBytes(parts)) : undefined;
  if (text === undefined) return undefined;
  try {
    const response = readRpcResponse(text, DEPTH_MAX);
    if (Array.isArray(response)) return undefined;
    const { result, error } = response;
    if (error !== undefined) return readRpcError(error, DEPTH_MAX);
    return result === undefined ? undefined : { result };
  } catch {
    return undefined;
  }
}

/** Matches messages, since -32004, the code of EIP-1474, means "block not available" on Solana. */
const NOT_SUPPORTED = /^(?:the )?(?:json-?rpc )?method\b[^]{0,80}\bnot (?:found|supported|exist)/i;

/** Tells whether an error means that the node has no such method. */
export function isNoMethod({ code, message }: RpcError): boolean {
  return Number(code) === CODES.noMethod || NOT_SUPPORTED.test(message);
}

function writeError({ code = String(CODES.internal), message, data }: RpcError): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  return `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
}

function writeResponse(
  { id = "null", isJsonRpc1 = false }: Partial<Pick<RawCall, "id" | "isJsonRpc1">>,
  response: { readonly result: string } | { readonly error: string },
): string {
  if (isJsonRpc1) {
    const { result, error } = { result: "null", error: "null", ...response };
    return `{"result":${result},"error":${error},"id":${id}}`;
  }
  return "result" in response
    ? `{"jsonrpc":"2.0","result":${response.result},"id":${id}}`
    : `{"jsonrpc":"2.0","error":${response.error},"id":${id}}`;
}

/** Bitcoin's code for a node that is still starting. */
const WARMING_UP = -28;

/** Returns the HTTP status for a JSON-RPC error code. */
function statusOf(digits: string | undefined): Status {
  const code = Number(digits);
  if (code === CODES.wrongParams) return 400;
  if (code === CODES.noMethod) return 404;
  return code === WARMING_UP ? 503 : 422;
}
