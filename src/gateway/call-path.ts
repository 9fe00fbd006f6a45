/**
 * Calls of the node's own paths.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { parseComparable } from "../json/lossless.ts";
import { readParts } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { notFound, problem } from "../http/problem-details.ts";
import type { NodeOperation, NodeParameter } from "../openapi/callable-operations.ts";
import { acceptFor } from "./accepted-types.ts";
import { answerHeaders } from "./answer-headers.ts";
import { countedBody, type Room } from "./bytes-under-way.ts";
import { foreignCaller, nodeBusy, wrongParameters } from "./call-refusals.ts";
import { checkValue, placeOf } from "./check-value.ts";
import type { Call, Core, Respond } from "./every-call.ts";
import {
  readHeaders,
  type ReadParameters,
  readPathParameters,
  readQuery,
  WRONG_MAX,
  type WrongParameter,
} from "./parameters.ts";
import { type Content, decodeUtf8, readContent } from "./request-body.ts";
import { DEPTH_MAX } from "./parse-rpc-body.ts";
import { CALL_METHODS } from "./forward-settings.ts";
import { inTurn } from "./take-turns.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** Headers of the visitor that an operation may not name: of the connection, of the caller, and secrets. */
const DENIED_HEADERS =
  /^(?:accept|content-type|proxy-.*|cookie2?|host|origin|referer|connection|keep-alive|transfer-encoding|content-length|content-encoding|expect|upgrade|range|if-.*|te|trailer|forwarded|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-method-override|sec-.*|access-control-.*|accept-encoding|user-agent|x-nodeface|.*(?:authori[sz]ation|api-?key|token|secret|password).*)$/;

const NO_RULES = {};

