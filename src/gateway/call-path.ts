/**
 * Forwards calls to the node's HTTP paths.
 *
 * @module
 */
import { onAbort } from "../abort-signal.ts";
import type { Bytes } from "../bytes.ts";
import { decodeLeniently, decodePercent } from "../decode.ts";
import { isWebSocket } from "../http/request.ts";
import { notAllowed, notFound } from "../http/problem.ts";
import { completeResponse } from "../http/response.ts";
import { CODES } from "../node/json-rpc.ts";
import type { RequestContent } from "../node/http1.ts";
import type { Node } from "../node/node.ts";
import { NODE_PATH } from "../openapi/home.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { Throughput } from "../throughput.ts";
import type { Call, CallProtocol } from "./call.ts";
import { checkCall, refusalOfParameter } from "./check.ts";
import { type Content, MIN_CALL_RATE } from "./content.ts";
import type { Gateway, Recording } from "./gateway.ts";
import { refuseTokenIn } from "./guard.ts";
import type { Lease } from "./lease.ts";
import type { PathMatch } from "./match.ts";
import { refuseOtherMethods } from "./method-override.ts";
import { chooseHeaders } from "./choose-headers.ts";
import { takesToken, unsentParametersOf } from "./policy.ts";
import {
  invalidCall,
  NO_UPGRADE,
  problemOfRefusal,
  READS_SLOWLY,
  Refusal,
  toUncertain,
} from "./refusal.ts";
import { isAboutConnection, responseHeaders, WITHOUT_CONTENT } from "./response-headers.ts";
import type { UpstreamResponse } from "./upstream.ts";

const COLLECTED_MAX = 1024 * 1024;

export const pathCalls: CallProtocol = {
  prefix: NODE_PATH,
  respond: callPath,
  toResponse: problemOfRefusal,
  methodsAt: ({ paths }, path) => paths.methodsAt(path),
};

async function callPath(gateway: Gateway, call: Call): Promise<Response> {
  const { request, path, table, lease } = call;
  const match = table.paths.find(path, request.method);
  if (!match) {
    const methods = table.paths.methodsAt(path);
    return methods ? notAllowed(methods, table.hint) : notFound(path, table.hint);
  }
  const prepared = await prepare(gateway, call, match);
  if (!prepared) return notFound(path, table.hint);
  const { operation } = match.entry;
  const { content, isHeavy, hasCredentials, isPublic } = prepared;
  const recording = gateway.record(operation, lease);
  let upstream: UpstreamResponse;
  try {
    const sender = await gateway.begin(lease, { isHeavy, isLongPoll: operation.isLongPoll });
    upstream = await sender.send(content, operation, { collect: COLLECTED_MAX, hasCredentials });
    checkStatus(upstream.status);
  } catch (error) {
    throw recording.fail(error);
  }
  return relay(gateway, call, recording, upstream, isPublic);
}

/** A request that may be sent. */
interface PreparedRequest {
  readonly content: RequestContent;
  readonly isHeavy: boolean;
  /** True if the request has credentials of the client. */
  readonly hasCredentials: boolean;
  /** True if everybody would get the same response. */
  readonly isPublic: boolean;
}

/**
 * Resolves to the request that the node gets, or to `undefined` if the node has no such path.
 *
 * @throws {Refusal} if the call must not be sent
 */
