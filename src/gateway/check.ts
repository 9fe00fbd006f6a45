/**
 * Checks calls of operations marked `x-checked` against the description, and writes them anew, so
 * that the node cannot read a call differently. Only a kind or the operator can mark an operation,
 * so its schemas and patterns are trusted. All other calls are sent as they came.
 *
 * @module
 */
import { parsePercent } from "../decode.ts";
import { formatJson, parseComparable, parsingComparable } from "../json/lossless.ts";
import { readParts } from "../json/parts.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { isEqual, isObject, type JsonObject, listOf, objectOf, textOf } from "../json/values.ts";
import { CODES } from "../node/json-rpc.ts";
import type { NodeOperation, NodeParameter } from "../openapi/node-operation.ts";
import { ExpressionError, findFirst, TEXT_MAX } from "../regular-expression.ts";
import { atOnce, inSlices, type Work } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import { decodeUtf8 } from "../utf8.ts";
import { CALL_DEPTH_MAX, type Content } from "./content.ts";
import { matchesPattern } from "./policy.ts";
import { Refusal } from "./refusal.ts";

/** Where a value does not match its schema, and how. */
export interface Violation {
  readonly path: readonly string[];
  readonly rule: string;
}

const NAME_MAX = 300, VALUE_MAX = 100, VALUES_MAX = 20, RULE_MAX = 300;

const violation = (rule: string): Violation => ({ path: [], rule });

/** Keywords that are not read. A value cannot be checked against a schema that has one. */
const UNREAD = [
  ...["not", "if", "contains", "prefixItems", "patternProperties", "propertyNames"],
  ...["dependentSchemas", "dependentRequired", "unevaluatedItems", "unevaluatedProperties"],
  ...["multipleOf", "uniqueItems", "minProperties", "maxProperties", "$dynamicRef"],
  "dependencies",
];

/** Members that are read, but not in this form. */
const unreadFormIn = (schema: JsonObject): string | undefined => {
  if (schema.anyOf !== undefined && schema.oneOf !== undefined) return "oneOf beside anyOf";
  if (Array.isArray(schema.items)) return "a list of items";
  return ["exclusiveMinimum", "exclusiveMaximum"].find((keyword) => schema[keyword] === true);
};

/** The maximum nesting depth of alternatives, since a schema may refer to itself. */
const ALTERNATIVES_MAX = 8;

/** Returns only the first error. Integers above 2^53 must be passed as `bigint`. */
export const violationOf = (schema: unknown, value: unknown): Violation | undefined =>
  atOnce(findViolation(schema, value));

/**
 * Does the same as `violationOf` in steps.
 *
 * @param given a schema, or `false` if no value is allowed
 * @param depth the number of alternatives that the schema is within
 */
function* findViolation(
  given: unknown,
  value: unknown,
  depth: number = 0,
): Work<Violation | undefined> {
  if (given === false) return violation("is not allowed");
  const schema = objectOf(given);
  const unread = UNREAD.find((keyword) => schema[keyword] !== undefined) ?? unreadFormIn(schema);
  if (unread !== undefined) return violation(`cannot be checked, since its schema has "${unread}"`);
  if (depth > ALTERNATIVES_MAX) return violation("cannot be checked, since its schema is too deep");
  const types = schema.type === undefined ? [] : [schema.type].flat().map(String);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return violation(`must be ${types.map(typeWithArticle).join(" or ")}`);
  }
  const values = allowedValues(schema);
  if (values && !values.some((one) => isEqual(one, value))) return violation(mustBeOneOf(values));
  const misfit = outOfBounds(schema, value) ??
    (typeof value === "string" ? wrongText(schema, value) : undefined);
  if (misfit !== undefined) return violation(misfit);
  const options = listOf(schema.anyOf ?? schema.oneOf);
  let isFound = options.length === 0;
  for (let at = 0; !isFound && at < options.length; at++) {
    isFound = !(yield* findViolation(options[at], value, depth + 1));
  }
  if (!isFound) return violation("must match one of the alternatives in the description");
  for (const part of listOf(schema.allOf)) {
    const inPart = yield* findViolation(part, value, depth + 1);
    if (inPart) return inPart;
  }
  if (Array.isArray(value)) return yield* inItems(schema.items, value);
  return isObject(value) ? yield* inMembers(schema, value) : undefined;
}

function allowedValues(schema: JsonObject): readonly unknown[] | undefined {
  const values = Array.isArray(schema.enum) ? schema.enum : undefined;
  if (schema.const === undefined) return values;
  return [schema.const].filter((one) => !values || values.some((value) => isEqual(value, one)));
}

function mustBeOneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_MAX).map((one) => shorten(formatJson(one), VALUE_MAX));
  const more = values.length - shown.length;
  return `must be one of ${shown.join(", ")}${more > 0 ? ` or ${more} others` : ""}`;
}

