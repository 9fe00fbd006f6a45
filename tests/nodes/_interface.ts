/** Calls the operations of kinds at real nodes, and validates the responses with the kinds' schemas. */
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

/** A running node of a kind, with some blocks or data. */
export interface AskedNode {
  /** Its version, to be compared with `x-since`. */
  readonly version: string;
  /** Its URL. */
  readonly url: string;
  /** The path of its JSON-RPC endpoint, below `url`. @default "" */
  readonly rpcPath?: string;
  /** The place of its secret, in the form of `node.auth`; absent if it needs none. */
  readonly auth?: Readonly<Record<string, string>>;
  /** Sends it a request with its secret; returns the response as received. */
  send(path: string, init: SentRequest): Promise<Response>;
  /** Calls a JSON-RPC method, if the node has JSON-RPC. */
  call?(method: string, params: unknown): Promise<RpcAnswer>;
  /** Sends an HTTP request with its secret, if the node has a REST interface. */
  request?(method: string, request: RestRequest): Promise<RestAnswer>;
  /**
   * Values of parameters that are valid at this node, by the parameter's name, or by `method.parameter` for a
   * parameter that needs another value or is optional. For REST, `method` is the `operationId`, and `method.body` is
   * the content.
   */
  readonly known: Readonly<Record<string, unknown>>;
  /** Tells whether it has a JSON-RPC method; the test call has no effect. */
  has?(method: string): Promise<boolean>;
  /** Tells whether it has a REST operation, such as `POST /blocks`; the test call has no effect. */
  hasOperation?(verb: string, path: string): Promise<boolean>;
  /** The operations that it lists itself; the kind must name them. */
  readonly listed?: readonly string[];
  stop(): Promise<void>;
}

/** A request to a node, without its secret. */
export interface SentRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The response of a node to a call. */
export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

/** The response of a node to a request. */
export interface RestAnswer {
  readonly status: number;
  /** The media type that the node sends. */
  readonly type: string;
  readonly text: string;
}

/** The result of an operation. */
export interface Outcome {
  readonly name: string;
  /** The parameters, by name. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly exists: boolean;
  readonly result?: unknown;
  /** The error in the response; `undefined` if it is valid. */
  readonly mistake?: string;
}

/** The code for a missing method. */
export const METHOD_NOT_FOUND = -32601;

/** Calls every read whose required parameters have values. */
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
      outcomes.push({ ...asked, exists, mistake: `answers ${JSON.stringify(answer.error)}` });
    } else {
      const { result } = answer;
      outcomes.push({ ...asked, exists: true, result, ...check(at, result) });
    }
  }
  return outcomes;
}

/** Tells whether a node of this version has an operation. */
export const isThere = (operation: OperationMarks, { version }: AskedNode): boolean =>
  isAtLeast(version, operation["x-since"] ?? "0");

/** Tells whether an operation is no write, does not stream, and exists in a node of this version. */
export const isHarmless = (operation: OperationMarks, node: AskedNode): boolean =>
  operation["x-access"] !== "write" && !operation["x-streaming"] && isThere(operation, node);

/** Lists the operations of a kind with their names: a JSON-RPC method's name, or an HTTP method and path. */
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

/** Returns a method's parameters, from `known` or its first example; `undefined` if a required one is in neither. */
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

/** Returns parameters in the form that the method requires. */
export function formOf(
  { paramStructure, params }: Method,
  values: Record<string, unknown>,
): unknown {
  if (paramStructure !== "by-position") return values;
  const list = params.map(({ name }) => values[name]);
  const last = list.findLastIndex((value) => value !== undefined);
  return list.slice(0, last + 1).map((value) => value ?? null);
}

/** The error of a value; empty if it is valid. */
export interface Checked {
  mistake?: string;
}

/** Returns a function that validates a result against the schema of the method with a given index. */
export function checkResults(part: OpenRpcPart): (at: number, result: unknown) => Checked {
  const check = checkAt(part);
  return (at, result) => check(`/methods/${at}/result/schema`, result);
}

/**
 * Returns a function that validates a value against the schema at a JSON pointer in `part`. All members of an object
 * must be described; otherwise a wrong name would match wherever nothing is required.
 */
export function checkAt(part: object): (pointer: string, value: unknown) => Checked {
  const formats = { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/ };
  const ajv = new Ajv2020.default({ strict: false, allErrors: true, formats });
  ajv.addSchema(JSON.parse(formatJson(part)), "part");
  return (pointer, value) => {
    const $ref = `part#${pointer.split("/").map(encodeURIComponent).join("/")}`;
    const validate: ValidateFunction = ajv.compile({ $ref, unevaluatedProperties: false });
    // ajv does not take a `bigint` for an integer.
    if (validate(JSON.parse(formatJson(value)))) return {};
    const texts = validate.errors!.slice(0, 3).map(({ instancePath, message, params }) =>
      `${instancePath || "it"} ${message} ${JSON.stringify(params)}`
    );
    return { mistake: texts.join("; ") };
  };
}

/** The numbers of a kind's operations: all, those called, those that exist, and those with a valid response. */
export interface Tally {
  readonly kind: string;
  readonly operations: number;
  readonly asked: number;
  readonly exist: number;
  readonly right: number;
}

/** Counts the calls. */
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
