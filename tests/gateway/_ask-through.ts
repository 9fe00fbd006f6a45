/**
 * Calls the operations that a kind describes, both directly at a real node and through the service.
 */
import { parseJson } from "../../src/json/lossless.ts";
import { type JsonObject, listOf, objectOf } from "../../src/json/values.ts";
import type { KindInterface, OpenApiPart, OpenRpcPart } from "../../src/kinds/interface.ts";
import { askOperations } from "../nodes/_ask-operations.ts";
import {
  type AskedNode,
  askMethods,
  formOf,
  type Outcome,
  type SentRequest,
} from "../nodes/_interface.ts";
import type { Beside } from "./_beside.ts";

export interface Compared {
  /** The request, such as `GET /v1/rpc/getblock?…`. */
  readonly asked: string;
  /**
   * `same`: both results have the same bytes. `moves`: the node's value changed between the
   * requests. `error`: the service passed on the node's error. `wrong`: any other outcome.
   */
  readonly is: "same" | "moves" | "error" | "wrong";
  readonly shown?: string;
}

export interface AskedThrough {
  /** The validation results of the responses that came through the service. */
  readonly outcomes: readonly Outcome[];
  readonly compared: Compared[];
  /** Successful JSON-RPC calls whose results do not change, with the results as JSON. */
  readonly still: { method: string; params: unknown; result: string }[];
}

interface Said {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/**
 * Two responses may differ in `rpc_connections_count`, which counts the connections to the node.
 */
const OF_WHO_ASKS = /("rpc_connections_count": )\d+/g;

const ATTEMPTS = 4;

export function markedAs(
  access: "read" | "secret",
  { openrpc, openapi }: KindInterface,
): KindInterface {
  const isMarked = (operation: unknown) => objectOf(operation)["x-access"] === access;
  const paths = Object.entries(openapi?.paths ?? {}).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).filter(([key, value]) => key === "parameters" || isMarked(value)),
    ),
  ]);
  return {
    ...openrpc && { openrpc: { ...openrpc, methods: openrpc.methods.filter(isMarked) } },
    ...openapi && { openapi: { ...openapi, paths: Object.fromEntries(paths) } },
  } as KindInterface;
}

/**
 * Calls each operation whose parameter values are known, by every HTTP method that the description
 * allows.
 */
export async function askThrough(
  { openrpc, openapi }: KindInterface,
  node: AskedNode,
  beside: Beside,
): Promise<AskedThrough> {
  const compared: Compared[] = [];
  const still: AskedThrough["still"] = [];
  const outcomes = [
    ...openrpc ? await throughMethods(openrpc, node, beside, { compared, still }) : [],
    ...openapi ? await throughPaths(openapi, node, beside, compared) : [],
  ];
  return { outcomes, compared, still };
}

async function throughMethods(
  part: OpenRpcPart,
  node: AskedNode,
  { paths, ask }: Beside,
  { compared, still }: Pick<AskedThrough, "compared" | "still">,
): Promise<Outcome[]> {
  const methods = new Map(part.methods.map((method) => [method.name, method]));
  // Removing `paramStructure` makes `askMethods` pass the parameters by name.
  const byName = part.methods.map(({ paramStructure: _, ...method }) => method);
  const through: AskedNode = {
    ...node,
    async call(name, params) {
      const values = objectOf(params);
      const form = formOf(methods.get(name)!, values);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: form });
      const headers = { "content-type": "application/json" };
      const direct = async () =>
        said(await node.send(node.rpcPath ?? "", { method: "POST", headers, body }));
      let last: Said | undefined;
      for (const { asked, ...init } of formsOf(name, values, paths)) {
        const { is, shown, ...found } = await compare(
          direct,
          async () => said(await ask(init.path, init)),
          isSameResult,
        );
        last = found.through;
        compared.push({ asked, is, ...shown && { shown } });
        if (is === "same" && !still.some(({ method }) => method === name)) {
          still.push({ method: name, params: form, result: last.text });
        }
      }
      if (!last) throw new Error(`${name} is not in the description with ${Object.keys(values)}`);
      const value = parseJson(last.text);
      if (last.status === 200) return { result: value };
      const { code, detail, message = detail } = objectOf(value);
      return { error: { code: Number(code ?? 0), message: `${last.status} ${message}` } };
    },
  };
  return await askMethods({ ...part, methods: byName } as OpenRpcPart, through);
}