function wrongText(schema: JsonObject, text: string): string | undefined {
  const excluded = listOf(schema["x-excludes"]).map(String).find((one) => holdsParts(text, one));
  if (excluded !== undefined) return `must not contain ${excluded}`;
  const pattern = textOf(schema.pattern);
  if (pattern === undefined || matches(pattern, text)) return undefined;
  const meaning = textOf(schema.description) ?? `A text that matches ${pattern}`;
  return `must be ${shorten(meaning.slice(0, 1).toLowerCase() + meaning.slice(1), RULE_MAX)}`;
}

/** An invalid expression matches nothing. */
function matches(pattern: string, text: string): boolean {
  try {
    return text.length <= TEXT_MAX && findFirst(text, pattern) !== undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

function holdsParts(path: string, pattern: string): boolean {
  const wanted = segmentsOf(pattern);
  const parts = segmentsOf(path);
  return parts.some((_, at) =>
    wanted.every((part, i) => at + i < parts.length && matchesPattern(part, parts[at + i]!))
  );
}

const segmentsOf = (path: string): string[] => path.toLowerCase().split("/").filter(Boolean);

function* inItems(schema: unknown, items: readonly unknown[]): Work<Violation | undefined> {
  for (const [at, item] of items.entries()) {
    yield;
    const found = yield* findViolation(schema, item);
    if (found) return { ...found, path: [String(at), ...found.path] };
  }
  return undefined;
}

function* inMembers(schema: JsonObject, value: JsonObject): Work<Violation | undefined> {
  const { additionalProperties: others } = schema;
  const properties = objectOf(schema.properties);
  const missing = listOf(schema.required).map(String).find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [missing], rule: "is required" };
  const folded = new Set(Object.keys(properties).map(foldName));
  for (const name of Object.keys(value)) {
    const isKnown = Object.hasOwn(properties, name);
    // Nodes written in Go ignore the case of member names.
    if (!isKnown && (others === false || folded.has(foldName(name)))) {
      return { path: [name], rule: "is unknown" };
    }
    yield;
    const found = yield* findViolation(isKnown ? properties[name] : others, value[name]);
    if (found) return { ...found, path: [name, ...found.path] };
  }
  return undefined;
}

/** Folds the case of a name as Go does: ſ equals s, and the Kelvin sign equals k. */
const foldName = (name: string): string => name.replaceAll("\u017f", "s").toLowerCase();

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return typeof value === "bigint" || Number.isInteger(value);
  if (type === "number") return typeof value === "number" || typeof value === "bigint";
  if (value === null) return type === "null";
  return type === (Array.isArray(value) ? "array" : typeof value);
}

const numberOf = (value: unknown): number | bigint | undefined =>
  typeof value === "number" || typeof value === "bigint" ? value : undefined;

