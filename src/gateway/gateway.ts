/**
 * Forwards what the description names and the operator allows: the calls of the node below `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import type { Auth } from "../info/sources/credentials.ts";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { notFound } from "../http/method-not-allowed.ts";
import { problem } from "../http/problem-details.ts";
import { REASONS, type Status } from "../http/status.ts";
import { failureOf } from "../info/sources/http-failure.ts";
import type { NodeOperation } from "../openapi/node-operations.ts";
import { answerHeaders } from "./answer-headers.ts";
import { isAllowedCaller } from "./browser-guard.ts";
import { createBudget } from "./budget.ts";
import {
  foreignCaller,
  notAllowed,
  problemWith,
  wantsToken,
  wrongParameters,
} from "./call-problem.ts";
import { checkValue } from "./check-value.ts";
import { type Decided, decide, type Decision } from "./decide.ts";
import { buildPath, createPathTable, type PathTable } from "./match-path.ts";
import {
  type GivenParameter,
  readHeaders,
  readPathParameters,
  readQuery,
  type ReadParameters,
  type WrongParameter,
} from "./parameters.ts";
import { createPlaces, NoPlace } from "./places.ts";
import { readBody } from "./request-body.ts";
import { isFault, type RawCall, type RawParams, readRpcBody, type RpcFault } from "./rpc-body.ts";
import { checkParams, readRpcAnswer, type RpcAnswer, writeCall } from "./rpc-call.ts";
import { CODES, statusOf } from "./rpc-errors.ts";
import type { Forward } from "./settings.ts";
import { hasToken, readToken, type TokenPlace } from "./token.ts";
import { callNode, type UpstreamAnswer, UpstreamError, type UpstreamRequest } from "./upstream.ts";
import { parseJson } from "../json/lossless.ts";

/** A call that has come. */
export interface Call {
  readonly head: RequestHead;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as it came. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  makeRequest(): Awaitable<Request>;
}

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly forward: Forward;
  /** Times and sizes, in milliseconds and bytes. */
  readonly timeout: number;
  readonly limit: number;
  readonly concurrency: number;
  readonly origins: readonly string[] | "*";
  readonly token: TokenPlace;
  /** Where the node answers. */
  readonly url: string;
  /** Where its methods are posted to, below that. */
  readonly rpcPath: () => Promise<string>;
  readonly fetch: typeof fetch;
  readonly auth: () => Promise<Auth>;
  /** The operations of the description that is served now. */
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
  readonly onError: (error: unknown) => void;
}

/** What the log says of a call. */
export interface CallRecord {
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

/** Answers calls. */
export interface Gateway {
  /** Of the node's own paths. */
  callPath(call: Call): Promise<Answer | Response>;
  /** Of a method by its name. */
  callMethod(call: Call): Promise<Answer | Response>;
  /** Of a body of JSON-RPC. */
  callRpc(call: Call): Promise<Answer | Response>;
  /** Sends away who waits, and breaks off what runs. */
  close(): void;
}

/** How much of an answer of REST is read before its status is sent, in bytes. */
const COLLECTED_MAX = 1024 * 1024;

/** Headers of the visitor that an operation may not name. */
const DENIED_HEADERS =
  /^(?:authorization|proxy-.*|cookie2?|host|origin|referer|connection|keep-alive|transfer-encoding|content-length|content-encoding|expect|upgrade|range|if-.*|te|trailer|forwarded|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-method-override|sec-.*|access-control-.*|accept-encoding|user-agent|x-nodeface)$/;

/** What is looked up: made once for a description. */
interface Lookup {
  readonly paths: PathTable<Decided>;
  readonly methods: ReadonlyMap<string, Decided>;
}

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const { origins, token, fetch, limit, timeout, onError } = options;
  const places = createPlaces(options.concurrency);
  const budget = createBudget();
  const life = new AbortController();
  const base = options.url.replace(/\/+$/, "");
  let made: { readonly of: readonly NodeOperation[]; readonly lookup: Lookup } | undefined;

  const lookUp = async (): Promise<Lookup> => {
    const operations = await options.operations();
    if (made?.of !== operations) made = { of: operations, lookup: createLookup(operations) };
    return made.lookup;
  };

  const createLookup = (operations: readonly NodeOperation[]): Lookup => {
    const decided = decide(operations, options.forward);
    const templates = decided.filter(({ operation }) => !operation.isMethod).map((value) => ({
      path: value.operation.path,
      spans: spansOf(value.operation),
      value,
    }));
    const methods = decided.filter(({ operation }) => operation.isMethod)
      .map((value) => [value.operation.path, value] as const);
    return { paths: createPathTable(templates), methods: new Map(methods) };
  };