function formsOf(name: string, values: JsonObject, paths: Beside["paths"]) {
  const path = `/v1/rpc/${encodeURIComponent(name)}`;
  const { get, post } = objectOf(paths[path]);
  const forms: (SentRequest & { asked: string; path: string })[] = [];
  const names = Object.keys(values);
  const schema = objectOf(
    objectOf(
      objectOf(objectOf(objectOf(post).requestBody).content)[
        "application/json"
      ],
    ).schema,
  );
  if (post && names.every((name) => Object.hasOwn(objectOf(schema.properties), name))) {
    const body = JSON.stringify(values);
    const headers = { "content-type": "application/json" };
    forms.push({ asked: `POST ${path} ${body}`, path, method: "POST", body, headers });
  }
  const known = listOf(objectOf(get).parameters).map((parameter) => objectOf(parameter).name);
  if (get && names.every((name) => known.includes(name))) {
    const given = Object.entries(values).filter(([, value]) => value !== null);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const target = query.size > 0 ? `${path}?${query}` : path;
    forms.push({ asked: `GET ${target}`, path: target, method: "GET" });
  }
  return forms;
}

async function throughPaths(
  part: OpenApiPart,
  node: AskedNode,
  { ask }: Beside,
  compared: Compared[],
): Promise<Outcome[]> {
  const through: AskedNode = {
    ...node,
    async request(method, { path, headers, body }) {
      const init = { method, headers, ...body !== undefined && { body } };
      const { is, shown, through } = await compare(
        async () => said(await node.send(path, init)),
        async () => said(await ask(`/v1/node${path}`, init)),
        (direct, through) => direct.status === through.status && direct.text === through.text,
      );
      compared.push({ asked: `${method} ${path} ${body ?? ""}`, is, ...shown && { shown } });
      return through;
    },
  };
  return await askOperations(part, through);
}

/**
 * Sends a request to the node, to the service, and to the node again. If the outcome is `wrong`,
 * `compare` tries again.
 */
async function compare(
  direct: () => Promise<Said>,
  through: () => Promise<Said>,
  isSame: (direct: Said, through: Said) => boolean,
): Promise<{ is: Compared["is"]; shown?: string; through: Said }> {
  for (let attempt = 1;; attempt++) {
    const before = await direct();
    const found = await through();
    const after = await direct();
    const isError = before.status >= 400 || errorOf(before.text) !== undefined;
    if (isError && isSameError(before, found)) return { is: "error", through: found };
    if (!isError && [before, after].some((one) => isSame(one, found))) {
      return { is: "same", through: found };
    }
    if (!isError && found.status < 400 && before.text !== after.text) {
      return { is: "moves", through: found };
    }
    if (attempt < ATTEMPTS) continue;
    const shown = `${before.status} ${before.text.slice(0, 300)}\n  but ${found.status} ${
      found.text.slice(0, 300)
    }`;
    return { is: "wrong", shown, through: found };
  }
}

async function said(response: Response): Promise<Said> {
  const type = response.headers.get("content-type") ?? "";
  // Latin-1 keeps every byte of binary content.
  const octets = Buffer.from(await response.arrayBuffer());
  const isText = /json|text|^$/.test(type);
  const text = octets.toString(isText ? "utf8" : "latin1").replace(
    OF_WHO_ASKS,
    (_, name) => `${name}0`,
  );
  return { status: response.status, type, text };
}

function isSameResult(direct: Said, through: Said): boolean {
  const [, before = "", rest = ""] = /^(.*?"result"\s*:\s*)(.*)$/s.exec(direct.text) ?? [];
  if (before === "" || through.status !== 200 || !rest.startsWith(through.text)) return false;
  return /^\s*(?:,\s*"(?:error|id|jsonrpc)"|\}\s*$)/.test(rest.slice(through.text.length));
}

function isSameError(direct: Said, through: Said): boolean {
  const error = errorOf(direct.text);
  if (error) {
    const { code, message } = objectOf(parseJson(through.text));
    const status = error.code === -32602 ? 400 : error.code === -32601 ? 404 : 422;
    return through.status === status && code === error.code && message === error.message;
  }
  // A 503 may mean that the node's queue is full.
  if (direct.status === 503 && through.status === 503) return true;
  if (direct.status >= 500) return through.status === 502;
  return direct.status === through.status && direct.text === through.text;
}

function errorOf(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const { error, jsonrpc, id } = objectOf(parseJson(text));
    const isRpc = jsonrpc !== undefined || id !== undefined;
    return isRpc && error ? objectOf(error) : undefined;
  } catch {
    return undefined;
  }
}
