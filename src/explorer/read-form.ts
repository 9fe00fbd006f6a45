/**
 * Reads the form in which an operation is tried: its parameters and its body, with examples.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isObject, type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import { exampleOf, firstMemberOf, makeExample } from "./example-value.ts";
import { writeUnits } from "./units.ts";
import { EXAMPLE_FROM, multiSegmentOf } from "../kinds/interface.ts";
import type { Reference } from "../kinds/kind.ts";
import { isPlace, type Place, withoutParameters } from "../openapi/callable-operations.ts";
import { followReference } from "../openapi/operations.ts";

export interface Form {
  readonly fields: readonly Field[];
  readonly body: FormBody | undefined;
  /** The scheme of the token that it needs at this service; `undefined` where it needs none. */
  readonly token: string | undefined;
  /** True for what may change something. */
  readonly isWrite: boolean;
  /** True if its response does not end, so that a page cannot send it. */
  readonly isEndless: boolean;
  /** The units of numbers in its response, as `units.ts` writes them. */
  readonly units: string;
}

export interface Field {
  readonly name: string;
  readonly in: Place;
  /** Such as `integer` or `string, date-time`; may be empty. */
  readonly type: string;
  readonly isRequired: boolean;
  /** The example or the default as text, or an empty text. */
  readonly example: string;
  /** True if the example is filled in, and not only shown while the field is empty. */
  readonly isFilled: boolean;
  /** The choice of values; empty where anything may be written. */
  readonly values: readonly string[];
  /** The way of several values: by the name again for each, or by commas; `undefined` for one value. */
  readonly list: "again" | "comma" | undefined;
  /** True if its value may hold slashes that separate segments of the path. */
  readonly spans: boolean;
  /** An expression that takes no longer for a long text than a reader waits. */
  readonly pattern: string | undefined;
  /** The place of the node's own value that is filled in. */
  readonly source: Reference | undefined;
  /** A sentence about what to enter, where nothing is filled in. */
  readonly hint: string | undefined;
}

interface FormBody {
  readonly type: string;
  readonly isRequired: boolean;
  /** Examples, the longest first: the first that is short enough is shown. */
  readonly examples: readonly string[];
  /** True if they are only shown while it is empty. */
  readonly isAsked: boolean;
}

/** The contents that can be written as text, the ones that are preferred first. */
const TEXTS = [
  /^application\/json$/i,
  /[/+]json$/i,
  /^text\//i,
  /[/+]xml$/i,
  /^application\/(x-www-form-urlencoded|x-ndjson|yaml)$/i,
];

/** Browsers send none of these for a page. */
const FORBIDDEN_METHODS = new Set(["TRACE", "CONNECT"]);

const WITHOUT_BODY = new Set(["GET", "HEAD"]);

/** The methods of what changes nothing, where no mark says so (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "QUERY"]);

const SCHEMES_MAX = 20;

const VALUES_MAX = 60;

/** In UTF-16 code units. */
const EXAMPLE_LENGTH_MAX = 300, PATTERN_LENGTH_MAX = 200, HINT_LENGTH_MAX = 120;

/** The most parts of an expression that may repeat without an end. */
const REPEATED_MAX = 2;

/** Reads a form; `undefined` where a page cannot send it: its content is no text, or it needs a cookie. */
export function readForm(
  root: Json,
  item: Json,
  operation: Json,
  method: string,
  isHere: boolean,
): Form | undefined {
  if (FORBIDDEN_METHODS.has(method)) return undefined;
  const parameters = parametersOf(root, item, operation).map(({ parameter }) => parameter);
  if (parameters.some((one) => one.in === "cookie" && one.required === true)) return undefined;
  const access = operation["x-access"];
  const isRead = access === "read";
  const fields = parameters.flatMap((parameter) => {
    const { in: place } = parameter;
    return isPlace(place) ? [readField(root, parameter, place, isRead)] : [];
  });
  const hasBody = operation.requestBody !== undefined && !WITHOUT_BODY.has(method);
  const body = hasBody ? readBody(root, operation.requestBody, isRead) : undefined;
  if (body === "no text") return undefined;
  return {
    ...{ fields, body, token: isHere ? tokenOf(root, operation) : undefined },
    isWrite: access === undefined ? !SAFE_METHODS.has(method) : access === "write",
    isEndless: isEndless(root, operation),
    units: writeUnits(root, operation),
  };
}

function isEndless(root: Json, { responses }: Json): boolean {
  const types = Object.keys(objectOf(followReference(root, objectOf(responses)["200"]).content));
  return types.length > 0 && types.every((type) => /^text\/event-stream/i.test(type));
}

