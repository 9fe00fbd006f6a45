/**
 * Reads an operation's form from a description.
 *
 * @module
 */
import { formatShared } from "../json/lossless.ts";
import {
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  onceFor,
  textOf,
} from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import { EXAMPLE_FROM, multiSegmentOf } from "../kinds/interface.ts";
import type { Reference } from "../kinds/parts.ts";
import { withoutParameters } from "../openapi/callable-operations.ts";
import { isParameterLocation, type ParameterLocation } from "../openapi/node-operation.ts";
import { followReference, type Parameter } from "../openapi/operations.ts";
import { readOnlyAlternative, typesIn, typesOf } from "../openapi/parameter-schema.ts";
import { type FieldData, isNumeric, type OperationForm, parsed } from "./form-request.ts";
import { mayChange, methodNameOf } from "./labels.ts";
import {
  EXAMPLE_MAX,
  exampleOf,
  firstMemberOf,
  firstNameOf,
  makeExample,
} from "./schema-examples.ts";
import { unitsOf } from "./units.ts";

/** The media types of a body that the form can send, in order of preference. */
const TEXTS = [
  /^application\/json$/i,
  /[/+]json$/i,
  /^text\//i,
  /[/+]xml$/i,
  /^application\/(x-www-form-urlencoded|x-ndjson|yaml)$/i,
];

const FORBIDDEN_METHODS = ["TRACE", "CONNECT"], WITHOUT_BODY = ["GET", "HEAD"];
/** OpenAPI ignores parameters for these headers. */
const IGNORED_HEADER = /^(?:accept|content-type|authorization)$/i;
const SCHEMES_MAX = 20, OPTIONS_MAX = 60;

/** A page with more fields in one form is too large. */
const FIELDS_MAX = 100;

const EXAMPLE_LENGTH_MAX = 300, HINT_LENGTH_MAX = 120;

/**
 * Returns `undefined` if a page cannot send the method, the type of the body or a required cookie,
 * or the form would have too many fields.
 */
export function readForm(
  root: JsonObject,
  operation: JsonObject,
  parameters: readonly Parameter[],
  method: string,
  address: string,
): OperationForm | undefined {
  const needsCookie = parameters.some(({ place, parameter }) =>
    place === "cookie" && parameter.required === true
  );
  if (FORBIDDEN_METHODS.includes(method) || needsCookie) return undefined;
  const isRead = operation["x-access"] === "read";
  const isRpc = methodNameOf(address) !== "";
  const placeholders = new Set([...address.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!));
  const fields: FieldData[] = parameters.flatMap(({ name, place, parameter }) => {
    const isSent = place === "path" ? placeholders.delete(name) : true;
    return isSent && isParameterLocation(place) &&
        !(place === "header" && IGNORED_HEADER.test(name))
      ? [readField(root, name, place, parameter, { isRead, isRpc })]
      : [];
  });
  // A description may lack the parameter, or write it otherwise in the path.
  for (const name of placeholders) fields.push({ name, in: "path", isRequired: true });
  const body = WITHOUT_BODY.includes(method) ? {} : followReference(root, operation.requestBody);
  const content = objectOf(body.content);
  const type = textTypeIn(content);
  if (type !== undefined) fields.push(readBodyField(root, body, type, isRead));
  else if (firstMemberOf(content) !== undefined) return undefined;
  if (fields.length > FIELDS_MAX) return undefined;
  const response = followReference(root, objectOf(operation.responses)["200"]);
  const types = Object.keys(objectOf(response.content));
  const isEndless = types.length > 0 && types.every((type) => /^text\/event-stream/i.test(type));
  return {
    method,
    address,
    fields,
    token: address.startsWith("/") ? tokenOf(root, operation) : undefined,
    isWrite: mayChange(method, operation) || undefined,
    isEndless: isEndless || undefined,
    units: unitsOf(root, operation),
  };
}

