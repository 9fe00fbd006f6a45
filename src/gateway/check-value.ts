/**
 * Holds a value against what a description says of it. Patterns are not run: a regular expression from elsewhere
 * is code.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject } from "../json/values.ts";
import type { ValueRule } from "../openapi/callable-operations.ts";
import { holdsParts } from "./wildcards.ts";

/** What is wrong, as a clause, and at which member. */
export interface WrongValue {
  /** The names on the way to it, such as `["vin", "0", "txid"]`. */
  readonly path: readonly string[];
  /** What it has to be, such as "must be an integer". */
  readonly rule: string;
}

/**
 * Checks a value.
 *
 * @param value JSON; a whole number above 2^53 is a `bigint`
 * @returns what is wrong first; `undefined` where nothing is
 */
export function checkValue(rule: ValueRule, value: unknown): WrongValue | undefined {
  const wrong = (says: string): WrongValue => ({ path: [], rule: says });
  const { types, values, anyOf } = rule;
  if (types && !types.some((type) => isOfType(value, type))) {
    return wrong(`must be ${types.map(withArticle).join(" or ")}`);
  }
  if (values && !values.some((one) => isEqual(one, value))) {
    return wrong(`must be one of ${values.map((one) => formatJson(one)).join(", ")}`);
  }
  const bound = outOfBounds(rule, value);
  if (bound) return wrong(bound);
  const excluded = typeof value === "string" &&
    rule.excludes?.find((pattern) => holdsParts(value, pattern));
  if (excluded) return wrong(`must not hold ${excluded}`);
  if (anyOf && anyOf.every((one) => checkValue(one, value) !== undefined)) {
    const [only] = anyOf;
    return anyOf.length === 1 ? checkValue(only!, value) : wrong("must be one of its forms");
  }
  if (Array.isArray(value)) return rule.items && inItems(rule.items, value);
  return isObject(value) ? inMembers(rule, value) : undefined;
}

function inItems(rule: ValueRule, items: readonly unknown[]): WrongValue | undefined {
  for (const [at, item] of items.entries()) {
    const wrong = checkValue(rule, item);
    if (wrong) return { ...wrong, path: [String(at), ...wrong.path] };
  }
  return undefined;
}

function inMembers(
  { properties = {}, required = [], isClosed }: ValueRule,
  value: Record<string, unknown>,
): WrongValue | undefined {
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [missing], rule: "is required" };
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) {
      const wrong = checkValue(properties[name]!, member);
      if (wrong) return { ...wrong, path: [name, ...wrong.path] };
    } else if (isClosed || isNearlyKnown(name, properties)) {
      return { path: [name], rule: "is not known" };
    }
  }
  return undefined;
}

/** Whether a name differs by its case alone from one that is known: nodes written in Go take it for that. */
function isNearlyKnown(name: string, properties: Readonly<Record<string, ValueRule>>): boolean {
  const folded = fold(name);
  return Object.keys(properties).some((known) => fold(known) === folded);
}

/** As Go folds a name: ſ and the sign of kelvin are letters of ASCII then. */
const fold = (name: string): string => name.replaceAll("\u017f", "s").toLowerCase();

function isOfType(value: unknown, type: string): boolean {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (type === "integer") return typeof value === "bigint" || Number.isInteger(value);
  if (type === "number") return isNumber;
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  const own: string = typeof value;
  return own === type;
}

function outOfBounds(rule: ValueRule, value: unknown): string | undefined {
  const { minimum, maximum, above, below, minLength, maxLength, minItems, maxItems } = rule;
  if (typeof value === "number" || typeof value === "bigint") {
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
    if (above !== undefined && value <= above) return `must be above ${above}`;
    if (below !== undefined && value >= below) return `must be below ${below}`;
  } else if (typeof value === "string") {
    const length = [...value].length;
    if (minLength !== undefined && length < minLength) {
      return `must have at least ${minLength} characters`;
    }
    if (maxLength !== undefined && length > maxLength) {
      return `must have at most ${maxLength} characters`;
    }
  } else if (Array.isArray(value)) {
    if (minItems !== undefined && value.length < minItems) {
      return `must have at least ${minItems} items`;
    }
    if (maxItems !== undefined && value.length > maxItems) {
      return `must have at most ${maxItems} items`;
    }
  }
  return undefined;
}

const withArticle = (type: string) =>
  type === "null" ? "null" : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
