/**
 * Validates the keys `openrpc` and `openapi` of a kind file. The schemas here cover only Nodeface's
 * additions to OpenRPC and OpenAPI. The validator for descriptions checks the standard members.
 *
 * @module
 */
import * as v from "valibot";
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../json/values.ts";
import {
  type KindInterface,
  MARKS,
  multiSegmentOf,
  type OperationMarks,
} from "../kinds/interface.ts";
import { pathOf, structureOf, walk } from "../openapi/structure.ts";
import {
  COMMON_METHODS,
  followReference,
  operationsIn,
  parametersOf,
} from "../openapi/operations.ts";
import { diagnosticAt, diagnosticsOfPart } from "./openapi-part.ts";
import { describeValue } from "../untrusted-text.ts";
import {
  anyOf,
  choice,
  described,
  diagnosticsOfRepeated,
  filledList,
  filledMap,
  json,
  object,
  optional,
  type Schema,
  type SettingDiagnostic,
  type SettingPath,
  type Settings,
  type SettingsOf,
  text,
} from "./schema.ts";
import { mergedComponents } from "./kind-extension.ts";
import { LINE } from "./texts.ts";

const VERSION = text('a version in quotes, as in "0.19"', /^\d+(\.\d+)*$/);
const SOFTWARE = text("the name of software in lower case", /^[a-z0-9][a-z0-9._-]*$/);
const METHOD_NAME = text("the name of a method", /^[^\s\p{Cc}]+$/u);
const EVENT = text("the name of an event", /^\w+$/);
const OPERATION_ID = text("a name of letters, digits, _ and -", /^[A-Za-z_][\w-]*$/);
const TEMPLATE = text("a path such as /blocks/{hash}, without a query", /^\/[^\s?#]*$/);
const BASE_PATH = text(
  "a path such as /v1, appended to the node's URL",
  /^(\/[\w.~-]+)+$/,
);

const TRUE = v.literal(true, "true or omitted") as Schema<true>;

const OPERATION_MARKS: SettingsOf<OperationMarks> = {
  "x-access": described(choice(["read", "write", "secret"]), MARKS["x-access"].text),
  "x-cost": optional(choice(["heavy"], "heavy"), MARKS["x-cost"].text),
  "x-streaming": optional(
    anyOf([TRUE, choice(["waits"], "waits")], "true or waits"),
    MARKS["x-streaming"].text,
  ),
  "x-since": optional(VERSION, MARKS["x-since"].text),
  "x-software": optional(
    filledList(SOFTWARE, "a list of names, as in [mastodon]"),
    MARKS["x-software"].text,
  ),
  "x-unlisted": optional(TRUE, MARKS["x-unlisted"].text),
  "x-common": optional(TRUE, MARKS["x-common"].text),
  "x-checked": optional(TRUE, MARKS["x-checked"].text),
  "x-subscription": optional(
    object({
      unsubscribe: described(METHOD_NAME, "The method that ends the subscription"),
      notification: optional(METHOD_NAME, "The method of the notifications"),
      ends: optional(
        filledList(EVENT, "a list of names, as in [stop]"),
        "The events with which the node ends the subscription itself",
      ),
    }),
    MARKS["x-subscription"].text,
  ),
  "x-connection": optional(TRUE, MARKS["x-connection"].text),
};

const SUMMARY = described(LINE, "A summary in one line");

const standard = (name: string, keys: readonly string[]): Settings =>
  Object.fromEntries(keys.map((key) => [key, optional(json, `As in ${name}`)]));

const openRpc = (...keys: readonly string[]) => standard("OpenRPC 1.3", keys);
const openApi = (...keys: readonly string[]) => standard("OpenAPI 3.1", keys);

const METHOD = object({
  name: described(METHOD_NAME, "The method's name at the node"),
  summary: SUMMARY,
  params: described(v.array(json, "a list of parameters"), "The parameters, in order of position"),
  result: described(json, "The result"),
  paramStructure: optional(
    choice(["by-name", "by-position", "either"]),
    "The form of the parameters",
    {
      default: "either",
    },
  ),
  ...openRpc("description", "tags", "examples", "deprecated"),
  ...OPERATION_MARKS,
});

const OPERATION = object({
  operationId: described(OPERATION_ID, "A unique name, for generated clients"),
  summary: SUMMARY,
  responses: described(json, "The responses by status"),
  ...openApi("description", "tags", "parameters", "requestBody", "deprecated"),
  ...OPERATION_MARKS,
});

const ITEM = object({
  parameters: optional(json, "Parameters that all operations at this path share"),
  ...Object.fromEntries(COMMON_METHODS.map((name) => [
    name,
    optional(OPERATION, `The operation ${name.toUpperCase()}`),
  ])),
});

const SERVERS = v.pipe(
  v.array(
    object({ url: described(BASE_PATH, "The prefix of all paths") }),
    "a list of one server",
  ),
  v.check((servers) => servers.length === 1, "a list of one server"),
);

const OPENRPC = object({
  path: optional(TEMPLATE, "The path below the node's URL that receives the calls", {
    default: "the node's URL itself",
  }),
  methods: described(filledList(METHOD, "a list of methods"), "The methods"),
  ...openRpc("components"),
});

const OPENAPI = object({
  paths: described(
    filledMap(TEMPLATE, ITEM, "paths, each with its operations"),
    "The operations by path below the node's URL",
  ),
  servers: optional(SERVERS, "One server, with the prefix of all paths"),
  ...openApi("components", "tags"),
});

export const INTERFACE_SETTINGS: SettingsOf<KindInterface> = {
  openrpc: optional(
    OPENRPC as Schema<KindInterface["openrpc"]>,
    "The JSON-RPC methods: a part of an OpenRPC document",
  ),
  openapi: optional(
    OPENAPI as Schema<KindInterface["openapi"]>,
    "The REST operations: a part of an OpenAPI 3.1 document",
  ),
};

/**
 * @param base the interface that `kind` extends; references in `kind` may lead to components of
 * `base`
 */
export function diagnosticsOfInterface(
  kind: unknown,
  base: KindInterface = {},
): SettingDiagnostic[] {
  const { openrpc, openapi } = objectOf(kind);
  const partOf = (
    key: keyof KindInterface,
    part: unknown,
    version: string,
  ): SettingDiagnostic[] => {
    if (!isObject(part)) return [];
    const components = mergedComponents(objectOf(base[key]), part);
    return [...diagnosticsOfInterfacePart(key, { ...part, components }, { [key]: version })];
  };
  return [
    ...partOf("openrpc", openrpc, "1.3.2"),
    ...repeatedMethods(objectOf(openrpc)),
    ...partOf("openapi", openapi, "3.1.1"),
  ];
}

export function examplesIn(
  value: unknown,
  path: SettingPath = [],
): { readonly path: SettingPath; readonly place: unknown; readonly pattern: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  const { "x-example-from": place, pattern } = objectOf(value);
  // A value from the response to another operation is read by the page.
  const isOfPage = place === "none" || textOf(place)?.startsWith("op/");
  const here = place === undefined || isOfPage ? [] : [{ path, place, pattern }];
  const members = Object.entries(value).flatMap(([key, member]) =>
    examplesIn(member, [...path, Array.isArray(value) ? Number(key) : key])
  );
  return [...here, ...members];
}

function* diagnosticsOfInterfacePart(
  key: string,
  part: JsonObject,
  version: JsonObject,
): Generator<SettingDiagnostic> {
  const below = ({ path, ...others }: SettingDiagnostic) => ({ path: [key, ...path], ...others });
  yield* diagnosticsOfPart(part, version).map(below);
  for (const place of walk({ shape: "document", value: part }, structureOf(version))) {
    if (place.shape !== "parameter") continue;
    for (const message of explainParameter(objectOf(place.value))) {
      yield below(diagnosticAt(part, pathOf(place), message));
    }
  }
  for (const [path, message] of unusedLimits(part)) yield below(diagnosticAt(part, path, message));
}

/** Finds limits without effect, since they would leave a `read` less limited than it looks. */
function* unusedLimits(part: JsonObject): Generator<[path: readonly string[], message: string]> {
  for (const { path, item, keys, operation } of operationsIn(part)) {
    for (const { name, parameter } of parametersOf(part, item, operation)) {
      const schema = schemaOf(part, parameter.schema);
      const message = explainExcludes(name, schema, operation) ?? explainHeavyFrom(name, schema);
      if (message) yield [["paths", path, ...keys], message];
    }
  }
  for (const [at, value] of listOf(part.methods).entries()) {
    const method = objectOf(value);
    for (const param of listOf(method.params)) {
      const { name, schema } = followReference(part, param);
      const message = explainExcludes(name, schemaOf(part, schema), method);
      if (message) yield [["methods", String(at)], message];
    }
  }
}

/** A reference may have members of its own beside it. */
const schemaOf = (part: JsonObject, value: unknown): JsonObject => ({
  ...followReference(part, value),
  ...objectOf(value),
});

function explainExcludes(
  name: unknown,
  schema: JsonObject,
  operation: JsonObject,
): string | undefined {
  if (schema["x-excludes"] === undefined) return undefined;
  if (operation["x-access"] !== "read" || operation["x-checked"] === true) return undefined;
  return `the parameter ${describeValue(name)} has x-excludes, which needs x-checked`;
}

function explainHeavyFrom(name: unknown, schema: JsonObject): string | undefined {
  if (schema["x-heavy-from"] === undefined) return undefined;
  return `the parameter ${describeValue(name)} has x-heavy-from, which only JSON-RPC calls use`;
}

function* explainParameter(parameter: JsonObject): Generator<string> {
  const { name, in: place } = parameter;
  if (parameter["x-multi-segment"] === undefined) return;
  if (multiSegmentOf(parameter) === undefined) yield '"x-multi-segment" must be true or "encoded"';
  if (place !== "path") {
    yield `the parameter ${describeValue(name)} has x-multi-segment, but is not in the path`;
  }
}

function repeatedMethods({ methods }: JsonObject): SettingDiagnostic[] {
  const names = listOf(methods).map((method) => objectOf(method).name);
  return diagnosticsOfRepeated(names, (name, at, first) => ({
    path: ["openrpc", "methods", at, "name"],
    message: `is ${describeValue(name)}, which is already the name of methods[${first}]`,
  }));
}