function readField(
  root: JsonObject,
  name: string,
  place: ParameterLocation,
  parameter: JsonObject,
  { isRead, isRpc }: { readonly isRead: boolean; readonly isRpc: boolean },
): FieldData {
  const media = objectOf(parameter.content), mediaType = firstNameOf(media);
  const content = mediaType === undefined ? undefined : followReference(root, media[mediaType]);
  const schema = readOnlyAlternative(root, parameter.schema);
  const types = typeNamesOf(schema);
  // The service takes each parameter of a method once, and reads a list in it as JSON.
  const listing = content || isRpc ? {} : listingOf(root, schema, place, parameter);
  const given = exampleOf(root, parameter) ?? (content && exampleOf(root, content));
  const isRequired = parameter.required === true || place === "path";
  const whole = given ?? schema.default;
  const example = listing.list !== undefined && Array.isArray(whole)
    ? textOfList(whole)
    : textOfExample(whole);
  const shortExample = example.length <= EXAMPLE_LENGTH_MAX && example || undefined;
  const values = choicesOf(schema);
  const source = isRead && isRequired ? sourceOf(schema) : undefined;
  const isAsked = source !== undefined || (isRequired && !example && !values);
  const described = content ? followReference(root, content.schema) : schema;
  const about = textOf(parameter.description) ?? textOf(described.description);
  return {
    name,
    in: place,
    ...content ? { mediaType } : { types, format: textOf(schema.format) },
    isUnsigned: (isNumeric({ types }) && isUnsigned(schema)) || undefined,
    isRequired: isRequired || undefined,
    ...listing,
    spans: multiSegmentOf(parameter) === true || undefined,
    example: source ? `{${source}}` : shortExample,
    // The field of an optional header starts empty, since only people who know its effect should
    // send it.
    isFilled: isRequired ||
      (given !== undefined && place === "query" && !listing.isUnsupported) || undefined,
    values,
    sources: source && [source],
    hint: isAsked && about ? shorten(about, HINT_LENGTH_MAX) : undefined,
  };
}

const isUnsigned = ({ minimum, exclusiveMinimum }: JsonObject): boolean =>
  [minimum, exclusiveMinimum].some((bound) =>
    (typeof bound === "number" || typeof bound === "bigint") && bound >= 0
  );

const SEPARATORS: Readonly<Record<string, FieldData["list"]>> = {
  pipeDelimited: "%7C",
  spaceDelimited: "%20",
};

/** Returns how the parameter writes a list, or that the form cannot write it. */
function listingOf(
  root: JsonObject,
  schema: JsonObject,
  place: ParameterLocation,
  parameter: JsonObject,
): Pick<FieldData, "list" | "isUnsupported"> {
  const types = typesOf(schema);
  const style = textOf(parameter.style) ?? (place === "query" ? "form" : "simple");
  if (isObjectOnly(root, schema) || (place === "path" && style !== "simple")) {
    return { isUnsupported: true };
  }
  if (!types.includes("array")) return {};
  const isExploded = parameter.explode === undefined
    ? style === "form"
    : parameter.explode === true;
  return { list: place === "query" && isExploded ? "again" : SEPARATORS[style] ?? "," };
}

/** Tells whether a schema, its parts included, is that of objects, which have no text. */
function isObjectOnly(root: JsonObject, schema: JsonObject): boolean {
  const types = typesOf(schema);
  if (types.length > 0) return types.includes("object") && !types.includes("string");
  const partsIn = (key: string) =>
    listOf(schema[key]).slice(0, PARTS_MAX).map((part) => followReference(root, part));
  const isObject = ({ properties, ...part }: JsonObject) =>
    properties !== undefined || typesOf(part).join() === "object";
  const alternatives = [...partsIn("anyOf"), ...partsIn("oneOf")];
  return [schema, ...partsIn("allOf")].some(isObject) ||
    (alternatives.length > 0 && alternatives.every(isObject));
}

const TYPE_MAX = 20, PARTS_MAX = 10;

/** Returns at most four types, or `undefined` if there is none. */
export function typeNamesOf(schema: JsonObject): readonly string[] | undefined {
  // Many operations may share a schema, so what is not a type must not be copied.
  const names = typesOf(schema).flatMap((type) => textOf(type) ?? [])
    .filter(({ length }) => length > 0 && length <= TYPE_MAX);
  return names.length === 0 ? undefined : names.slice(0, 4);
}

/** Stands for a value that only the user knows. */
const FROM_USER = "none" as Reference;

const sourceOf = (schema: JsonObject): Reference | undefined =>
  (schema as { [EXAMPLE_FROM]?: Reference })[EXAMPLE_FROM];

