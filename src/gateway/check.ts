/**
 * Validates the parameters and the content of a call against the description, since most nodes
 * ignore misspelt names. Patterns are evaluated only in operations marked `x-checked`, since a
 * regular expression from an untrusted description may run for hours.
 *
 * @module
 */
import { formatJson, parseComparable } from "../json/lossless.ts";
import { readParts, textOfPart } from "../json/parts.ts";
import { isEqual, isObject, onceFor } from "../json/values.ts";
import { CODES } from "../node/json-rpc.ts";
import type { NodeOperation, NodeParameter } from "../openapi/callable-operations.ts";
import type { ValueRule } from "../openapi/value-rules.ts";
import { ExpressionError, findFirst, TEXT_MAX } from "../regular-expression.ts";
import { parsePercent, shorten } from "../untrusted-text.ts";
import { fits } from "./policy.ts";
import { Refusal } from "./response.ts";

export const DEPTH_MAX = 64;

export interface WrongValue {
  readonly path: readonly string[];
  readonly rule: string;
}

const NAME_MAX = 100, VALUES_MAX = 20, RULE_MAX = 300;

/** Each rule is prepared only once, since a body may hold 500,000 values. */
const prepare = onceFor(({ values = [], properties = {}, types = [] }: ValueRule) => {
  const shown = values.slice(0, VALUES_MAX).map((one) => shorten(formatJson(one), NAME_MAX));
  const more = values.length - shown.length;
  return {
    scalars: new Set(values),
    composed: values.filter((value) => typeof value === "object" && value !== null),
    mustBeOneOf: `must be one of ${shown.join(", ")}${more > 0 ? ` or ${more} others` : ""}`,
    mustBeOfType: `must be ${types.map(withArticle).join(" or ")}`,
    folded: new Set(Object.keys(properties).map(fold)),
  };
});

const wrong = (rule: string): WrongValue => ({ path: [], rule });

/** Alternatives within alternatives multiply, so a value is compared with this many rules. */
const STEPS_MAX = 1_000_000;

/**
 * Returns only the first error. Integers above 2^53 must be passed as `bigint`.
 *
 * @param steps what is left of `STEPS_MAX`
 */
export function checkValue(
  rule: ValueRule,
  value: unknown,
  steps: { left: number } = { left: STEPS_MAX },
): WrongValue | undefined {
  if (steps.left-- <= 0) return wrong("has too many alternatives to check");
  const { types, values, anyOf } = rule;
  if (types && !types.some((type) => isOfType(value, type))) {
    return wrong(prepare(rule).mustBeOfType);
  }
  if (values) {
    const { scalars, composed, mustBeOneOf } = prepare(rule);
    const isOne = scalars.has(value) || composed.some((one) => isEqual(one, value));
    if (!isOne) return wrong(mustBeOneOf);
  }
  const bound = outOfBounds(rule, value);
  if (bound) return wrong(bound);
  const excluded = typeof value === "string" &&
    rule.excludes?.find((pattern) => holdsParts(value, pattern));
  if (excluded) return wrong(`must not contain ${excluded}`);
  const { pattern, meaning } = rule;
  if (pattern !== undefined && typeof value === "string" && !matches(pattern, value)) {
    return wrong(mustMatch(pattern, meaning));
  }
  if (anyOf?.length === 1) {
    const only = checkValue(anyOf[0]!, value, steps);
    if (only) return only;
  } else if (anyOf?.every((one) => checkValue(one, value, steps) !== undefined)) {
    return wrong("must match one of the alternatives in the description");
  }
  if (Array.isArray(value)) return rule.items && inItems(rule.items, value, steps);
  return isObject(value) ? inMembers(rule, value, steps) : undefined;
}

const mustMatch = (pattern: string, meaning = `A text that matches ${pattern}`): string =>
  `must be ${shorten(meaning.slice(0, 1).toLowerCase() + meaning.slice(1), RULE_MAX)}`;

/** An invalid expression matches nothing. */
function matches(pattern: string, text: string): boolean {
  try {
    return text.length <= TEXT_MAX && findFirst(text, pattern) !== undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

export const placeOf = ({ path }: WrongValue, ...before: readonly string[]): string =>
  shorten([...before, ...path].join("."), 3 * NAME_MAX);

const shortName = (name: string): string => shorten(name, NAME_MAX);

function holdsParts(path: string, pattern: string): boolean {
  const wanted = partsOf(pattern);
  const parts = partsOf(path);
  return parts.some((_, at) =>
    wanted.every((part, i) => at + i < parts.length && fits(part, parts[at + i]!))
  );
}

const partsOf = (path: string): string[] => path.toLowerCase().split("/").filter(Boolean);

function inItems(
  rule: ValueRule,
  items: readonly unknown[],
  steps: { left: number },
): WrongValue | undefined {
  for (let at = 0; at < items.length; at++) {
    const wrong = checkValue(rule, items[at], steps);
    if (wrong) return { ...wrong, path: [String(at), ...wrong.path] };
  }
  return undefined;
}

function inMembers(
  rule: ValueRule,
  value: Record<string, unknown>,
  steps: { left: number },
): WrongValue | undefined {
  const { properties = {}, required = [], isClosed } = rule;
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [missing], rule: "is required" };
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) {
      const wrong = checkValue(properties[name]!, value[name], steps);
      if (wrong) return { ...wrong, path: [name, ...wrong.path] };
    } else if (isClosed || prepare(rule).folded.has(fold(name))) {
      // Nodes written in Go ignore the case of member names.
      return { path: [shortName(name)], rule: "is unknown" };
    }
  }
  return undefined;
}