async function prepare(
  gateway: Gateway,
  call: Call,
  match: PathMatch,
): Promise<PreparedRequest | undefined> {
  const { request, path, caller } = call;
  const { entry: { operation, permission }, wrong } = match;
  caller.check(match.entry);
  for (const other of call.table.paths.withQuery(match.entry, path, call.query)) {
    caller.check(other);
  }
  if (isWebSocket(request)) throw NO_UPGRADE;
  if (wrong) throw refusalOfParameter("path", wrong.name, wrong.rule);
  const limit = operation.isChecked ? gateway.jsonSizeMax(caller) : gateway.limit;
  const content = await call.content.read(call.lease.requestBytes, mediaTypesOf(operation), limit);
  const query = await queryOf(call, match, content);
  const destination = destinationOf(gateway.node, path, query);
  if (!destination) return undefined;
  const { standard, described, hasCredentials } = chooseHeaders(
    request,
    operation,
    gateway.ownCredentials,
    caller.isBrowser,
  );
  const headers = { ...standard, ...described };
  if (gateway.hasClients) {
    await gateway.checkSent([
      ...Object.entries(headers).map(([name, value]) => [`header ${name}`, value] as const),
      ["path", decodePercent(path)],
      ["query", `${call.query} ${decodeLeniently(call.query)}`],
    ]);
  }
  return {
    content: {
      ...destination,
      method: request.method,
      headers: Object.assign(headers, checkedTypeOf(operation, content)),
      body: content.bytes,
      closesConnection: content.bytes !== undefined && !HAS_BODY.test(request.method),
    },
    // The head of a stream, which is refused, may come only with the first event.
    isHeavy: operation.isHeavy || /\bevent-stream\b/i.test(standard.accept ?? ""),
    hasCredentials,
    isPublic: permission === "open" && Object.keys(described).length === 0 &&
      !request.headers.has("authorization") && !request.headers.has("cookie"),
  };
}

/** A checked body is sent without parameters of its type, which could change its meaning. */
const checkedTypeOf = ({ isChecked }: NodeOperation, { type }: Content): Record<string, string> =>
  isChecked && type !== undefined ? { "content-type": type } : {};

const HAS_BODY = /^(?:POST|PUT|PATCH)$/;

/**
 * The media types that a call may have; none if its method has no body. Of a checked operation,
 * only JSON can be checked.
 */
function mediaTypesOf({ isChecked, body, method }: NodeOperation): readonly string[] | "any" {
  if (isChecked) return Object.keys(body?.schemas ?? {}).filter((type) => /[/+]json$/.test(type));
  return body || HAS_BODY.test(method) ? "any" : [];
}

/**
 * Returns the query as it came, or the query that a checked operation gets; `undefined` if the call
 * has none.
 *
 * @throws {Refusal} if the call must not be sent
 */
async function queryOf(
  { request, query }: Call,
  { entry: { operation }, parameters }: PathMatch,
  content: Content,
): Promise<string | undefined> {
  const { headers } = request;
  if (!takesToken(operation)) {
    refuseUnsent(operation, query);
    refuseTokenIn(query);
  }
  await refuseOtherMethods(headers, query, content, operation);
  if (!operation.isChecked) return rawQueryOf(request.rawUrl ?? request.url, query);
  const parts = { query, pathParameters: parameters, headers, content };
  return await checkCall(operation, parts) || undefined;
}

/** @throws {Refusal} if a query has a parameter that is described, but never sent to the node */
function refuseUnsent(operation: NodeOperation, query: string): void {
  if (!query.includes("token")) return;
  const given = new URLSearchParams(query);
  const unsent = unsentParametersOf(operation)
    .find((one) => one.in === "query" && given.has(one.name));
  if (!unsent) return;
  const message = `The query parameter ${unsent.name} is never sent to the node, because the ` +
    "description comes from the network; describe the operation in a file to allow it";
  throw invalidCall(message);
}

