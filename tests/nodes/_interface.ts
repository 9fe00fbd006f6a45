/** Asks real nodes what their kinds offer, and holds the answers against the kinds' schemas. */
import Ajv2020 from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { isNoMethod } from "../../src/gateway/call-rpc.ts";
import { formatJson } from "../../src/json/lossless.ts";
import type {
  KindInterface,
  Method,
  OpenRpcPart,
  OperationMarks,
} from "../../src/kinds/interface.ts";
import type { RestRequest } from "./_ask-operations.ts";

/** A node of a kind that runs, with some blocks or data in it. */
export interface AskedNode {
  /** Its version, to be compared with `x-since`. */
  readonly version: string;
  /** Where it answers. */
  readonly url: string;
  /** Where its methods are posted to, below that. @default "" */
  readonly rpcPath?: string;
  /** Where its secret lies, as `node.auth` says it; without it there is none. */
  readonly auth?: Readonly<Record<string, string>>;
  /** Sends it a request with its secret; the answer as it came. */
  send(path: string, init: SentRequest): Promise<Response>;
  /** Calls a method of JSON-RPC, where it speaks that. */
  call?(method: string, params: unknown): Promise<RpcAnswer>;
  /** Asks it by HTTP with its secret, where it speaks REST. */
  request?(method: string, request: RestRequest): Promise<RestAnswer>;
  /**
   * Values of parameters that hold at this node, by the parameter's name, or by `method.parameter` where it
   * wants another one than the others, or wants one though it may be left out. Of REST `method` is the
   * `operationId`, and `method.body` is the content.
   */
  readonly known: Readonly<Record<string, unknown>>;
  /** Whether it has a method of JSON-RPC; what is asked for that has no effect. */
  has?(method: string): Promise<boolean>;
  /** Whether it has an operation of REST, such as `POST /blocks`; what is asked for that has no effect. */
  hasOperation?(verb: string, path: string): Promise<boolean>;
  /** What it lists itself and has to be named. */
  readonly listed?: readonly string[];
  stop(): Promise<void>;
}

/** A request to a node, less its secret. */
export interface SentRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a node answers to a call. */
export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

/** What a node answers to a request. */
export interface RestAnswer {
  readonly status: number;
  /** The media type, as the node says it. */
  readonly type: string;
  readonly text: string;
}

/** What became of an operation. */
export interface Outcome {
  readonly name: string;
  /** What it was asked with; an object of names. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly exists: boolean;
  readonly result?: unknown;
  /** What is wrong with the answer; `undefined` where it fits. */
  readonly mistake?: string;
}

/** The code by which a node says that it has no such method. */
export const METHOD_NOT_FOUND = -32601;

/** Asks every method that reads, and whose required parameters have values. */
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

/** Whether a node of this version has an operation. */
export const isThere = (operation: OperationMarks, { version }: AskedNode): boolean =>
  isAtLeast(version, operation["x-since"] ?? "0");

/** Whether a node of this version has an operation that changes nothing and ends. */
export const isHarmless = (operation: OperationMarks, node: AskedNode): boolean =>
  operation["x-access"] !== "write" && !operation["x-streaming"] && isThere(operation, node);

/** What a kind offers by name: a method's own, or the verb and the path of REST. */
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

/** What a method is asked with: its example, with values that hold here; `undefined` where one is missing. */
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

/** Parameters in the form in which the method takes them. */
export function formOf(
  { paramStructure, params }: Method,
  values: Record<string, unknown>,
): unknown {
  if (paramStructure !== "by-position") return values;
  const list = params.map(({ name }) => values[name]);
  const last = list.findLastIndex((value) => value !== undefined);
  return list.slice(0, last + 1).map((value) => value ?? null);
}

/** What is wrong with a value; nothing where it fits. */
export interface Checked {
  mistake?: string;
}

/** Checks results by the schemas of their methods, by the place of the method in the list. */
export function checkResults(part: OpenRpcPart): (at: number, result: unknown) => Checked {
  const check = checkAt(part);
  return (at, result) => check(`/methods/${at}/result/schema`, result);
}

/**
 * Checks values by the schemas of a part, by the pointer of the schema. Each member of an object has to be
 * named there, or a wrong name would fit wherever nothing is required.
 */
export function checkAt(part: object): (pointer: string, value: unknown) => Checked {
  const formats = { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/ };
  const ajv = new Ajv2020.default({ strict: false, allErrors: true, formats });
  ajv.addSchema(JSON.parse(formatJson(part)), "part");
  return (pointer, value) => {
    const $ref = `part#${pointer.split("/").map(encodeURIComponent).join("/")}`;
    const validate: ValidateFunction = ajv.compile({ $ref, unevaluatedProperties: false });
    // Whole numbers above 2^53 are of a type that ajv does not know.
    if (validate(JSON.parse(formatJson(value)))) return {};
    const texts = validate.errors!.slice(0, 3).map(({ instancePath, message, params }) =>
      `${instancePath || "it"} ${message} ${JSON.stringify(params)}`
    );
    return { mistake: texts.join("; ") };
  };
}

/** The numbers of a kind. */
export interface Tally {
  readonly kind: string;
  readonly operations: number;
  readonly asked: number;
  readonly exist: number;
  readonly right: number;
}

/** Counts what was asked. */
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