/** Folds the case of a name as Go does: ſ equals s, and the Kelvin sign equals k. */
const fold = (name: string): string => name.replaceAll("\u017f", "s").toLowerCase();

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return typeof value === "bigint" || Number.isInteger(value);
  if (type === "number") return typeof value === "number" || typeof value === "bigint";
  if (value === null) return type === "null";
  return type === (Array.isArray(value) ? "array" : typeof value);
}

function outOfBounds(rule: ValueRule, value: unknown): string | undefined {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = rule;
  const { minLength, maxLength, minItems, maxItems } = rule;
  if (typeof value === "number" || typeof value === "bigint") {
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
    if (above !== undefined && value <= above) return `must be above ${above}`;
    if (below !== undefined && value >= below) return `must be below ${below}`;
  } else if (typeof value === "string" && (minLength ?? maxLength) !== undefined) {
    return wrongLength(lengthOf(value), "characters", minLength, maxLength);
  } else if (Array.isArray(value)) {
    return wrongLength(value.length, "items", minItems, maxItems);
  }
  return undefined;
}

function wrongLength(
  length: number,
  unit: string,
  least: number | bigint = 0,
  most: number | bigint = Infinity,
): string | undefined {
  if (length < least) return `must have at least ${least} ${unit}`;
  return length > most ? `must have at most ${most} ${unit}` : undefined;
}

/** Counts code points, as JSON Schema does. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

const withArticle = (type: string) =>
  type === "null" ? "null" : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;

export interface WrongParameter {
  readonly in: string;
  /** Empty if the error concerns the parameters as a whole. */
  readonly name: string;
  readonly rule: string;
}

/** Makes a refusal that never shows the value of a parameter. */
export function refusalOfParameters(wrong: readonly WrongParameter[]): Refusal {
  const [{ name, rule }] = wrong as [WrongParameter];
  const others = wrong.length - 1;
  const least = wrong.length < WRONG_MAX ? "" : "at least ";
  const more = others === 0
    ? ""
    : `, and ${least}${others} more parameter${others === 1 ? " is" : "s are"} invalid`;
  const subject = name === "" ? "The method" : `The parameter "${name}"`;
  return new Refusal(400, CODES.wrongParams, `${subject} ${rule}${more}`, {
    members: { errors: JSON.stringify(wrong) },
  });
}

export const WRONG_MAX = 20;

interface GivenParameter {
  readonly parameter: NodeParameter;
  /** The decoded text of the parameter; for an exploded list, the text of each item. */
  readonly texts: readonly string[];
  readonly value: unknown;
}

export interface ReadParameters {
  readonly given: readonly GivenParameter[];
  readonly wrong: readonly WrongParameter[];
}

/** Reads the parameters whose `in` is `place`. For a JSON-RPC method, `place` is `body`. */
export function readQuery(
  parameters: readonly NodeParameter[],
  query: string,
  place: "query" | "body" = "query",
): ReadParameters {
  const known = parameters.filter((parameter) => parameter.in === place);
  if (known.length === 0 && query === "") return { given: [], wrong: [] };
  const byName = new Map(known.map((parameter) => [parameter.name, parameter]));
  const wrong: WrongParameter[] = [];
  const texts = new Map<string, string[]>();
  for (const part of query.split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const name = decode(at < 0 ? part : part.slice(0, at));
    const text = decode(at < 0 ? "" : part.slice(at + 1));
    const parameter = name === undefined ? undefined : byName.get(name);
    const before = parameter && texts.get(parameter.name);
    const rule = !parameter
      ? "is unknown"
      : text === undefined
      ? "must be encoded as UTF-8"
      : before && !isList(parameter.rule)
      ? "must be given only once"
      : undefined;
    if (rule !== undefined) {
      wrong.push({ in: "query", name: shortName(name ?? "?"), rule });
      if (wrong.length === WRONG_MAX) break;
    } // An empty optional field of a form is treated as missing.
    else if (text !== "" || parameter!.isRequired) {
      if (before) before.push(text!);
      else texts.set(parameter!.name, [text!]);
    }
  }
  return readTexts(known, (name) => texts.get(name) ?? [], "query", wrong);
}

export function readNamed(
  parameters: readonly NodeParameter[],
  place: "path" | "header",
  textOf: (name: string) => string | null | undefined,
): ReadParameters {
  const known = parameters.filter((parameter) => parameter.in === place);
  return readTexts(known, (name) => [textOf(name) ?? []].flat(), place, []);
}

