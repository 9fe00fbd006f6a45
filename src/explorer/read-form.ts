/**
 * Reads the form in which an operation is tried: its parameters and its body, with examples.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isObject, type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import { EXAMPLE_FROM, multiSegmentOf } from "../kinds/interface.ts";
import type { Reference } from "../kinds/kind.ts";
import { isPlace, type Place, withoutParameters } from "../openapi/callable-operations.ts";
import { followReference } from "../openapi/operations.ts";
import { exampleOf, firstMemberOf, makeExample } from "./example-value.ts";
import type { BodyData, FieldData, FormData } from "./form-request.ts";
import { mayChange } from "./labels.ts";
import { typeOf } from "./read-schema.ts";
import { unitsOf } from "./units.ts";

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

const SCHEMES_MAX = 20;

const VALUES_MAX = 60;

/** In UTF-16 code units. */
const EXAMPLE_LENGTH_MAX = 300, PATTERN_LENGTH_MAX = 200, HINT_LENGTH_MAX = 120;

/** The most parts of an expression that may repeat without an end. */
const REPEATED_MAX = 2;

/** Reads a form; `undefined` where a page cannot send it: its content is no text, or it needs a cookie. */
export function readForm(
  root: Json,
  operation: Json,
  parameters: readonly Parameter[],
  method: string,
  address: string,
): FormData | undefined {
  if (FORBIDDEN_METHODS.has(method)) return undefined;
  if (
    parameters.some(({ parameter }) => parameter.in === "cookie" && parameter.required === true)
  ) {
    return undefined;
  }
  const isRead = operation["x-access"] === "read";
  const fields = parameters.flatMap(({ parameter }) => {
    const { in: place } = parameter;
    return isPlace(place) ? [readField(root, parameter, place, isRead)] : [];
  });
  const hasBody = operation.requestBody !== undefined && !WITHOUT_BODY.has(method);
  const body = hasBody ? readBody(root, operation.requestBody, isRead) : undefined;
  if (body === "no text") return undefined;
  return {
    ...{ method, address, fields, body },
    token: address.startsWith("/") ? tokenOf(root, operation) : undefined,
    isWrite: mayChange(method, operation) || undefined,
    isEndless: isEndless(root, operation) || undefined,
    units: unitsOf(root, operation),
  };
}

function isEndless(root: Json, { responses }: Json): boolean {
  const types = Object.keys(objectOf(followReference(root, objectOf(responses)["200"]).content));
  return types.length > 0 && types.every((type) => /^text\/event-stream/i.test(type));
}

function readField(root: Json, parameter: Json, place: Place, isRead: boolean): FieldData {
  const media = firstMemberOf(objectOf(parameter.content));
  const content = media === undefined ? undefined : followReference(root, media);
  const schema = followReference(root, parameter.schema);
  const isList = place === "query" && !content && [schema.type].flat().includes("array");
  const isRepeated = (parameter.style ?? "form") === "form" && parameter.explode !== false;
  const given = exampleOf(root, parameter) ?? (content && exampleOf(root, content));
  const isRequired = parameter.required === true || place === "path";
  const example = textOfExample(given ?? schema.default, isList);
  const values = valuesOf(schema);
  const pattern = textOf(schema.pattern) ?? "";
  const source = isRead && isRequired ? sourceOf(schema) : undefined;
  const isAsked = source !== undefined || (isRequired && !example && !values);
  const about = textOf(parameter.description) ?? textOf(schema.description);
  return {
    name: textOf(parameter.name) ?? "",
    in: place,
    type: typeOf(schema).join(", ") || undefined,
    isRequired: isRequired || undefined,
    list: !isList ? undefined : isRepeated ? "again" : "comma",
    spans: multiSegmentOf(parameter) === true || undefined,
    example: source || example.length > EXAMPLE_LENGTH_MAX ? undefined : example || undefined,
    // A header that may be left out is for those who know what it does.
    isFilled: isRequired || (given !== undefined && place === "query") || undefined,
    values,
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

function valuesOf(schema: Json): string[] | undefined {
  if (schema.type === "boolean") return ["true", "false"];
  const values = (schema.const === undefined ? listOf(schema.enum) : [schema.const])
    .filter((value) => value !== null);
  const isChoice = values.length > 0 && values.length <= VALUES_MAX &&
    values.every((value) => typeof value !== "object");
  return isChoice ? values.map(String) : undefined;
}

function textOfExample(value: unknown, isList: boolean): string {
  if (value === undefined || value === null) return "";
  if (isList && Array.isArray(value)) return value.map((one) => textOfExample(one, false)).join();
  return textOf(value) ?? formatJson(value);
}

function readBody(root: Json, value: unknown, isRead: boolean): BodyData | undefined | "no text" {
  const body = followReference(root, value);
  const { type, media, isNone } = contentOf(objectOf(body.content));
  if (isNone) return undefined;
  if (type === undefined) return "no text";
  const content = followReference(root, media);
  const own = exampleOf(root, content);
  const isJson = /json$/i.test(withoutParameters(type));
  const texts = isJson
    ? [own, makeExample(root, content.schema)]
      .flatMap((value) => value === undefined ? [] : formatJson(value))
    : isObject(own)
    ? []
    : [textOfExample(own, false)];
  const isAsked = isRead && isOfNode(root, content.schema);
  return {
    type,
    // What only the reader knows is what a call is about.
    isRequired: isAsked || body.required === true || undefined,
    examples: texts.filter(Boolean),
    isAsked: isAsked || undefined,
  };
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
  const [type, media] = TEXTS.flatMap((wanted) =>
    all.filter(([type]) =>
      wanted.test(withoutParameters(type))
    ).slice(0, 1)
  )[0] ?? [];
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

/** A parameter as it stands, and with its references followed. */
export interface Parameter {
  readonly value: unknown;
  readonly parameter: Json;
}

/** Lists the parameters of an operation, which override those of its path with the same name and location. */
export function parametersOf(root: Json, item: Json, operation: Json): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = followReference(root, value);
    const name = textOf(parameter.name);
    if (name) parameters.set(`${textOf(parameter.in) ?? ""} ${name}`, { value, parameter });
  }
  return [...parameters.values()];
}
