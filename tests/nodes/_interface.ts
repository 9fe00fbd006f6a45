/**
 * Calls the operations in the kind files on real nodes, and validates each response against its
 * schema.
 */
import Ajv2020 from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { isNoMethod } from "../../src/node/json-rpc.ts";
import { formatJson } from "../../src/json/lossless.ts";
import type {
  KindInterface,
  Method,
  OpenRpcPart,
  OperationMarks,
} from "../../src/kinds/interface.ts";
import type { RestRequest } from "./_ask-operations.ts";

export interface AskedNode {
  /**
   * The node's version. The node need not have operations whose `x-since` is later than this
   * version.
   */
  readonly version: string;
  readonly url: string;
  /** The path of the JSON-RPC endpoint, below `url`. @default "" */
  readonly rpcPath?: string;
  /** The value has the form of the `node.auth` setting. Absent if the node needs no secret. */
  readonly auth?: Readonly<Record<string, string>>;
  /** Adds the node's secret to the request. */
  send(path: string, init: SentRequest): Promise<Response>;
  /** Absent if the node has no JSON-RPC. */
  call?(method: string, params: unknown): Promise<RpcAnswer>;
  /** Adds the node's secret to the request. Absent if the node has no REST interface. */
  request?(method: string, request: RestRequest): Promise<RestAnswer>;
  /**
   * Valid values of parameters. For required parameters, the key is the parameter's name. For
   * optional parameters, and for values that apply to a single method, the key is
   * `method.parameter`. For REST operations, `method` is the `operationId`. The key of a request
   * body is `operationId.body`.
   */
  readonly known: Readonly<Record<string, unknown>>;
  /** This call must not change the node. */
  has?(method: string): Promise<boolean>;
  /** This call must not change the node. */
  hasOperation?(verb: string, path: string): Promise<boolean>;
  /** The operations that the node itself lists. */
  readonly listed?: readonly string[];
  stop(): Promise<void>;
}

export interface SentRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

export interface RestAnswer {
  readonly status: number;
  /** The media type of the response. */
  readonly type: string;
  readonly text: string;
}

export interface Outcome {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly exists: boolean;
  readonly result?: unknown;
  /** `undefined` if the response is valid. */
  readonly mistake?: string;
}

export const METHOD_NOT_FOUND = -32601;

export async function askMethods(part: OpenRpcPart, node: AskedNode): Promise<Outcome[]> {
  const check = checkResults(part);
  const outcomes: Outcome[] = [];
  for (const [at, method] of part.methods.entries()) {
    const params = isHarmless(method, node) ? paramsOf(method, node.known) : undefined;
    if (!params) continue;
    const answer = await node.call!(method.name, formOf(method, params));
    const asked = { name: method.name, params };
    if ("error" in answer) {
      const { code, message } = answer.error;
      const exists = !isNoMethod({ code: String(code), message, data: undefined });
      outcomes.push({ ...asked, exists, mistake: `gets ${JSON.stringify(answer.error)}` });
    } else {
      const { result } = answer;
      outcomes.push({ ...asked, exists: true, result, ...check(at, result) });
    }
  }
  return outcomes;
}

export const isThere = (operation: OperationMarks, { version }: AskedNode): boolean =>
  isAtLeast(version, operation["x-since"] ?? "0");

export const isHarmless = (operation: OperationMarks, node: AskedNode): boolean =>
  operation["x-access"] !== "write" && !operation["x-streaming"] && isThere(operation, node);

/** The name of a REST operation consists of its HTTP method and its path. */
export function operationsOf({ openrpc, openapi }: KindInterface): [string, OperationMarks][] {
  const methods = (openrpc?.methods ?? []).map((method): [string, OperationMarks] => [
    method.name,
    method,
  ]);
  const rest = Object.entries(openapi?.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item).filter(([verb]) => verb !== "parameters")
      .map(([verb, operation]): [string, OperationMarks] => [
        `${verb.toUpperCase()} ${path}`,
        operation as OperationMarks,
      ])
  );
  return [...methods, ...rest];
}

function isAtLeast(version: string, least: string): boolean {
  const [has, wants] = [version, least].map((text) => text.split(".").map(Number));
  const at = wants!.findIndex((number, at) => number !== (has![at] ?? 0));
  return at < 0 || (has![at] ?? 0) > wants![at]!;
}

/** Returns `undefined` if the value of a required parameter is unknown. */
export function paramsOf(
  { name, params, examples }: Method,
  known: AskedNode["known"],
): Record<string, unknown> | undefined {
  const example = new Map(examples?.[0]?.params.map(({ name, value }) => [name, value]));
  const values = params.map((param) => {
    const own = known[`${name}.${param.name}`];
    const isGiven = own !== undefined || example.has(param.name) || param.required;
    const value = own ?? known[param.name] ?? example.get(param.name);
    return [param, isGiven ? value : undefined] as const;
  });
  if (values.some(([{ required }, value]) => required && value === undefined)) return undefined;
  const given = values.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([{ name }, value]) => [name, value]));
}

export function formOf(
  { paramStructure, params }: Method,
  values: Record<string, unknown>,
): unknown {
  if (paramStructure !== "by-position") return values;
  const list = params.map(({ name }) => values[name]);
  const last = list.findLastIndex((value) => value !== undefined);
  return list.slice(0, last + 1).map((value) => value ?? null);
}

/** `mistake` is absent if the value is valid. */
export interface Checked {
  mistake?: string;
}

export function checkResults(part: OpenRpcPart): (at: number, result: unknown) => Checked {
  const check = checkAt(part);
  return (at, result) => check(`/methods/${at}/result/schema`, result);
}

/**
 * Members that the schema does not describe are errors. This reveals misspelled optional members in
 * the schema.
 */
export function checkAt(part: object): (pointer: string, value: unknown) => Checked {
  const formats = { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/ };
  const ajv = new Ajv2020.default({
    code: { optimize: false },
    strict: false,
    allErrors: true,
    formats,
  });
  ajv.addSchema(JSON.parse(formatJson(part)), "part");
  return (pointer, value) => {
    const $ref = `part#${pointer.split("/").map(encodeURIComponent).join("/")}`;
    const validate: ValidateFunction = ajv.compile({ $ref, unevaluatedProperties: false });
    // ajv does not accept a `bigint` as an integer.
    if (validate(JSON.parse(formatJson(value)))) return {};
    const texts = validate.errors!.slice(0, 3).map(({ instancePath, message, params }) =>
      `${instancePath || "it"} ${message} ${JSON.stringify(params)}`
    );
    return { mistake: texts.join("; ") };
  };
}

/**
 * `exist` is the number of called operations that the node has. `right` is the number of called
 * operations with a valid response.
 */
export interface Tally {
  readonly kind: string;
  readonly operations: number;
  readonly asked: number;
  readonly exist: number;
  readonly right: number;
}

export function tally(
  kind: string,
  parts: KindInterface,
  outcomes: readonly Outcome[],
): Tally {
  return {
    kind,
    operations: operationsOf(parts).length,
    asked: outcomes.length,
    exist: outcomes.filter(({ exists }) => exists).length,
    right: outcomes.filter(({ mistake }) => mistake === undefined).length,
  };
}
