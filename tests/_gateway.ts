/** Starts simulated nodes, and creates services that forward calls to them. */
import type { CallRecord } from "../src/log.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Test } from "uvu";
import { joinBytes } from "../src/bytes.ts";
import { formatJson } from "../src/json/lossless.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";
import { play, type Played } from "./_sources.ts";

/** A request that the simulated node has received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array<ArrayBuffer>;
}

export type PlayedAnswer = (request: ReceivedRequest, response: ServerResponse) => unknown;

export interface PlayedNode extends Played {
  received: ReceivedRequest[];
  answer: PlayedAnswer;
  forget(): void;
}

export const playNode = (): Promise<PlayedNode> => startNode(nodeToStart());

export function nodeOf(suite: Test): PlayedNode {
  const node = nodeToStart() as PlayedNode;
  suite.before(async () => void await startNode(node));
  suite.after(() => node.close?.());
  suite.before.each(() => node.forget());
  return node;
}

type NodeToStart = Omit<PlayedNode, keyof Played>;

function nodeToStart(): NodeToStart {
  const node: NodeToStart = {
    received: [],
    answer: json({}),
    forget() {
      node.received = [];
      node.answer = json({});
    },
  };
  return node;
}

async function startNode(node: NodeToStart): Promise<PlayedNode> {
  const played = await play(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const { method = "", url = "", headers, rawHeaders } = request;
    // A node of no kind is asked whether it answers at all, besides the calls that it gets.
    if (method === "HEAD" && url === "/") return void response.end();
    const received = { method, url, headers, rawHeaders, body: joinBytes(parts) };
    node.received.push(received);
    await node.answer(received, response);
  });
  return Object.assign(node, played);
}

/** A string in `content` must already be JSON. */
export const json = (
  content: unknown,
  status = 200,
  headers: Record<string, string> = {},
): PlayedAnswer =>
(_, response) => {
  response.writeHead(status, {
    "content-type": "application/json",
    ...headers,
  });
  response.end(
    typeof content === "string" ? content : JSON.stringify(content),
  );
};

/** @param text the result of each call as JSON */
export const result = (text: string): PlayedAnswer => responseTo(`"result":${text}`);

export const rpcError = (error: unknown, status = 200): PlayedAnswer =>
  responseTo(`"error":${JSON.stringify(error)}`, status);

const responseTo = (member: string, status = 200): PlayedAnswer => (request, response) => {
  const respond = (id: unknown) => `{"jsonrpc":"2.0","id":${id},${member}}`;
  const text = textOf(request);
  if (!text.startsWith("[")) return json(respond(1), status)(request, response);
  const all = JSON.parse(text).map(({ id }: { id: unknown }) => respond(id));
  return json(`[${all.join(",")}]`, status)(request, response);
};

export const textOf = ({ body }: ReceivedRequest): string => new TextDecoder().decode(body);

const ok = { responses: { 200: { description: "" } } };
const read = { "x-access": "read", ...ok };
const text = { type: "string" };
const inPath = (name: string, more = {}) => ({
  ...{ name, in: "path", required: true, schema: text, ...more },
});
const inQuery = (name: string, schema: object, more = {}) => ({
  ...{ name, in: "query", schema, ...more },
});
const inVirtualHost = inPath("host", { "x-multi-segment": "encoded" });
const body = (schema: object, type = "application/json", required = true) => ({
  requestBody: { required, content: { [type]: { schema } } },
});

const FIND = body({
  type: "object",
  required: ["key"],
  properties: {
    key: text,
    action: { const: "GET" },
    limit: { type: "integer", maximum: 18446744073709551615n },
  },
});