function choicesOf(schema: JsonObject): readonly string[] | undefined {
  const types = typesOf(schema).filter((type) => type !== "null");
  if (types.join() === "boolean") return ["true", "false"];
  return choicesIn(schema.const === undefined ? listOf(schema.enum) : [schema.const]);
}

/** The length of a value that a form offers, and of all values of a field. */
const CHOICE_MAX = 300, CHOICES_MAX = 4000;

/** Cached, since many schemas may share a long list. */
const choicesIn = onceFor((all: readonly unknown[]): readonly string[] | undefined => {
  const values = all.filter((value) => value !== null);
  const isChoice = values.length > 0 && values.length <= OPTIONS_MAX &&
    values.every((value) => typeof value !== "object" && String(value).length <= CHOICE_MAX) &&
    values.join("").length <= CHOICES_MAX;
  return isChoice ? values.map(String) : undefined;
});

function textOfExample(value: unknown): string {
  if (value === undefined || value === null) return "";
  return textOf(value) ?? formatShared(value);
}

/** Cached, since many parameters may share a long example. */
const textOfList = onceFor((values: readonly unknown[]) => {
  const texts = values.map((one) => textOfExample(one));
  return texts.some((text) => text.includes(",")) ? JSON.stringify(texts) : texts.join();
});

function readBodyField(
  root: JsonObject,
  body: JsonObject,
  type: string,
  isRead: boolean,
): FieldData {
  const media = followReference(root, objectOf(body.content)[type]);
  const isJson = /json$/i.test(withoutParameters(type));
  const own = exampleOf(root, media);
  const known = isJson ? own ?? makeExample(root, media.schema) : isObject(own) ? undefined : own;
  const sources: Reference[] = [];
  const placed = isJson && isRead ? withPlaces(root, known, media.schema, sources) : known;
  // Only the user knows some of the values, so the form requires the body even if the description
  // does not.
  const isAsked = sources.includes(FROM_USER);
  const shown = isAsked ? known : placed;
  const isText = !isJson || shown === undefined || isJsonInText(root, media, shown);
  const example = isText ? textOfExample(shown) : formatShared(shown);
  return {
    name: "body",
    in: "body",
    mediaType: type,
    example: example.length <= EXAMPLE_MAX && example || undefined,
    isRequired: sources.length > 0 || body.required === true || undefined,
    isFilled: !isAsked || undefined,
    sources: isAsked || sources.length === 0 ? undefined : sources,
  };
}

/** Examples are often pasted into YAML as a text. */
function isJsonInText(root: JsonObject, { schema }: JsonObject, example: unknown): boolean {
  return typeof example === "string" && example.length <= EXAMPLE_MAX &&
    /^\s*[[{]/.test(example) && parsed(example) !== undefined &&
    !typesIn(root, schema).includes("string");
}

/** Replaces the values that come from the node by their places, in braces. */
function withPlaces(
  root: JsonObject,
  value: unknown,
  schema: unknown,
  places: Reference[],
): unknown {
  const resolved = followReference(root, schema);
  const source = sourceOf(resolved);
  if (source) {
    places.push(source);
    return `{${source}}`;
  }
  if (Array.isArray(value)) {
    return value.map((item) => withPlaces(root, item, resolved.items, places));
  }
  const properties = objectOf(resolved.properties);
  return isObject(value)
    ? mapMembers(value, (member, name) => withPlaces(root, member, properties[name], places))
    : value;
}

/** Returns the media type that the form sends, or `undefined` if there is none that is text. */
const textTypeIn = onceFor((content: JsonObject): string | undefined => {
  const all = Object.keys(content);
  const found = TEXTS.map((wanted) => all.find((type) => wanted.test(withoutParameters(type))));
  return found.find((type) => type !== undefined);
});

function tokenOf(root: JsonObject, operation: JsonObject): string | undefined {
  const schemes = objectOf(objectOf(root.components).securitySchemes);
  return listOf(operation.security ?? root.security).slice(0, SCHEMES_MAX)
    .flatMap((requirement) => Object.keys(objectOf(requirement)))
    .find((name) => {
      const { type, scheme } = followReference(root, schemes[name]);
      return type === "http" && (textOf(scheme) ?? "").toLowerCase() === "bearer";
    });
}