function outOfBounds(schema: JsonObject, value: unknown): string | undefined {
  const bound = (keyword: string) => numberOf(schema[keyword]);
  const number = numberOf(value);
  if (number !== undefined) {
    const [least, most] = [bound("minimum"), bound("maximum")];
    if (least !== undefined && number < least) return `must be at least ${least}`;
    if (most !== undefined && number > most) return `must be at most ${most}`;
    const [above, below] = [bound("exclusiveMinimum"), bound("exclusiveMaximum")];
    if (above !== undefined && number <= above) return `must be above ${above}`;
    return below !== undefined && number >= below ? `must be below ${below}` : undefined;
  }
  if (typeof value === "string") {
    const [least, most] = [bound("minLength"), bound("maxLength")];
    if (least === undefined && most === undefined) return undefined;
    // JSON Schema counts code points.
    return wrongLength([...value].length, "characters", least, most);
  }
  if (!Array.isArray(value)) return undefined;
  return wrongLength(value.length, "items", bound("minItems"), bound("maxItems"));
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

const typeWithArticle = (type: string) =>
  type === "null" ? "null" : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;

/** Makes a refusal that never shows the value of a parameter. */
export function refusalOfParameter(place: string, name: string, rule: string): Refusal {
  const shown = shorten(name, NAME_MAX);
  const message = shown === "" ? `The method ${rule}` : `The parameter "${shown}" ${rule}`;
  return new Refusal(400, CODES.wrongParams, message, {
    members: { errors: JSON.stringify([{ in: place, name: shown, rule }]) },
  });
}

/** A text with fewer characters is checked in a few milliseconds, whatever its patterns. */
const SHORT = 4096;

/** @throws {Refusal} if the JSON text of a value, which may be long, does not match the schema */
async function requireJson(
  schema: JsonObject,
  text: string,
  place: string,
  name: string,
): Promise<void> {
  const found = text.length < SHORT
    ? violationOf(schema, parseComparable(text))
    : await inSlices(findViolation(schema, await inSlices(parsingComparable(text))));
  refuseViolation(found, place, name);
}

/** @throws {Refusal} if there is a violation */
function refuseViolation(found: Violation | undefined, place: string, name: string): void {
  if (!found) return;
  const path = [name, ...found.path].filter(Boolean).join(".");
  throw refusalOfParameter(place, path || place, found.rule);
}

/** The parts of a call that are checked. */
export interface CheckedParts {
  readonly query: string;
  readonly pathParameters: ReadonlyMap<string, string>;
  readonly headers: Pick<Headers, "get">;
  readonly content: Content;
}

/**
 * Checks a call of a path, and returns the query to send.
 *
 * @throws {Refusal} if a parameter or the content is not as described
 */
export async function checkCall(
  operation: NodeOperation,
  { query, pathParameters, headers, content }: CheckedParts,
): Promise<string> {
  const given = readQuery(query);
  const known = operation.parameters ?? [];
  const named = known.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const unknown = [...given.keys()].find((name) => !named.includes(name));
  if (unknown !== undefined) throw refusalOfParameter("query", unknown, "is unknown");
  const written: string[] = [];
  for (const parameter of known) {
    const { name, in: place } = parameter;
    const texts = place === "query"
      ? given.get(name) ?? onlyTextOf(parameter)
      : [(place === "path" ? pathParameters.get(name) : headers.get(name)) ?? []].flat();
    checkTexts(parameter, texts);
    if (place === "query") written.push(...texts.map((text) => writtenInQuery(parameter, text)));
  }
  await checkContent(content, operation);
  return written.join("&");
}

/** The node may split a list at its commas, but not at those that are encoded. */
function writtenInQuery({ name, schema = {} }: NodeParameter, text: string): string {
  const value = encodeURIComponent(text);
  const isList = schema.type === "array";
  return `${encodeURIComponent(name)}=${isList ? value.replaceAll("%2C", ",") : value}`;
}

/**
 * Reads the names and texts of a query. A parameter without a text has an empty list.
 *
 * @throws {Refusal} if the query is not encoded as UTF-8
 */
export function readQuery(query: string): Map<string, string[]> {
  const given = new Map<string, string[]>();
  for (const part of query.split("&").filter(Boolean)) {
    const [start] = part.split("=", 1) as [string];
    const [name, text] = [start, part.slice(start.length + 1)]
      .map((one) => parsePercent(one.replaceAll("+", " ")));
    if (name === undefined || text === undefined) {
      throw refusalOfParameter("query", name ?? "?", "must be encoded as UTF-8");
    }
    const texts = given.get(name) ?? [];
    if (text !== "") texts.push(text);
    given.set(name, texts);
  }
  return given;
}

/** A required parameter that can have one value only need not be sent. */
function onlyTextOf({ isRequired, schema = {} }: NodeParameter): string[] {
  const values = allowedValues(schema);
  return isRequired && values?.length === 1 ? [String(values[0])] : [];
}

function checkTexts(parameter: NodeParameter, texts: readonly string[]): void {
  const { name, in: place, isRequired, schema = {}, isExploded } = parameter;
  const [first] = texts;
  const isList = schema.type === "array";
  // A node may split a list at its commas, and omit empty items.
  const isEmpty = isList ? !texts.some((text) => /[^,\s\x85]/.test(text)) : first === undefined;
  if (isEmpty && isRequired) throw refusalOfParameter(place, name, "is required");
  if (first === undefined) return;
  if (!isList) {
    if (texts.length > 1) throw refusalOfParameter(place, name, "must be given only once");
    return refuseViolation(violationOf(schema, scalarOf(schema, first)), place, name);
  }
  const items = isExploded ? texts : texts.flatMap((text) => text.split(","));
  const itemSchema = objectOf(schema.items);
  const values = items.map((text) => scalarOf(itemSchema, text));
  refuseViolation(violationOf(schema, values), place, name);
}

/** No exponent: a node may read the digits before it as the number. */
const SCALAR = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/;

/** Reads a text as a number or a boolean, unless the schema allows the text itself. */
const scalarOf = (schema: JsonObject, text: string): unknown =>
  SCALAR.test(text) && violationOf(schema, text) ? parseComparable(text) : text;

/** Refuses duplicate keys, since JSON parsers disagree about which of two equal keys counts. */
async function checkContent({ bytes, type = "" }: Content, { body }: NodeOperation): Promise<void> {
  if (!bytes && body?.isRequired) throw refusalOfParameter("body", "body", "is required");
  if (!bytes) return;
  const text = decodeUtf8(bytes);
  if (text === undefined) throw refusalOfParameter("body", "body", "must be UTF-8 text");
  try {
    await readParts(text, { levels: 0 }, CALL_DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const rule = `must be JSON with at most ${CALL_DEPTH_MAX} levels and no duplicate keys`;
    throw refusalOfParameter("body", "body", rule);
  }
  await requireJson(body!.schemas[type]!, text, "body", "");
}

/**
 * Checks the parameters of a method, each of which is the JSON text of a value.
 *
 * @param texts the texts by position
 * @throws {Refusal} if a parameter is not as described
 */
export async function checkParams(
  parameters: readonly NodeParameter[],
  texts: readonly (string | undefined)[],
): Promise<void> {
  for (const [at, { name, isRequired, schema = {} }] of parameters.entries()) {
    const text = texts[at];
    if (text !== undefined && (text !== "null" || isRequired)) {
      await requireJson(schema, text, "body", name);
    } else if (isRequired) throw refusalOfParameter("body", name, "is required");
  }
}