const BLOCK_PARAMETERS = [
  inPath("height", { schema: { type: "integer", minimum: 0 } }),
  inQuery("full", { type: "boolean" }),
  inQuery("form", { enum: ["hex", "json"] }),
  inQuery("tag", { type: "array", items: text }),
  inQuery("id", { type: "array", items: { type: "string", maxLength: 2 } }),
  inQuery("ids", { type: "array", items: { type: "string", maxLength: 2 } }, { explode: false }),
  inQuery("max", { type: "integer", maximum: 10, exclusiveMinimum: 0 }),
  inQuery("note", { type: "string", minLength: 2, maxLength: 5 }),
];

export const REST = {
  openapi: "3.1.1",
  info: { title: "A node", version: "1" },
  paths: {
    "/status": {
      get: {
        ...read,
        responses: {
          200: {
            description: "",
            headers: Object.fromEntries(
              [
                "X-Cursor",
                "Set-Cookie",
                "Location",
                "Refresh",
                "WWW-Authenticate",
              ]
                .concat(
                  "Content-Security-Policy",
                  "Access-Control-Allow-Origin",
                  "X-Sendfile",
                )
                .concat(
                  "X-Accel-Redirect",
                  "Cache-Control",
                  "Retry-After",
                  "Link",
                )
                .map((name) => [name, { schema: text }]),
            ),
          },
        },
      },
      head: read,
      trace: read,
      options: read,
    },
    "/blocks/{height}": {
      get: {
        ...read,
        parameters: BLOCK_PARAMETERS,
      },
    },
    "/checked": {
      get: {
        ...read,
        "x-checked": true,
        parameters: [inQuery("key", text, { required: true })],
      },
      post: { ...read, "x-checked": true, ...FIND },
    },
    "/checked/{height}": {
      get: { ...read, "x-checked": true, parameters: BLOCK_PARAMETERS },
    },
    "/peers/{address}": { get: { ...read, parameters: [inPath("address")] } },
    "/peers/connect": { get: { "x-access": "write", ...ok } },
    "/Wallet/Lock": { get: { "x-access": "write", ...ok } },
    "/{any}/{thing}": {
      get: { ...read, parameters: [inPath("any"), inPath("thing")] },
    },
    "/files/{path}": {
      get: {
        ...read,
        parameters: [inPath("path", { "x-multi-segment": true })],
      },
    },
    "/files/all/secret": { get: { "x-access": "secret", ...ok } },
    "/queues/{host}": { get: { ...read, parameters: [inVirtualHost] } },
    "/queues/{host}/{name}": {
      get: { ...read, parameters: [inVirtualHost, inPath("name")] },
      put: {
        "x-access": "write",
        parameters: [inVirtualHost, inPath("name")],
        ...ok,
      },
    },
    "/queues/all/secret": { get: { "x-access": "secret", ...ok } },
    "/same/{a}": { get: { ...read, parameters: [inPath("a")] } },
    "/same/{b}": {
      post: { "x-access": "write", parameters: [inPath("b")], ...ok },
    },
    "/find": {
      post: {
        ...read,
        ...FIND,
      },
      get: { ...read, parameters: [inQuery("key", text, { required: true })] },
    },
    "/raw": {
      post: { ...read, ...body({}, "application/octet-stream", false) },
    },
    "/any": { post: { ...read, ...body({}) } },
    "/sized": {
      get: {
        ...read,
        parameters: [
          { name: "X-Size", in: "header", schema: { type: "integer" } },
          ...["X-API-Key", "Cookie", "Authorization", "Range", "Host", "TE"]
            .concat(
              "If-None-Match",
              "Origin",
              "Node-Secret",
              "Content-Type",
              "Connection",
            )
            .map((name) => ({
              name,
              in: "header",
              required: true,
              schema: text,
            })),
        ],
        responses: {
          200: {
            description: "",
            content: { "application/cbor": {}, "Application/JSON": {} },
          },
          400: {
            description: "",
            content: { "text/plain; charset=utf-8": {} },
          },
        },
      },
    },
    "/heavy/{n}": {
      get: { ...read, "x-cost": "heavy", parameters: [inPath("n")] },
    },
    "/wait": { get: { ...read, "x-streaming": true } },
    "/until/{n}": { get: { ...read, "x-streaming": "waits", parameters: [inPath("n")] } },
    "/health": { get: { ...read, parameters: [inQuery("syncing_status", text)] } },
    "/open": { get: ok },
    "/send": {
      post: { "x-access": "write", operationId: "send", ...body({}) },
    },
    "/balance": { get: { "x-access": "secret", ...ok } },
  },
};