  /** Why a caller is refused; `undefined` where he is not. */
  const refuse = async (
    { head, query }: Call,
    { operation, decision }: Decided,
  ): Promise<Answer | undefined> => {
    if (decision.right === "refused") return notAllowed(operation.name, decision.reason);
    if (decision.right === "open") return undefined;
    if (/(?:^|&)(?:access_)?token=/i.test(query)) {
      return problem(400, "The token is sent as Authorization: Bearer, never in the address");
    }
    const right = await rightOf(head, decision);
    if (right === "unknown") return problem(503, "The operator's token cannot be read now");
    return right === "token" ? undefined : wantsToken(operation.name);
  };

  const rightOf = async (head: RequestHead, decision: Decision) => {
    if (decision.right !== "token") return decision.right;
    const known = await readToken(token);
    if ("reason" in known) return "unknown";
    return await hasToken(known.token, head.headers.get("authorization")) ? "token" : "refused";
  };

  const mayCall = ({ head }: Call, right: Decision["right"]) =>
    isAllowedCaller(head, origins === "*" && right !== "open" ? [] : origins);

  /** Sends a call where there is a place for it, within the time. */
  const send = async (
    operation: NodeOperation,
    right: Decision["right"],
    request: UpstreamRequest,
    collect: number,
    gone: AbortSignal,
  ): Promise<{ answer: UpstreamAnswer; end: () => void; signal: AbortSignal }> => {
    const signal = AbortSignal.any([gone, life.signal, AbortSignal.timeout(timeout)]);
    const lane = right === "token" ? "token" : "open";
    const giveBack = await places.take(lane, operation.isHeavy, signal);
    try {
      const auth = await options.auth();
      const answer = await callNode({ fetch, auth, limit, budget }, request, collect, signal);
      const end = () => {
        answer.release();
        giveBack();
      };
      return { answer, end, signal };
    } catch (error) {
      giveBack();
      throw error;
    }
  };

  /** The answer for an error on the way to the node. */
  const failed = (error: unknown, isRead: boolean, signal: AbortSignal): Answer => {
    if (error instanceof NoPlace) return busy();
    if (error instanceof UpstreamError) {
      if (error.status === 503) return busy();
      return problem(error.status, error.message);
    }
    if ((signal.reason as Error | undefined)?.name === "TimeoutError") {
      return problem(504, `The node gives no whole answer within ${timeout / 1000} s${maybe(isRead)}`);
    }
    const { message } = failureOf(error);
    return problem(502, `The node cannot be reached: it ${message}${maybe(isRead)}`);
  };

