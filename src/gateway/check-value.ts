/**
 * Holds a value against what a description says of it. Patterns are not run: a regular expression from elsewhere
 * is code.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject } from "../json/values.ts";
import type { ValueRule } from "../openapi/callable-operations.ts";
import { shorten } from "../untrusted-text.ts";
import { holdsParts } from "./wildcards.ts";

/** What is wrong, as a clause, and at which member. */
export interface WrongValue {
  /** The names on the way to it, such as `["vin", "0", "txid"]`. */
  readonly path: readonly string[];
  /** What it has to be, such as "must be an integer". */
  readonly rule: string;
}

/** How much of a name that somebody made up is told, and of the values that there are. */
const NAME_MAX = 100, VALUES_MAX = 20;

/** What is made of a rule once, since a body may have half a million values to hold against it. */
interface Prepared {
  readonly scalars: ReadonlySet<unknown>;
  readonly composed: readonly unknown[];
  readonly mustBeOneOf: string;
  /** The names of members as the laxest node reads them. */
  readonly folded: ReadonlySet<string>;
}

const prepared = new WeakMap<ValueRule, Prepared>();

function prepare(rule: ValueRule): Prepared {
  let made = prepared.get(rule);
  if (!made) {
    const { values = [], properties = {} } = rule;
    const told = values.slice(0, VALUES_MAX).map((one) => shorten(formatJson(one), NAME_MAX));
    const more = values.length - told.length;
    made = {
      scalars: new Set(values.filter((value) => typeof value !== "object" || value === null)),
      composed: values.filter((value) => typeof value === "object" && value !== null),
      mustBeOneOf: `must be one of ${told.join(", ")}${more > 0 ? `, or of ${more} others` : ""}`,
      folded: new Set(Object.keys(properties).map(fold)),
    };
    prepared.set(rule, made);
  }
  return made;
}

/**
 * Checks a value.
 *
 * @param value JSON; a whole number above 2^53 is a `bigint`, a number above all doubles an infinite one
 * @returns what is wrong first; `undefined` where nothing is
 */
export function checkValue(rule: ValueRule, value: unknown): WrongValue | undefined {
  const wrong = (says: string): WrongValue => ({ path: [], rule: says });
  const { types, values, anyOf } = rule;
  if (types && !types.some((type) => isOfType(value, type))) {
    return wrong(`must be ${types.map(withArticle).join(" or ")}`);
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
  if (excluded) return wrong(`must not hold ${excluded}`);
  if (anyOf?.length === 1) {
    const only = checkValue(anyOf[0]!, value);
    if (only) return only;
  } else if (anyOf?.every((one) => checkValue(one, value) !== undefined)) {
    return wrong("must be one of its forms");
  }
  if (Array.isArray(value)) return rule.items && inItems(rule.items, value);
  return isObject(value) ? inMembers(rule, value) : undefined;
}

/** The place of a wrong value, short enough to be told: the names that lead to it, and those before. */
export const placeOf = ({ path }: WrongValue, ...before: readonly string[]): string =>
  shorten([...before, ...path].join("."), 3 * NAME_MAX);

/** A name that somebody made up, short enough to be told. */
export const tellName = (name: string): string => shorten(name, NAME_MAX);

function inItems(rule: ValueRule, items: readonly unknown[]): WrongValue | undefined {
  for (let at = 0; at < items.length; at++) {
    const wrong = checkValue(rule, items[at]);
    if (wrong) return { ...wrong, path: [String(at), ...wrong.path] };
  }
  return undefined;
}

function inMembers(rule: ValueRule, value: Record<string, unknown>): WrongValue | undefined {
  const { properties = {}, required = [], isClosed } = rule;
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [missing], rule: "is required" };
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) {
      const wrong = checkValue(properties[name]!, value[name]);
      if (wrong) return { ...wrong, path: [name, ...wrong.path] };
    } else if (isClosed || prepare(rule).folded.has(fold(name))) {
      // Nodes written in Go take a name that differs by its case alone for one that they know.
      return { path: [tellName(name)], rule: "is not known" };
    }
  }
  return undefined;
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
    const length = (minLength ?? maxLength) === undefined ? 0 : lengthOf(value);
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

/** The length of a text in characters, as JSON Schema counts it. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

const withArticle = (type: string) =>
  type === "null" ? "null" : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