const param = (name: string, schema: object, required = false) => ({
  name,
  schema,
  required,
});
const method = (
  name: string,
  access: string | undefined,
  params: object[],
  more = {},
) => ({
  ...{ name, params, result: { name: "r", schema: {} }, ...more },
  ...access && { "x-access": access },
});

export const RPC = {
  openrpc: "1.3.2",
  info: { title: "A node", version: "1" },
  methods: [
    method("number", "read", []),
    method(
      "block",
      "read",
      [
        param("hash", text, true),
        param("verbosity", { type: "integer", maximum: 3, "x-heavy-from": 3 }),
      ],
      { paramStructure: "by-position" },
    ),
    method(
      "checked",
      "read",
      [
        param("hash", text, true),
        param("verbosity", { type: "integer", maximum: 3 }),
      ],
      { paramStructure: "by-position", "x-checked": true },
    ),
    method("named", "read", [
      param("a", { type: "integer" }),
      param("b", { type: "object" }),
    ]),
    method("chosen", "read", [
      param("name", { enum: ["a", "1e400"] }),
      param("amount", { type: "number" }),
    ]),
    method("filtered", "read", [
      param("filter", {
        type: "object",
        properties: Object.fromEntries(
          [..."abcdefgh"].map((name) => [name, { type: "integer" }]),
        ),
      }),
    ]),
    method("heavy", "read", [param("n", { type: "integer" })], {
      "x-cost": "heavy",
    }),
    method("send", "write", [param("tx", text, true)]),
    method("balance", "secret", []),
    method("unmarked", undefined, []),
    method("a/b", "read", []),
  ],
};

export interface Gateway {
  readonly app: ReturnType<typeof createNodeface>;
  readonly calls: CallRecord[];
  ask(path: string, init?: RequestInit): Promise<Response>;
  rpc(content: unknown, init?: RequestInit): Promise<Response>;
}

export const optionsFor = (
  url: string,
  description: typeof REST | typeof RPC,
) => ({
  node: { url, kind: "none" },
  description: { name: "a.json", text: formatJson(description) },
});

export function forwarding(
  url: string,
  description: typeof REST | typeof RPC,
  forward: NodefaceOptions["forward"] = "reads",
  options: NodefaceOptions = {},
): Gateway {
  const calls: CallRecord[] = [];
  const app = createNodeface({
    ...optionsFor(url, description),
    forward,
    logCalls: "all",
    log(message, event) {
      if ("call" in event) calls.push(event.call);
      else if (event.level === "error") throw new Error(message);
    },
    ...options,
  });
  const ask: Gateway["ask"] = async (path, init) =>
    await app.fetch(new Request(`http://localhost${path}`, init));
  const rpc: Gateway["rpc"] = (content, init = {}) =>
    ask("/v1/rpc", {
      method: "POST",
      body: typeof content === "string" ? content : JSON.stringify(content),
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    });
  return { app, calls, ask, rpc };
}

/** The ids of JSON-RPC 2, as text; `undefined` for a notification. */
export const IDS: readonly (string | undefined)[] = [
  ...['"a\\u0061"', '""', "null", "0", "12345678901234567890123", "1.50", "-7", '"0"'],
  undefined,
];

export const TOKEN = "a-token-of-32-or-more-characters.";

export async function until(
  holds: () => unknown,
  what = String(holds),
): Promise<void> {
  const late = performance.now() + 60_000;
  while (!await holds()) {
    if (performance.now() > late) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