/** @param parsed the query as the URL parser writes it */
function rawQueryOf(url: string, parsed: string): string | undefined {
  // In a fragment, a question mark does not begin a query.
  const [, raw] = /^[^?#]*\?(.*)$/s.exec(url) ?? [];
  if (raw === undefined) return undefined;
  // Runtimes differ in how they show bytes that no URL may have.
  return /^[!"$-~]*$/.test(raw) ? raw : parsed;
}

/** Returns `undefined` if the URL parser would change the path. */
function destinationOf(
  node: Node,
  path: string,
  query: string | undefined,
): Pick<RequestContent, "url" | "target"> | undefined {
  // If `path` began without a slash, the start of `path` would become part of the host name or the
  // port.
  if (!path.startsWith("/")) return undefined;
  const url = node.resolve(path);
  if (!url.href.endsWith(path)) return undefined;
  if (query === undefined) return { url };
  return { url, target: `${url.pathname}?${query}` };
}

function relay(
  gateway: Gateway,
  { request: { method }, path, common, lease }: Call,
  recording: Recording,
  upstream: UpstreamResponse,
  isPublic: boolean,
): Response {
  const { status } = upstream;
  const headers = responseHeaders(upstream, { path, isPublic });
  const length = announcedLength(upstream, method);
  if (length !== undefined) headers["content-length"] = length;
  const isEmpty = method === "HEAD" || WITHOUT_CONTENT.includes(status);
  if (!isEmpty && !upstream.isWhole) {
    const { stream } = new RelayedContent(gateway, lease, recording, upstream);
    return completeResponse(status, headers, stream, common);
  }
  if (!isEmpty) recording.bytes = upstream.size;
  recording.end(status);
  const body = isEmpty ? null : lease.holdUntilSent(upstream.parts);
  return completeResponse(status, headers, body, common);
}

/** Returns the length of the content, if the client is told it. */
function announcedLength(
  { status, headers, size, isWhole }: UpstreamResponse,
  method: string,
): string | undefined {
  const isHead = method === "HEAD";
  if (!isHead && WITHOUT_CONTENT.includes(status)) return undefined;
  if (!isHead && isWhole) return String(size);
  // With this length, a client notices a response that is cut off, even with HTTP/1.0.
  const length = headers.get("content-length") ?? "";
  return status !== 204 && /^\d+$/.test(length) ? length : undefined;
}

/** @throws {Refusal} if the node's status must not be passed on */
function checkStatus(status: number): void {
  if (!isAboutConnection(status)) return;
  const message = `The node responded with ${status}, which is not passed on`;
  throw new Refusal(502, CODES.notReached, message, { isUncertain: true });
}

const CHECK_INTERVAL_MS = 1000;

/** The content of a response that is passed on as the node sends it. */
class RelayedContent {
  readonly stream: ReadableStream<Bytes>;
  readonly #gateway: Gateway;
  readonly #lease: Lease;
  readonly #endLease: () => void;
  readonly #recording: Recording;
  readonly #upstream: UpstreamResponse;
  readonly #watch: ReturnType<typeof setInterval>;
  #ignoreStop = () => {};
  #givenBytes = 0;
  #isNodeAwaited = false;
  #throughput = this.#measure();
  #hasEnded = false;

  constructor(
    gateway: Gateway,
    lease: Lease,
    recording: Recording,
    upstream: UpstreamResponse,
  ) {
    this.#gateway = gateway;
    this.#lease = lease;
    this.#endLease = lease.leaveToSender();
    this.#recording = recording;
    this.#upstream = upstream;
    this.#watch = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.stream = new ReadableStream({
      start: (controller) => this.#start(controller),
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#end(),
    }, { highWaterMark: 0 });
  }

  #measure(): Throughput {
    return new Throughput(MIN_CALL_RATE, this.#givenBytes, performance.now());
  }

  #check(): void {
    // A client that waits for the node does not read slowly.
    if (this.#isNodeAwaited) this.#throughput = this.#measure();
    const isSlow = this.#throughput.isTooLow(this.#givenBytes, performance.now());
    if (isSlow && this.#gateway.queuedCalls > 0) this.#lease.abort(READS_SLOWLY);
  }

  #start(controller: ReadableStreamDefaultController<Bytes>): void {
    // What is not sent would stay in memory for as long as the client reads it.
    this.#ignoreStop = onAbort(this.#lease.deadline.clientSignal, (reason) => {
      this.#upstream.parts.length = 0;
      if (!this.#hasEnded) controller.error(reason);
      this.#end(reason);
    });
  }

  async #pull(controller: ReadableStreamDefaultController<Bytes>): Promise<void> {
    const { parts } = this.#upstream;
    try {
      this.#isNodeAwaited = parts.length === 0;
      const part = parts.shift() ?? await this.#upstream.next();
      this.#isNodeAwaited = false;
      if (this.#hasEnded) return;
      if (part) {
        this.#givenBytes += part.byteLength;
        return controller.enqueue(part);
      }
      this.#end();
      controller.close();
    } catch (error) {
      if (this.#hasEnded) return;
      this.#end(error);
      controller.error(error);
    }
  }

  /** A client that leaves while a part is awaited ends the stream, and so does the wait. */
  #end(error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#watch);
    this.#ignoreStop();
    this.#endLease();
    this.#recording.bytes = this.#upstream.size;
    if (error === undefined) this.#recording.end(this.#upstream.status);
    else this.#recording.fail(toUncertain(error));
  }
}
