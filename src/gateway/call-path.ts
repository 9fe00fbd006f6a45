/**
 * Forwards calls to the node's HTTP paths.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { notAllowed, notFound } from "../http/response.ts";
import { parseComparable } from "../json/lossless.ts";
import { findParts } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { CODES } from "../node/json-rpc.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation, NodeParameter } from "../openapi/callable-operations.ts";
import { inSlices } from "../slices.ts";
import { type Call, type CallForm, type Content, decodeUtf8, inTurn, readContent } from "./call.ts";
import {
  checkValue,
  DEPTH_MAX,
  placeOf,
  readNamed,
  type ReadParameters,
  readQuery,
  refusalOfParameters,
  WRONG_MAX,
  type WrongParameter,
} from "./check.ts";
import type { Gateway, Recording } from "./gateway.ts";
import type { UpstreamResponse } from "./lease.ts";
import type { PathMatch } from "./match.ts";
import { isForwardable } from "./request-headers.ts";
import {
  busyNode,
  CREDENTIALS_REJECTED,
  NO_UPGRADE,
  Refusal,
  refuse,
  responseHeaders,
} from "./response.ts";

const COLLECTED_MAX = 1024 * 1024;

export const pathCalls: CallForm = {
  start: "/v1/node",
  respond: callPath,
  refuse,
  methodsAt: ({ paths }, path) => paths.methodsAt(path),
};

async function callPath(gateway: Gateway, call: Call): Promise<Response> {
  const { request, path, table, caller, lease } = call;
  const match = table.paths.find(path, request.method);
  if (!match) {
    const methods = table.paths.methodsAt(path);
    return methods ? notAllowed(methods) : notFound();
  }
  const { operation } = match.entry;
  const refusal = caller.refusal(match.entry);
  if (refusal) throw refusal;
  if (request.headers.has("upgrade")) throw NO_UPGRADE;
  const content = await readContent(call, Object.keys(operation.body?.rules ?? {}));
  const { query, headers } = await readCall(gateway, call, match, content);
  const url = join(gateway.node, path, queryOf(query));
  if (url === undefined) return notFound();
  await caller.checkHeaders(headers);
  const accept = acceptFor(request.headers.get("accept"), operation.responseTypes);
  const recording = gateway.record(operation, lease);
  let upstream: UpstreamResponse;
  try {
    await lease.begin(operation.isHeavy);
    upstream = await lease.send(
      { method: operation.method, url, headers: { ...headers, accept }, body: content.bytes },
      operation,
      COLLECTED_MAX,
    );
    checkStatus(upstream);
  } catch (error) {
    throw recording.fail(error);
  }
  return passOn(upstream, operation, call, recording);
}

/**
 * Reads the query and the headers to send.
 *
 * @throws {Refusal} if a parameter or the content is not as described
 */
async function readCall(
  gateway: Gateway,
  { request, query }: Call,
  { entry: { operation }, parameters, wrong }: PathMatch,
  content: Content,
): Promise<{ query: ReadParameters; headers: Readonly<Record<string, string>> }> {
  if (wrong) throw refusalOfParameters([{ in: "path", ...wrong }]);
  const list = operation.parameters ?? [];
  const isTaken = ({ name, in: place }: NodeParameter) =>
    place === "header" && isForwardable(name) && name.toLowerCase() !== gateway.secretHeader;
  const inPath = readNamed(list, "path", (name) => parameters.get(name));
  const inQuery = readQuery(list, query);
  const inHeaders = readNamed(
    list.filter(isTaken),
    "header",
    (name) => request.headers.get(name),
  );
  const all = [
    ...inPath.wrong,
    ...inQuery.wrong,
    ...inHeaders.wrong,
    ...await wrongInContent(content, operation),
  ];
  if (all.length > 0) throw refusalOfParameters(all.slice(0, WRONG_MAX));
  const headers: Record<string, string> = {};
  for (const { parameter, texts } of inHeaders.given) {
    headers[parameter.name.toLowerCase()] = texts[0]!;
  }
  if (content.type !== undefined) headers["content-type"] = typeOf(content.type, request);
  return { query: inQuery, headers };
}

function typeOf(type: string, { headers }: Request): string {
  if (!type.startsWith("multipart/")) return type;
  const [, boundary] = /;\s*boundary="?([\w'()+,./:=?-]{1,70})"?\s*(?:;|$)/i
    .exec(headers.get("content-type") ?? "") ?? [];
  return boundary === undefined ? type : `${type}; boundary="${boundary}"`;
}

