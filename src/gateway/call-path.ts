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
import { type Call, type Content, decodeUtf8, inTurn, readContent } from "./call.ts";
import {
  checkValue,
  DEPTH_MAX,
  placeOf,
  readNamed,
  type ReadParameters,
  readQuery,
  refuseParameters,
  WRONG_MAX,
  type WrongParameter,
} from "./check.ts";
import type { CallRecorder, Gateway } from "./gateway.ts";
import type { Lease, UpstreamResponse } from "./lease.ts";
import { CALL_METHODS, type PolicyEntry } from "./policy.ts";
import { isForwardable } from "./request-headers.ts";
import { busyNode, NO_UPGRADE, type Refusal, refuse, responseHeaders } from "./response.ts";

const COLLECTED_MAX = 1024 * 1024;

export async function callPath(gateway: Gateway, call: Call, lease: Lease): Promise<Response> {
  const { request, query } = call;
  const match = (await gateway.table()).matchPath(call.path, request.method);
  if (!match) return notFound();
  if ("methods" in match) return notAllowed(await methodsOfPath(gateway, call.path) ?? []);
  const { entry, parameters, fault } = match;
  const { operation, permission } = entry;
  const refusal = await gateway.authorize(call, entry);
  if (refusal) return refuse(refusal);
  if (request.headers.has("upgrade")) return refuse(NO_UPGRADE);
  const types = Object.keys(operation.body?.rules ?? {});
  const hasToken = permission === "token";
  const content = await readContent(call, types, lease, hasToken);
  if ("status" in content) return refuse(content);
  if (fault) return refuseParameters([{ in: "path", ...fault }]);
  const list = operation.parameters ?? [];
  const isTaken = ({ name, in: place }: NodeParameter) =>
    place === "header" && isForwardable(name) && name.toLowerCase() !== gateway.secretHeader;
  const read = {
    path: readNamed(list, "path", (name) => parameters.get(name)),
    query: readQuery(list, query),
    headers: readNamed(list.filter(isTaken), "header", (name) => request.headers.get(name)),
  };
  const inContent = await wrongInContent(content, operation);
  const wrong = [...read.path.wrong, ...read.query.wrong, ...read.headers.wrong, ...inContent];
  if (wrong.length > 0) return refuseParameters(wrong.slice(0, WRONG_MAX));
  // A parameter may produce another operation's path: with the address `connect`, `/peers/{address}` becomes
  // `/peers/connect`.
  if (match.isTakenByOther()) return notFound();
  const url = join(gateway.node, call.path, queryOf(read.query));
  if (url === undefined) return notFound();
  const chosen = {
    ...Object.fromEntries(
      read.headers.given.map(({ parameter, texts }) => [parameter.name.toLowerCase(), texts[0]!]),
    ),
    ...content.type !== undefined && { "content-type": typeOf(content.type, request) },
  };
  const leak = await gateway.refusalForToken(Object.entries(chosen));
  if (leak) return refuse(leak);
  const accept = acceptFor(request.headers.get("accept"), operation.responseTypes);
  const headers = { ...chosen, accept };
  const record = gateway.record(operation);
  let response: UpstreamResponse;
  try {
    await lease.begin(hasToken, operation.isHeavy);
    const sent = { method: operation.method, url, headers, body: content.bytes };
    response = await lease.send(sent, operation, COLLECTED_MAX);
  } catch (error) {
    return refuse(gateway.fail(error, operation, call, record));
  }
  return passOn(response, entry, call, lease, record);
}

/** Returns the methods that do not get 405, or `undefined` for an unknown path. `path` is like `Call.path`. */
export async function methodsOfPath(
  gateway: Gateway,
  path: string,
): Promise<readonly string[] | undefined> {
  const { matchPath } = await gateway.table();
  const matches = CALL_METHODS.map((method) => [method, matchPath(path, method)] as const);
  if (matches.every(([, match]) => match === undefined)) return undefined;
  return matches.filter(([, match]) => match && "entry" in match).map(([method]) => method);
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
  // If `path` began without a slash, the start of `path` would become part of the host name or the port.
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
  { operation }: PolicyEntry,
  { makeResponse }: Call,
  lease: Lease,
  record: CallRecorder,
): Response {
  const { status, parts, size, isWhole } = upstream;
  const refusal = refusalOfStatus(upstream, operation);
  if (refusal) {
    record(refusal.status, 0);
    return refuse(refusal);
  }
  const headers = responseHeaders(upstream.headers, operation.responseHeaders);
  const isEmpty = status === 204 || status === 205 || operation.method === "HEAD";
  if (isWhole || isEmpty) record(status, isEmpty ? 0 : size);
  if (isEmpty) return makeResponse(status, headers, null);
  if (isWhole) {
    headers["content-length"] = String(size);
    return makeResponse(status, headers, lease.handOverBytes(parts));
  }
  const release = lease.handOver();
  const end = (bytes: number) => {
    release();
    record(status, bytes);
  };
  return makeResponse(status, headers, streamOf(upstream, end));
}

function refusalOfStatus(upstream: UpstreamResponse, { access }: NodeOperation) {
  const { status } = upstream;
  if (status === 503) return busyNode(upstream);
  const refusal = (message: string): Refusal => ({ status: 502, code: CODES.notReached, message });
  if ([401, 407, 421].includes(status)) {
    return refusal("The node rejected the service's credentials");
  }
  const maybe = access === "read" ? "" : "; the call may have been carried out";
  return status >= 500 ? refusal(`The node failed with status ${status}${maybe}`) : undefined;
}

function streamOf(upstream: UpstreamResponse, end: (bytes: number) => void): ReadableStream<Bytes> {
  let sent = upstream.size;
  return new ReadableStream({
    start(controller) {
      for (const part of upstream.parts) controller.enqueue(part);
    },
    async pull(controller) {
      try {
        const part = await upstream.next();
        if (part) {
          sent += part.byteLength;
          return controller.enqueue(part);
        }
        end(sent);
        controller.close();
      } catch (error) {
        end(sent);
        controller.error(error);
      }
    },
    cancel: () => end(sent),
  }, { highWaterMark: 0 });
}

const RANGES_MAX = 32;
/** A media range and its weight (RFC 9110, section 12.5.1). */
const RANGE = /^([\w!#$%&'*+.^`|~-]+)\/([\w!#$%&'*+.^`|~-]+)$/, WEIGHT = /^q=([01](?:\.\d{0,3})?)$/;

/** Drops media types that the operation does not list, since they might make the node respond with a stream. */
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