function readTexts(
  parameters: readonly NodeParameter[],
  textsOf: (name: string) => readonly string[],
  place: string,
  before: readonly WrongParameter[],
): ReadParameters {
  const wrong = [...before];
  const given: GivenParameter[] = [];
  for (const parameter of parameters) {
    if (wrong.length === WRONG_MAX) break;
    const { name, isRequired, rule } = parameter;
    const found = textsOf(name);
    if (found.length === 0) {
      if (isRequired && !wrong.some((one) => one.name === name)) {
        wrong.push({ in: place, name, rule: "is required" });
      }
      continue;
    }
    const value = valueOf(parameter, found);
    const fault = checkValue(rule, value);
    if (fault) wrong.push({ in: place, name: placeOf(fault, name), rule: fault.rule });
    else given.push({ parameter, texts: found, value });
  }
  return { given, wrong };
}

function valueOf({ rule, isExploded }: NodeParameter, texts: readonly string[]): unknown {
  if (!isList(rule)) return scalarOf(rule, texts[0]!);
  const items = isExploded ? texts : texts.flatMap((text) => text.split(","));
  return items.map((text) => scalarOf(rule.items ?? {}, text));
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function scalarOf(rule: ValueRule, text: string): unknown {
  const types = typesOf(rule);
  if (!types || types.includes("string")) return text;
  if ((types.includes("integer") || types.includes("number")) && NUMBER.test(text)) {
    return parseComparable(text);
  }
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}

function typesOf({ types, anyOf, values }: ValueRule): readonly string[] | undefined {
  if (types) return types;
  if (anyOf) {
    const all = anyOf.map(typesOf);
    return all.every((types) => types !== undefined) ? all.flatMap((types) => types!) : undefined;
  }
  return values?.map((value) => typeof value === "bigint" ? "integer" : typeof value);
}

const isList = (rule: ValueRule): boolean => typesOf(rule)?.includes("array") ?? false;
const decode = (text: string) => parsePercent(text.replaceAll("+", " "));

interface CheckedParams {
  /** The JSON text to send, or `undefined` to send no parameters. */
  readonly params: string | undefined;
  readonly isHeavy: boolean;
  readonly wrong: readonly WrongParameter[];
}

/**
 * @param given the text of a JSON array or object
 * @param most the maximum number of errors to find
 */
export function checkParams(
  { parameters, isByPosition, isHeavy }: NodeOperation,
  given: string,
  place: "query" | "body" = "body",
  most: number = WRONG_MAX,
): CheckedParams {
  // An empty object is omitted, since a method that expects an array may refuse an object.
  const isNone = /^\{\s*\}$/.test(given);
  if (!parameters) return { params: isNone ? undefined : given, isHeavy, wrong: [] };
  const wrong: WrongParameter[] = [];
  const refuse = (name: string, rule: string) => {
    if (wrong.length < most) wrong.push({ in: place, name, rule });
  };
  const { items, members, count } = splitParams(parameters, given, refuse);
  const { length } = parameters;
  if (items && count > length) {
    refuse("", `takes at most ${length} parameter${length === 1 ? "" : "s"}, got ${count}`);
    return { params: undefined, isHeavy, wrong };
  }
  const texts = parameters.map(({ name }, at) => members?.get(name) ?? items?.[at]);
  let isHeavyCall = isHeavy;
  for (const [at, { name, isRequired, rule }] of parameters.entries()) {
    if (wrong.length === most) break;
    const text = texts[at];
    if (text === undefined || (text === "null" && !isRequired)) {
      if (isRequired) refuse(name, "is required");
      continue;
    }
    const fault = checkValue(rule, parseComparable(text));
    if (fault) refuse(placeOf(fault, name), fault.rule);
    // A value that is not a number, such as the text "2", counts as heavy: the node may read it as
    // one.
    const { heavyFrom } = rule;
    isHeavyCall ||= heavyFrom !== undefined && text !== "null" && !(Number(text) < heavyFrom);
  }
  const params = members && !isByPosition
    ? `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`
    : `[${inPlaces(texts).join(",")}]`;
  return { params: isNone ? undefined : params, isHeavy: isHeavyCall, wrong };
}

interface SplitParams {
  /** The JSON texts by position. */
  readonly items: readonly string[] | undefined;
  /** The JSON texts by name. */
  readonly members: ReadonlyMap<string, string> | undefined;
  readonly count: number;
}

/** Reads at most as many items as there are parameters. */
function splitParams(
  parameters: readonly NodeParameter[],
  text: string,
  refuse: (name: string, rule: string) => void,
): SplitParams {
  const known = new Set(parameters.map(({ name }) => name));
  const member = (name: string) => {
    const isKnown = known.has(name);
    if (!isKnown) refuse(shortName(name), "is unknown");
    return isKnown;
  };
  const wanted = { levels: 1, items: parameters.length, member };
  const { items, members, count } = readParts(text, wanted, DEPTH_MAX);
  return {
    items: items?.map((part) => textOfPart(text, part)),
    members: members && new Map([...members].map(([name, part]) => [name, textOfPart(text, part)])),
    count,
  };
}

function inPlaces(values: readonly (string | undefined)[]): string[] {
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value) => value ?? "null");
}