/** Returns `undefined` if the URL parser would change the path or the query. */
function join(node: Node, path: string, query: string): URL | undefined {
  const text = path + (query === "" ? "" : `?${query}`);
  // If `path` began without a slash, the start of `path` would become part of the host name or the
  // port.
  if (!path.startsWith("/")) return undefined;
  const url = node.resolve(text);
  return url.href.endsWith(text) ? url : undefined;
}

function queryOf({ given }: ReadParameters): string {
  return given.flatMap(({ parameter: { name }, texts }) =>
    texts.map((text) => `${encode(name)}=${encode(text)}`)
  ).join("&");
}

/** Encodes apostrophes, as the URL parser does. `join` refuses a URL that the parser changes. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("'", "%27");

/** Refuses duplicate keys, since JSON parsers disagree about which of two equal keys counts. */
async function wrongInContent(
  { bytes, type = "" }: Content,
  { body }: NodeOperation,
): Promise<WrongParameter[]> {
  const refuse = (rule: string, name = "body") => [{ in: "body", name, rule }];
  if (!bytes) return body?.isRequired ? refuse("is required") : [];
  if (!/[/+]json$/.test(type)) return [];
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse("must be UTF-8 text");
  try {
    await inSlices(findParts(text, { levels: 0 }, DEPTH_MAX));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return refuse(`must be JSON with at most ${DEPTH_MAX} levels and no duplicate keys`);
  }
  const check = () => checkValue(body!.rules[type]!, parseComparable(text));
  const wrong = await inTurn(text.length, check);
  return wrong ? refuse(wrong.rule, wrong.path.length > 0 ? placeOf(wrong) : "body") : [];
}

function passOn(
  upstream: UpstreamResponse,
  operation: NodeOperation,
  { makeResponse, lease }: Call,
  recording: Recording,
): Response {
  const { status, parts, size, isWhole } = upstream;
  const headers = responseHeaders(upstream.headers, operation.responseHeaders);
  if (status === 204 || status === 205 || operation.method === "HEAD") {
    recording.end(status);
    return makeResponse(status, headers, null);
  }
  if (isWhole) {
    recording.bytes = size;
    recording.end(status);
    headers["content-length"] = String(size);
    return makeResponse(status, headers, lease.handOverBytes(parts));
  }
  const release = lease.handOver();
  const end = () => {
    release();
    recording.bytes = upstream.size;
    recording.end(status);
  };
  return makeResponse(status, headers, streamOf(upstream, end));
}

/** @throws {Refusal} if the node's status must not be passed on */
function checkStatus(upstream: UpstreamResponse): void {
  const { status } = upstream;
  if (status === 503) throw busyNode(upstream);
  if ([401, 407, 421].includes(status)) throw CREDENTIALS_REJECTED;
  if (status < 500) return;
  throw new Refusal(502, CODES.notReached, `The node failed with status ${status}`, {
    isUncertain: true,
  });
}

function streamOf(upstream: UpstreamResponse, end: () => void): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller) {
      for (const part of upstream.parts) controller.enqueue(part);
    },
    async pull(controller) {
      try {
        const part = await upstream.next();
        if (part) return controller.enqueue(part);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

const RANGES_MAX = 32;
/** A media range and its weight (RFC 9110, section 12.5.1). */
const RANGE = /^([\w!#$%&'*+.^`|~-]+)\/([\w!#$%&'*+.^`|~-]+)$/, WEIGHT = /^q=([01](?:\.\d{0,3})?)$/;

/**
 * Drops media types that the operation does not list, since they might make the node respond with a
 * stream.
 */
function acceptFor(accept: string | null, named: readonly string[]): string {
  if (accept === null) return ANY;
  const wanted = new Map<string, string>();
  for (const range of accept.toLowerCase().split(",", RANGES_MAX)) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    const [, type = "", subtype = ""] = RANGE.exec(name) ?? [];
    const weight = parameters.map((one) => WEIGHT.exec(one)?.[1]).find(Boolean) ?? "1";
    if (Number(weight) === 0) continue;
    const fits = type === "*"
      ? [ANY]
      : named.filter((one) => one === name || (subtype === "*" && one.startsWith(`${type}/`)));
    for (const one of fits) if (!wanted.has(one)) wanted.set(one, weight);
  }
  const list = [...wanted].map(([name, weight]) => weight === "1" ? name : `${name};q=${weight}`);
  return list.join(", ") || ANY;
}

const ANY = "*/*";
