/**
 * The interface of a kind of node: `openrpc` and `openapi` of its file. The schema has what a kind
 * says beyond the standards, or more narrowly; all else is checked as the description of `--spec` is.
 *
 * @module
 */
import * as v from "valibot";
import { isObject, type Json, listOf, objectOf, valueAt } from "../json/values.ts";
import { type KindInterface, type Mark, MARKS, type OperationMarks } from "../kinds/interface.ts";
import { pathOf, structureOf, walk } from "../openapi/structure.ts";
import { COMMON_METHODS } from "../openapi/tables.ts";
import { validatePart } from "../openapi/validate.ts";
import { describeValue } from "../untrusted-text.ts";
import * as s from "./schema.ts";
import type { Diagnostic, Path, Schema, Settings, SettingsOf } from "./schema.ts";
import { mergedComponents } from "./kind-extension.ts";
import { LINE } from "./texts.ts";

const VERSION = s.text('a version in quotes, as in "0.19"', /^\d+(\.\d+)*$/);
const SOFTWARE = s.text("the name of software in lower case", /^[a-z0-9][a-z0-9._-]*$/);
const METHOD_NAME = s.text("the name of a method", /^[^\s\p{Cc}]+$/u);
const OPERATION_ID = s.text("a name of letters, digits, _ and -", /^[A-Za-z_][\w-]*$/);
const TEMPLATE = s.text("a path such as /blocks/{hash}, without a query", /^\/[^\s?#]*$/);
const BASE_PATH = s.text(
  "a path such as /v1 and no more: the node's URL comes before it",
  /^(\/[\w.~-]+)+$/,
);

const about = ({ text }: Mark, example: string) => ({ text, example });

const TRUE = v.literal(true, "true; leave it out where it does not hold") as Schema<true>;

const OPERATION_MARKS: SettingsOf<OperationMarks> = {
  "x-access": s.needed(s.word(["read", "write", "secret"]), about(MARKS["x-access"], "read")),
  "x-cost": s.setting(s.word(["heavy"], "heavy"), about(MARKS["x-cost"], "heavy")),
  "x-streaming": s.setting(TRUE, about(MARKS["x-streaming"], "true")),
  "x-since": s.setting(VERSION, about(MARKS["x-since"], '"0.19"')),
  "x-software": s.setting(
    s.filledList(SOFTWARE, "a list of names, as in [mastodon]"),
    about(MARKS["x-software"], "[mastodon]"),
  ),
  "x-common": s.setting(TRUE, about(MARKS["x-common"], "true")),
  "x-auth": s.setting(s.word(["none"], "none"), about(MARKS["x-auth"], "none")),
};

const SUMMARY = s.needed(LINE, {
  text: "A summary in one line",
  example: "Get a block",
});

function standard(name: string, ...keys: readonly string[]): Settings {
  return Object.fromEntries(
    keys.map((key) => [key, s.setting(s.json, { text: `As ${name} has it` })]),
  );
}

const openRpc = (...keys: readonly string[]) => standard("OpenRPC 1.3", ...keys);
const openApi = (...keys: readonly string[]) => standard("OpenAPI 3.1", ...keys);

const METHOD = s.object({
  name: s.needed(METHOD_NAME, { text: "Its name, as the node has it", example: "getblock" }),
  summary: SUMMARY,
  params: s.needed(v.array(s.json, "a list of parameters"), {
    text: "Its parameters, in the order of their positions",
    example: "[]",
  }),
  result: s.needed(s.json, { text: "Its result", example: "{ name: block, schema: {} }" }),
  paramStructure: s.setting(s.word(["by-name", "by-position", "either"]), {
    text: "The form of its parameters",
    default: "either",
  }),
  ...openRpc("description", "tags", "examples", "deprecated"),
  ...OPERATION_MARKS,
});

const OPERATION = s.object({
  operationId: s.needed(OPERATION_ID, {
    text: "A unique name, for generated clients",
    example: "getBlock",
  }),
  summary: SUMMARY,
  responses: s.needed(s.json, {
    text: "The responses by their status. Headers that are not named here are not passed on",
  }),
  ...openApi("description", "tags", "parameters", "requestBody", "deprecated"),
  ...OPERATION_MARKS,
});

const ITEM = s.object({
  parameters: s.setting(s.json, { text: "Parameters of all its operations" }),
  ...Object.fromEntries(COMMON_METHODS.map((name) => [
    name,
    s.setting(OPERATION, { text: `The operation ${name.toUpperCase()}` }),
  ])),
});

const SERVERS = v.pipe(
  v.array(
    s.object({ url: s.needed(BASE_PATH, { text: "The start of all paths", example: "/v1" }) }),
    "a list of one server",
  ),
  v.check((servers) => servers.length === 1, "a list of one server"),
);

const OPENRPC = s.object({
  path: s.setting(TEMPLATE, {
    text: "The path below the node's URL that calls are posted to",
    default: "the node's URL itself",
    example: "/json_rpc",
  }),
  methods: s.needed(s.filledList(METHOD, "a list of methods"), { text: "The methods" }),
  ...openRpc("components"),
});

const OPENAPI = s.object({
  paths: s.needed(s.filledMap(TEMPLATE, ITEM, "paths, each with its operations"), {
    text: "The operations by path, below the node's URL",
  }),
  servers: s.setting(SERVERS, {
    text: "One server with a path, where all paths begin with it",
    example: "[{ url: /v1 }]",
  }),
  ...openApi("components", "tags"),
});

export const interfaceSettings = (): SettingsOf<KindInterface> => ({
  openrpc: s.setting(OPENRPC as Schema<KindInterface["openrpc"]>, {
    text: "Its methods of JSON-RPC: a part of an OpenRPC document",
  }),
  openapi: s.setting(OPENAPI as Schema<KindInterface["openapi"]>, {
    text: "Its operations of REST: a part of an OpenAPI 3.1 document",
  }),
});

/**
 * Finds what is wrong in `openrpc` and `openapi` of a kind; each of them may have any form.
 *
 * @param base the kind that it adds to, whose components it may refer to
 */
export function diagnosticsOfInterface(kind: unknown, base: KindInterface = {}): Diagnostic[] {
  const { openrpc, openapi } = objectOf(kind);
  const whole = (part: Json, of: object = {}) => ({
    ...part,
    components: mergedComponents(objectOf(of), part),
  });
  const rpc = isObject(openrpc) ? whole(openrpc, base.openrpc) : undefined;
  const api = isObject(openapi) ? whole(openapi, base.openapi) : undefined;
  return [
    ...rpc ? diagnosticsOfPart("openrpc", rpc, { openrpc: "1.3.2" }) : [],
    ...rpc ? repeatedMethods(rpc) : [],
    ...api ? diagnosticsOfPart("openapi", api, { openapi: "3.1.1" }) : [],
  ];
}

/** The places of values with which the page fills reads in: the path of each mark, and the pattern beside it. */
export function examplesIn(
  value: unknown,
  path: Path = [],
): { readonly path: Path; readonly place: unknown; readonly pattern: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  const { "x-example-from": place, pattern } = objectOf(value);
  const here = place === undefined || place === "none" ? [] : [{ path, place, pattern }];
  const members = Object.entries(value).flatMap(([key, member]) =>
    examplesIn(member, [...path, Array.isArray(value) ? Number(key) : key])
  );
  return [...here, ...members];
}

/** The clauses on what becomes of a wrong part where it is served: a kind has to be right. */
const CONSEQUENCE = /; (?:it is omitted|[^;]* is (?:put there|taken for )[^;]*)/;

function diagnosticsOfPart(key: string, part: Json, version: Json): Diagnostic[] {
  const diagnosticAt = (path: readonly string[], message: string, more = 0): Diagnostic => ({
    path: [key, ...withIndices(part, path)],
    message: `is wrong: ${message.replace(CONSEQUENCE, "")}${
      more > 0 ? ` (and ${more} more)` : ""
    }`,
    isKey: path.at(-1) !== "$ref",
  });
  const places = [...walk({ shape: "document", value: part }, structureOf(version))];
  return [
    ...validatePart(part, version).map(({ place, message, more }) =>
      diagnosticAt(place, message, more)
    ),
    ...places.filter(({ shape }) => shape === "parameter").flatMap((place) =>
      explainParameter(place.value).map((message) => diagnosticAt(pathOf(place), message))
    ),
  ];
}

/** Explains what no parameter of a kind may be, though OpenAPI has it. */
function explainParameter(parameter: unknown): string[] {
  const { name, in: place, ...marks } = objectOf(parameter);
  const mark = ["x-multi-segment", "x-spans"].find((mark) => marks[mark] !== undefined);
  const isSpanning = mark !== undefined && (marks[mark] === true || marks[mark] === "encoded");
  return [
    ...place === "cookie" ? ['"in" must be one of path, query, header'] : [],
    ...mark !== undefined && !isSpanning ? [`"${mark}" must be true or encoded`] : [],
    ...mark !== undefined && place !== "path"
      ? [`the parameter ${describeValue(name)} has ${mark}, and is not in the path`]
      : [],
  ];
}

function repeatedMethods({ methods }: Json): Diagnostic[] {
  const names = listOf(methods).map((method) => objectOf(method).name);
  return names.flatMap((name, at) => {
    const first = names.indexOf(name);
    if (name === undefined || first === at) return [];
    const message = `is ${describeValue(name)} a second time, as is that of methods[${first}]`;
    return [{ path: ["openrpc", "methods", at, "name"], message, isKey: false }];
  });
}

/** A path of texts with the indices of lists as numbers. */
function withIndices(root: unknown, path: readonly string[]): Path {
  let value = root;
  return path.map((key) => {
    const isIndex = Array.isArray(value);
    value = valueAt(value, [key]);
    return isIndex ? Number(key) : key;
  });
}