/** Responds to a call of a path. */
export async function callPath(core: Core, call: Call, room: Room): Promise<Response> {
  const { base, mayCall, refuse, forward } = core;
  const { secretHeader = "" } = core.options;
  const { request, query } = call;
  const { paths } = await core.lookUp();
  const match = paths.match(call.path, request.method);
  if (!match) return notFound();
  if ("methods" in match) {
    const methods = match.methods.filter((method) => CALL_METHODS.includes(method));
    const allow = [...methods, "OPTIONS"].join(", ");
    return problem(405, `This path answers ${allow}`, { allow });
  }
  const { decided, parameters, fault } = match;
  const { operation, decision } = decided;
  if (!mayCall(call, decision.right)) return foreignCaller();
  const refusal = await refuse(call, decided);
  if (refusal) return refusal;
  if (request.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
  const types = Object.keys(operation.body?.rules ?? NO_RULES);
  const purpose = decision.right === "token" ? "token" : "body";
  const content = await readContent(call, types, (bytes) => room.set(bytes, purpose));
  if ("status" in content) return problem(content.status, content.detail, content.headers);
  if (fault) return wrongParameters([{ in: "path", ...fault }]);
  const list = operation.parameters ?? [];
  const isTaken = ({ name, in: place }: NodeParameter) =>
    place === "header" && !DENIED_HEADERS.test(name.toLowerCase()) &&
    name.toLowerCase() !== secretHeader.toLowerCase();
  const read = {
    path: readPathParameters(list, parameters),
    query: readQuery(list, query),
    headers: readHeaders(list.filter(isTaken), (name) => request.headers.get(name)),
  };
  const wrong = [read.path, read.query, read.headers].flatMap(({ wrong }) => wrong);
  wrong.push(
    ...await inTurn(content.bytes?.byteLength ?? 0, () => wrongInContent(content, operation)),
  );
  if (wrong.length > 0) return wrongParameters(wrong.slice(0, WRONG_MAX));
  // The node may read a parameter as a path of its own: `/peers/{address}` as `/peers/connect`.
  const url = match.isTakenByOther() ? undefined : join(base, call.path, queryOf(read.query));
  if (url === undefined) return notFound();
  const headers = {
    ...headersOf(read.headers),
    accept: acceptFor(request.headers.get("accept"), operation.answerTypes),
    ...content.type !== undefined && { "content-type": typeOf(content.type, request) },
  };
  const sent = { method: operation.method, url, headers, body: content.bytes };
  return await forward(call, decided, sent, passOn(operation, call));
}

/** The type as the node gets it: that of several parts has to say what stands between these. */
function typeOf(type: string, { headers }: Request): string {
  if (!type.startsWith("multipart/")) return type;
  const [, boundary] = /;\s*boundary="?([\w'()+,./:=?-]{1,70})"?\s*(?:;|$)/i
    .exec(headers.get("content-type") ?? "") ?? [];
  return boundary === undefined ? type : `${type}; boundary="${boundary}"`;
}

/** The node's URL with a path and a query; `undefined` where a parser makes something else of it. */
function join(base: string, path: string, query: string): URL | undefined {
  const text = base + path + (query === "" ? "" : `?${query}`);
  // What stands before the first slash of a path is the origin.
  const url = path.startsWith("/") ? parseUrl(text) : undefined;
  return url?.href === text ? url : undefined;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function queryOf({ given }: ReadParameters): string {
  return given.flatMap(({ parameter: { name }, texts }) =>
    texts.map((text) => `${encode(name)}=${encode(text)}`)
  ).join("&");
}

/** A parser would encode the apostrophe. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("'", "%27");

/** The headers that an operation names. */
const headersOf = ({ given }: ReadParameters): Record<string, string> =>
  Object.fromEntries(
    given.map(({ parameter, texts }) => [parameter.name.toLowerCase(), texts[0]!]),
  );

/** What is wrong in a content. Keys that stand twice are read in two ways. */
function wrongInContent({ bytes, type = "" }: Content, { body }: NodeOperation): WrongParameter[] {
  const refuse = (rule: string, name = "body") => [{ in: "body", name, rule }];
  if (!bytes) return body?.isRequired ? refuse("is required") : [];
  if (!/[/+]json$/.test(type)) return [];
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse("must be text in UTF-8");
  try {
    readParts(text, { levels: 0 }, DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return refuse(`must be JSON of at most ${DEPTH_MAX} levels, and no key may stand twice`);
  }
  const wrong = checkValue(body!.rules[type]!, parseComparable(text));
  return wrong ? refuse(wrong.rule, wrong.path.length > 0 ? placeOf(wrong) : "body") : [];
}

/** Passes the response of a node on, whole or as a stream. */
const passOn =
  ({ access, method, answerHeaders: named }: NodeOperation, { request, respond }: Call): Respond =>
  (answer, end, release) => {
    const { status, parts, size } = answer;
    if (status === 503) {
      end(0);
      release();
      return nodeBusy(answer);
    }
    if (status >= 500 || [401, 407, 421].includes(status)) {
      end(0);
      release();
      const maybe = access === "read" ? "" : "; it may have been carried out";
      return problem(
        502,
        status >= 500
          ? `The node fails: it answers ${status}${maybe}`
          : "The node wants another secret",
      );
    }
    const headers = answerHeaders(answer.headers, named);
    const isEmpty = status === 204 || status === 205 || method === "HEAD";
    if (!answer.isWhole && !isEmpty) {
      return respond(status, headers, streamOf(answer, end));
    }
    end(isEmpty ? 0 : size);
    if (!isEmpty) headers["content-length"] = String(size);
    if (isEmpty) release();
    return respond(status, headers, isEmpty ? null : countedBody(parts, release, request));
  };

/** What has been read of an answer, and the rest as it comes. What is cut looks cut. */
function streamOf(answer: UpstreamAnswer, end: (bytes: number) => void): ReadableStream<Bytes> {
  let sent = answer.size;
  return new ReadableStream({
    start(controller) {
      for (const part of answer.parts) controller.enqueue(part);
    },
    async pull(controller) {
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
        controller.error(error);
      }
    },
    cancel: () => end(sent),
  }, { highWaterMark: 0 });
}