function readField(root: Json, parameter: Json, place: Place, isRead: boolean): Field {
  const media = firstMemberOf(objectOf(parameter.content));
  const content = media === undefined ? undefined : followReference(root, media);
  const schema = followReference(root, parameter.schema);
  const isList = place === "query" && !content && [schema.type].flat().includes("array");
  const style = parameter.style ?? "form";
  const given = exampleOf(root, parameter) ?? (content && exampleOf(root, content));
  const isRequired = parameter.required === true || place === "path";
  const example = textOfExample(given ?? schema.default, isList);
  const values = valuesOf(schema);
  const pattern = textOf(schema.pattern) ?? "";
  const source = isRead && isRequired ? sourceOf(schema) : undefined;
  const isFilled = isRequired || (given !== undefined && place === "query");
  const isAsked = source !== undefined || (isRequired && example === "" && values.length === 0);
  const about = textOf(parameter.description) ?? textOf(schema.description);
  return {
    name: textOf(parameter.name) ?? "",
    in: place,
    type: typeOf(schema).join(", "),
    isRequired,
    // A header that may be left out is for those who know what it does.
    isFilled,
    example: example.length > EXAMPLE_LENGTH_MAX ? "" : example,
    values,
    list: !isList ? undefined : style === "form" && parameter.explode !== false ? "again" : "comma",
    spans: multiSegmentOf(parameter) === true,
    pattern: isQuick(pattern) ? pattern : undefined,
    source,
    hint: isAsked && about ? shorten(about, HINT_LENGTH_MAX) : undefined,
  };
}

/** Reads where the node has a value itself. */
const sourceOf = (schema: Json): Reference | undefined =>
  (schema as { [EXAMPLE_FROM]?: Reference })[EXAMPLE_FROM];

/** Tells whether an expression surely takes little time: nothing that repeats has what repeats, or a choice, in it. */
const isQuick = (pattern: string): boolean =>
  pattern !== "" && pattern.length <= PATTERN_LENGTH_MAX &&
  (pattern.match(/[*+]|,\}/g)?.length ?? 0) <= REPEATED_MAX &&
  !/\([^)]*(?:[*+|(]|\{\d*,)[^)]*\)[^)]*[*+{]/.test(pattern) && !/\\\d|\(\?/.test(pattern);

function valuesOf(schema: Json): string[] {
  if (schema.type === "boolean") return ["true", "false"];
  const values = schema.const === undefined ? listOf(schema.enum) : [schema.const];
  return values.length > VALUES_MAX ||
      values.some((value) => typeof value === "object" && value !== null)
    ? []
    : values.filter((value) => value !== null).map((value) => textOf(value) ?? String(value));
}

function textOfExample(value: unknown, isList: boolean): string {
  if (value === undefined || value === null) return "";
  if (isList && Array.isArray(value)) return value.map((one) => textOfExample(one, false)).join();
  return textOf(value) ?? formatJson(value);
}

function readBody(root: Json, value: unknown, isRead: boolean): FormBody | undefined | "no text" {
  const body = followReference(root, value);
  const { type, media, isNone } = contentOf(objectOf(body.content));
  if (isNone) return undefined;
  if (type === undefined) return "no text";
  const content = followReference(root, media);
  const texts = /json$/i.test(withoutParameters(type))
    ? [
      exampleOf(root, content),
      makeExample(root, content.schema),
    ].filter((value) => value !== undefined).map((value) => formatJson(value))
    : [exampleOf(root, content)].filter((value) => !isObject(value))
      .map((value) => textOfExample(value, false));
  const isAsked = isRead && isOfNode(root, content.schema);
  return { type, isRequired: body.required === true, examples: texts, isAsked };
}

/** Tells whether a content has what only the node itself has, so that no example of another one will do. */
function isOfNode(root: Json, value: unknown): boolean {
  const { properties } = followReference(root, value);
  return Object.values(objectOf(properties)).some((property) => {
    const schema = followReference(root, property);
    return (sourceOf(schema) ?? sourceOf(followReference(root, schema.items))) !== undefined;
  });
}

/** Chooses the preferred content of those that can be written as text. */
const contentOf = onceFor((content: Json) => {
  const all = Object.entries(content);
  const [type, media] = TEXTS.map((wanted) =>
    all.find(([type]) => wanted.test(withoutParameters(type)))
  )
    .find((found) => found !== undefined) ?? [];
  return { type, media, isNone: all.length === 0 };
});

/** Finds the first scheme that an operation asks for and that is a token of HTTP. */
function tokenOf(root: Json, operation: Json): string | undefined {
  const schemes = objectOf(objectOf(root.components).securitySchemes);
  return listOf(operation.security ?? root.security).slice(0, SCHEMES_MAX)
    .flatMap((requirement) => Object.keys(objectOf(requirement)))
    .find((name) => {
      const { type, scheme } = followReference(root, schemes[name]);
      return type === "http" && (textOf(scheme) ?? "").toLowerCase() === "bearer";
    });
}

/**
 * Lists the parameters of an operation, as they stand and with their references followed. They override those of its
 * path with the same name and location.
 */
export function parametersOf(
  root: Json,
  item: Json,
  operation: Json,
): { value: unknown; parameter: Json }[] {
  const parameters = new Map<string, { value: unknown; parameter: Json }>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = followReference(root, value);
    const name = textOf(parameter.name);
    if (name) parameters.set(`${textOf(parameter.in) ?? ""} ${name}`, { value, parameter });
  }
  return [...parameters.values()];
}

/** Reads the type of a schema and its format, such as `string or null` and `date-time`, where it says them. */
export function typeOf(schema: Json): string[] {
  const text = (value: unknown) => textOf(value) ?? "";
  const types = Array.isArray(schema.type)
    ? schema.type.slice(0, 8).map(text)
    : [text(schema.type)];
  return [types.filter(Boolean).slice(0, 4).join(" or "), text(schema.format)].filter(Boolean);
}