  const callPath = async (call: Call): Promise<Answer | Response> => {
    const { head, query } = call;
    const { paths } = await lookUp();
    const found = paths.match(call.path);
    if ("refusal" in found) {
      if (!mayCall(call, "open")) return foreignCaller();
      return found.refusal === "unknown"
        ? notFound()
        : wrongParameters([{ in: "path", name: found.name, rule: found.rule }]);
    }
    const match = found.find(({ value }) => value.operation.method === head.method);
    if (!match) {
      const allow = [...found.map(({ value }) => value.operation.method), "OPTIONS"].join(", ");
      return problem(405, `This path answers ${allow}`, { allow });
    }
    const { value: decided, parameters } = match;
    const { operation, decision } = decided;
    if (!mayCall(call, decision.right)) return foreignCaller();
    const refusal = await refuse(call, decided);
    if (refusal) return refusal;
    if (head.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
    const body = await readContent(call, operation);
    if ("status" in body) return body;
    const list = operation.parameters ?? [];
    const read = [
      readPathParameters(list, parameters),
      readQuery(list, query),
      readHeaders(list, (name) => head.headers.get(name)),
    ];
    const wrong = [...read.flatMap(({ wrong }) => wrong), ...body.wrong];
    if (wrong.length > 0) return wrongParameters(wrong);
    const path = buildPath(operation.path, parameters, spansOf(operation));
    // The node may read a parameter as a path of its own: `/peers/{address}` as `/peers/connect`.
    const isOwn = paths.similar(path).some(({ operation: { path } }) => path === operation.path);
    const url = isOwn ? join(base, path, queryOf(read[1]!)) : undefined;
    if (url === undefined) return notFound();
    const headers = {
      accept: head.headers.get("accept") ?? "*/*",
      ...body.type !== undefined && { "content-type": body.type },
      ...headersOf(read[2]!),
    };
    const request = { method: operation.method, url, headers, body: body.bytes };
    return await forward(call, decided, request, passOn(operation));
  };

  /** Sends a call and makes an answer of what the node says; the log has a line of it. */
  const forward = async (
    call: Call,
    { operation, decision }: Decided,
    request: UpstreamRequest,
    answerOf: (answer: UpstreamAnswer, end: (bytes: number) => void) => Answer | Response,
  ): Promise<Answer | Response> => {
    const started = performance.now();
    const record = (status: number, bytes: number) =>
      options.log({
        operation: operation.name,
        status,
        milliseconds: performance.now() - started,
        bytes,
      });
    const gone = (await call.makeRequest()).signal;
    const isRead = operation.access === "read";
    const isCollected = operation.isMethod;
    let ended = AbortSignal.any([gone, life.signal]);
    try {
      const collect = isCollected ? limit : COLLECTED_MAX;
      const { answer, end, signal } = await send(
        operation,
        decision.right,
        request,
        collect,
        gone,
      );
      ended = signal;
      const made = answerOf(answer, (bytes) => {
        end();
        record(made.status, bytes);
      });
      return made;
    } catch (error) {
      if (!isExpected(error)) onError(error);
      const refusal = failed(error, isRead, ended);
      record(refusal.status, 0);
      return refusal;
    }
  };

  /** The content of a call: its bytes, or the answer that refuses it. */
  const readContent = async (call: Call, { body, method }: NodeOperation) => {
    const { headers } = call.head;
    const none = { bytes: undefined, type: undefined, wrong: [] as WrongParameter[] };
    const length = headers.get("content-length");
    const hasContent = headers.has("transfer-encoding") || (length !== null && length !== "0");
    if (headers.has("content-encoding")) return unsupported("The content of a call is not encoded");
    if (!body) {
      if (!hasContent) return none;
      return unsupported(`This operation takes no content`);
    }
    if (!hasContent && method !== "GET") {
      const request = await call.makeRequest();
      if (!request.body) {
        return body.isRequired ? wrongParameters([REQUIRED_BODY]) : none;
      }
    }
    const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (!Object.hasOwn(body.rules, type)) {
      return unsupported(`The content of this call is ${Object.keys(body.rules).join(" or ")}`);
    }
    const bytes = await readBody(await call.makeRequest());
    if ("status" in bytes) return problem(bytes.status, bytes.detail);
    if (bytes.byteLength === 0) {
      return body.isRequired ? wrongParameters([REQUIRED_BODY]) : none;
    }
    return { bytes, type, wrong: /[/+]json$/.test(type) ? wrongIn(bytes, body.rules[type]!) : [] };
  };

  const callMethod = async (call: Call): Promise<Answer | Response> => {
    const { head, query } = call;
    const decided = (await lookUp()).methods.get(decode(call.path) ?? "");
    if (!decided) return mayCall(call, "open") ? notFound() : foreignCaller();
    const { operation, decision } = decided;
    const methods = operation.isGettable ? ["GET", "POST"] : ["POST"];
    if (!methods.includes(head.method)) {
      const allow = [...methods, "OPTIONS"].join(", ");
      return problem(405, `This path answers ${allow}`, { allow });
    }
    if (!mayCall(call, decision.right)) return foreignCaller();
    const refusal = await refuse(call, decided);
    if (refusal) return refusal;
    if (head.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
    const params = head.method === "GET" ? paramsOfQuery(operation, query) : await paramsOfBody(call);
    if ("status" in params) return params;
    const wrong = checkParams(operation, params);
    if (wrong.length > 0) {
      const place = head.method === "GET" ? "query" : "body";
      return wrongParameters(wrong.map((one) => ({ ...one, in: place })));
    }
    const request = await rpcRequest(writeCall(operation, 1, params));
    return await forward(call, decided, request, (answer, end) => {
      const text = new TextDecoder().decode(answer.start);
      const read = answer.isWhole ? readRpcAnswer(text) : undefined;
      const made = read ? methodAnswer(read) : problem(502, NONSENSE);
      end(made.body?.byteLength ?? 0);
      return made;
    });
  };

  const rpcRequest = async (text: string): Promise<UpstreamRequest> => ({
    method: "POST",
    url: base + await options.rpcPath(),
    headers: { "content-type": "application/json", accept: "application/json" },
    body: new TextEncoder().encode(text),
  });

  const callRpc = async (call: Call): Promise<Answer | Response> => {
    const { head } = call;
    if (!mayCall(call, "open")) return rpcRefusal(403, CODES.notAllowed, "Pages of other origins may not call the node");
    const type = (head.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (!/^application\/(?:json|json-rpc|jsonrequest)$/.test(type) || head.headers.has("content-encoding")) {
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
    const { methods } = await lookUp();
    const answers: string[] = [];
    for (const one of body.calls) {
      const answered = isFault(one) ? writeFault(one) : await callOne(call, one, methods, request.signal);
      if (answered !== undefined) answers.push(answered);
    }
    if (answers.length === 0) return { status: 204, headers: { "cache-control": "no-store" }, body: null };
    return rpcAnswer(body.isBatch ? `[${answers.join(",")}]` : answers[0]!, 200);
  };

  /** One call of a body: its answer as JSON, with the caller's id; nothing for a notification. */
  const callOne = async (
    call: Call,
    { id, method, params }: RawCall,
    methods: Lookup["methods"],
    gone: AbortSignal,
  ): Promise<string | undefined> => {
    const started = performance.now();
    const fail = (code: number, message: string, more?: string) =>
      id === undefined ? undefined : writeFault({ id, code, message }, more);
    const decided = methods.get(method);
    if (!decided) return fail(CODES.noMethod, "There is no such method here");
    const { operation, decision } = decided;
    const setting = (name: string) => JSON.stringify({ setting: name });
    if (decision.right === "refused") {
      return fail(CODES.notAllowed, `${method} is not forwarded: ${decision.reason}`, setting("forward"));
    }
    if (decision.right === "token") {
      const right = await rightOf(call.head, decision);
      if (right !== "token") {
        return fail(CODES.wantsToken, `${method} needs the operator's token`, setting("forward.token_file"));
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
      const request = await rpcRequest(writeCall(operation, 1, params));
      const { answer, end } = await send(operation, decision.right, request, limit, gone);
      try {
        const read = answer.isWhole
          ? readRpcAnswer(new TextDecoder().decode(answer.start))
          : undefined;
        length = answer.start.byteLength;
        if (!read) return fail(CODES.notReached, NONSENSE);
        if (id === undefined) return undefined;
        return "result" in read
          ? `{"jsonrpc":"2.0","result":${read.result},"id":${id}}`
          : `{"jsonrpc":"2.0","error":${read.error},"id":${id}}`;
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
      options.log({ operation: operation.name, status, milliseconds, bytes: length });
    }
  };

  return {
    callPath,
    callMethod,
    callRpc,
    close() {
      places.close();
      life.abort();
    },
  };
}

const NONSENSE = "The node answers with something else than JSON-RPC";
const REQUIRED_BODY: WrongParameter = { in: "body", name: "body", rule: "is required" };

const spansOf = ({ parameters = [] }: NodeOperation): ReadonlySet<string> =>
  new Set(parameters.filter(({ spans }) => spans).map(({ name }) => name));

const unsupported = (detail: string): Answer => problem(415, detail);

const busy = (): Answer =>
  problem(503, "Too many calls are under way at the node", { "retry-after": "5" });

/** What is said where nobody knows whether the node has done it. */
const maybe = (isRead: boolean) => isRead ? "" : "; it may have been carried out";

/** Whether an error is one of the ways in which a call fails. */
const isExpected = (error: unknown): boolean =>
  error instanceof NoPlace || error instanceof UpstreamError ||
  ["TimeoutError", "AbortError"].includes((error as Error)?.name) ||
  failureOf(error).code !== undefined;

/** The node's URL with a path and a query; `undefined` where a parser makes something else of it. */
function join(base: string, path: string, query: string): string | undefined {
  const text = base + path + (query === "" ? "" : `?${query}`);
  if (!URL.canParse(text)) return undefined;
  const { href, origin } = new URL(text);
  return href === text && origin === new URL(base).origin ? text : undefined;
}

function queryOf({ given }: ReadParameters): string {
  return given.flatMap(({ parameter: { name }, texts }) =>
    texts.map((text) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  ).join("&");
}

/** The headers that an operation names, but for those that no call may set. */
function headersOf({ given }: ReadParameters): Record<string, string> {
  const headers = given.filter(({ parameter }) => !DENIED_HEADERS.test(parameter.name.toLowerCase()))
    .map(({ parameter, texts }: GivenParameter) => [parameter.name.toLowerCase(), texts[0]!]);
  return Object.fromEntries(headers);
}

/** What is wrong in a body of JSON. */
function wrongIn(bytes: Uint8Array, rule: Parameters<typeof checkValue>[0]): WrongParameter[] {
  const text = decodeUtf8(bytes);
  const refuse = (rule: string, name = "body") => [{ in: "body", name, rule }];
  if (text === undefined) return refuse("must be text in UTF-8");
  try {
    const wrong = checkValue(rule, parseJson(text));
    return wrong ? refuse(wrong.rule, wrong.path.join(".") || "body") : [];
  } catch {
    return refuse("must be JSON");
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Passes the answer of a node on, whole or as a stream. */
const passOn = (operation: NodeOperation) =>
(
  answer: UpstreamAnswer,
  end: (bytes: number) => void,
): Answer | Response => {
  const { status } = answer;
  if (status >= 500 || [401, 407, 421].includes(status)) {
    end(0);
    return problem(
      502,
      status >= 500 ? `The node fails: it answers ${status}` : "The node wants another secret",
    );
  }
  const headers = answerHeaders(answer.headers, operation.answerHeaders);
  const { start } = answer;
  if (answer.isWhole) {
    end(start.byteLength);
    const isEmpty = status === 204 || status === 205;
    const length = isEmpty ? {} : { "content-length": String(start.byteLength) };
    const body = isEmpty ? null : start;
    if (status in REASONS) return { status: status as Status, headers: { ...headers, ...length }, body };
    return new Response(body, { status, headers });
  }
  let sent = start.byteLength;
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isFirst) {
        isFirst = false;
        return controller.enqueue(start);
      }
      try {
        const part = await answer.next();
        if (part) {
          sent += part.byteLength;
          return controller.enqueue(part);
        }
        end(sent);
        controller.close();
      } catch (error) {
        end(sent);
        // What is cut has to look cut.
        controller.error(error);
      }
    },
    cancel: () => end(sent),
  });
  return new Response(body, { status, headers });
};

/** The parameters of a method in a query, each as JSON. */
function paramsOfQuery(operation: NodeOperation, query: string): RawParams | Answer {
  const { given, wrong } = readQuery(operation.parameters ?? [], query, "body");
  if (wrong.length > 0) return wrongParameters(wrong);
  return new Map(given.map(({ parameter, texts, value }) => [
    parameter.name,
    typeof value === "string" ? JSON.stringify(value) : texts[0]!,
  ]));
}

/** The parameters of a method in a body. */
async function paramsOfBody({ head, makeRequest }: Call): Promise<RawParams | Answer> {
  const { headers } = head;
  if (headers.has("content-encoding")) return unsupported("The content of a call is not encoded");
  const request = await makeRequest();
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const bytes = await readBody(request);
  if ("status" in bytes) return problem(bytes.status, bytes.detail);
  if (bytes.byteLength === 0) return new Map();
  if (type !== "application/json") return unsupported("The content of this call is application/json");
  const text = decodeUtf8(bytes);
  if (text === undefined) return problem(400, "The content is no text in UTF-8");
  const body = readRpcBody(`{"id":1,"method":"","params":${text}}`);
  const [call] = isFault(body) ? [body] : body.calls;
  if (!call || isFault(call)) {
    return problem(400, call?.message ?? "The content is no object of parameters");
  }
  return call.params;
}

/** The answer to a call of a method by its name: the bare result. */
function methodAnswer(read: RpcAnswer): Answer {
  if ("result" in read) return jsonAnswer(200, read.result);
  const status = statusOf(read);
  const members = {
    code: read.code === undefined ? undefined : JSON.stringify(read.code),
    message: JSON.stringify(read.message),
    data: read.data,
  };
  const headers: Record<string, string> = status === 503 ? { "retry-after": "5" } : {};
  return problemWith(status, "The node refuses the call", members, headers);
}

function jsonAnswer(status: Status, text: string): Answer {
  const body = new TextEncoder().encode(text);
  return {
    status,
    headers: {
      ...answerHeaders(new Headers({ "content-type": "application/json" }), []),
      "content-length": String(body.byteLength),
    },
    body,
  };
}

const rpcAnswer = (text: string, status: Status): Answer => jsonAnswer(status, text);

const rpcRefusal = (status: Status, code: number, message: string): Answer =>
  jsonAnswer(status, writeFault({ id: "null", code, message }));

function writeFault({ id, code, message }: RpcFault, data?: string): string {
  const more = data === undefined ? "" : `,"data":${data}`;
  const error = `{"code":${code},"message":${JSON.stringify(message)}${more}}`;
  return `{"jsonrpc":"2.0","error":${error},"id":${id}}`;
}
