/**
 * The schema of what a kind of node offers to be called: `openrpc` and `openapi` of its file. The parts are
 * those of the standards, with the marks of `kinds/marks.ts`.
 *
 * @module
 */
import * as v from "valibot";
import { isPlainObject } from "../json/copy-as-json.ts";
import { type Mark, MARKS } from "../kinds/marks.ts";
import { COMMON_METHODS } from "../openapi/tables.ts";
import {
  either,
  filledList,
  filledMap,
  json,
  list,
  map,
  needed,
  object,
  oneOf,
  type Schema,
  setting,
  type Settings,
  text,
  word,
} from "./schema-builders.ts";
import { LINE, TEXT } from "./text-schemas.ts";

/** Where the parameters of an operation may stand. */
const PLACES = ["path", "query", "header"];

/** Any JSON value that is an object. */
const objectOfJson = (right: string): Schema => v.pipe(json, v.check(isPlainObject, right));

const JSON_SCHEMA = v.pipe(
  json,
  v.check((value) => isPlainObject(value) || typeof value === "boolean", "a JSON Schema"),
);
const TRUE = v.literal(true, "true; leave it out where it does not hold") as Schema;
const MULTI_SEGMENT = either("true or encoded", TRUE, word(["encoded"]));
const BOOLEAN = v.boolean("true or false");

const VERSION = text({
  right: 'a version in quotes, as in "0.19"',
  pattern: /^\d+(\.\d+)*$/,
});
const SOFTWARE = text({
  right: "the name of software in lower case",
  pattern: /^[a-z0-9][a-z0-9._-]*$/,
});
const METHOD_NAME = text({ right: "the name of a method", pattern: /^[^\s\p{Cc}]+$/u });
const OPERATION_ID = text({
  right: "a name of letters, digits, _ and -",
  pattern: /^[A-Za-z_][\w-]*$/,
});
const TEMPLATE = text({
  right: "a path such as /blocks/{hash}, without a query",
  pattern: /^\/[^\s?#]*$/,
});
const BASE_PATH = text({
  right: "a path such as /v1 and no more: the node's URL comes before it",
  pattern: /^(\/[\w.~-]+)+$/,
});
const ANSWER_STATUS = text({
  right: 'a status in quotes such as "200" or "4XX", or default',
  pattern: /^([1-5]\d\d|[1-5]XX|default)$/,
});
const COMPONENT_NAME = text({
  right: "a name of letters, digits, ., - and _",
  pattern: /^[\w.-]+$/,
});

/** The text of a mark. */
const about = (mark: Mark, example?: string) => ({
  text: mark.text,
  ...example !== undefined && { example },
});

/** The marks of an operation. */
const marks = (): Settings => ({
  "x-access": needed(
    word(["read", "write", "secret"]),
    about(MARKS["x-access"], "read"),
  ),
  "x-cost": setting(word(["heavy"], "heavy"), about(MARKS["x-cost"], "heavy")),
  "x-streaming": setting(TRUE, about(MARKS["x-streaming"], "true")),
  "x-since": setting(VERSION, about(MARKS["x-since"], '"0.19"')),
  "x-software": setting(
    filledList(SOFTWARE, "a list of names, as in [mastodon]"),
    about(MARKS["x-software"], "[mastodon]"),
  ),
  "x-common": setting(TRUE, about(MARKS["x-common"], "true")),
  "x-auth": setting(word(["none"], "none"), about(MARKS["x-auth"], "none")),
});

/** What an operation says of itself, in either form. */
const words = (): Settings => ({
  summary: needed(LINE, { text: "What it gives or does, in one line", example: "Get a block" }),
  description: setting(TEXT, { text: "What else there is to know, in Markdown" }),
  deprecated: setting(BOOLEAN, { text: "Whether something else is to be used", default: "false" }),
});

const schemas = () => map(COMPONENT_NAME, JSON_SCHEMA);

const descriptor = (more: Settings = {}) =>
  object({
    name: needed(LINE, { text: "Its name, as the node has it", example: "blockhash" }),
    summary: setting(LINE, { text: "What it is, in one line" }),
    ...more,
    schema: needed(JSON_SCHEMA, {
      text: "Its JSON Schema. References lead to #/components/schemas/…",
      example: "{ type: string }",
    }),
  });

const namedValue = () =>
  object({
    name: needed(LINE, { text: "The name of the parameter or result" }),
    value: needed(json, { text: "Its value" }),
  });

const method = () =>
  object({
    name: needed(METHOD_NAME, { text: "Its name, as the node has it", example: "getblock" }),
    ...words(),
    tags: setting(
      list(
        object({ name: needed(LINE, { text: "The name of the group", example: "Blockchain" }) }),
        "a list of tags, as in [{ name: Blockchain }]",
      ),
      { text: "The groups that it is in" },
    ),
    paramStructure: setting(word(["by-name", "by-position", "either"]), {
      text: "How it takes its parameters",
      default: "either",
    }),
    params: needed(
      list(
        descriptor({
          required: setting(BOOLEAN, {
            text: "Whether it may not be left out",
            default: "false",
          }),
        }),
        "a list of parameters",
      ),
      { text: "Its parameters, in the order of their positions", example: "[]" },
    ),
    result: needed(descriptor(), { text: "What it answers" }),
    examples: setting(
      list(
        object({
          name: needed(LINE, { text: "What the example shows" }),
          params: needed(list(namedValue(), "a list of values"), { text: "What was asked" }),
          result: needed(namedValue(), { text: "What was answered" }),
        }),
        "a list of examples",
      ),
      { text: "Calls and their answers, recorded from a real node" },
    ),
    ...marks(),
  });

/** The schema of the OpenRPC part. */
const openrpc = () =>
  object({
    path: setting(TEMPLATE, {
      text: "Where calls are posted to, below the node's URL",
      default: "the node's URL itself",
      example: "/json_rpc",
    }),
    methods: needed(filledList(method(), "a list of methods"), { text: "The methods" }),
    components: setting(
      object({ schemas: setting(schemas(), { text: "JSON Schemas by name" }) }),
      { text: "What references lead to" },
    ),
  });

const REFERENCE_OBJECT: Settings = {
  $ref: needed(LINE, {
    text: "Where it is",
    example: "'#/components/parameters/height'",
  }),
};

const parameter = () =>
  oneOf({
    $ref: REFERENCE_OBJECT,
    name: {
      name: needed(LINE, { text: "Its name, as the node has it", example: "height" }),
      in: needed(word(PLACES), { text: "Where it stands", example: "query" }),
      description: setting(TEXT, { text: "What it is" }),
      required: setting(BOOLEAN, {
        text: "Whether it may not be left out",
        default: "false",
      }),
      deprecated: setting(BOOLEAN, {
        text: "Whether something else is to be used",
        default: "false",
      }),
      schema: needed(JSON_SCHEMA, {
        text: "Its JSON Schema. References lead to #/components/schemas/…",
        example: "{ type: integer }",
      }),
      style: setting(word(["simple", "form"]), { text: "How a list is written" }),
      explode: setting(BOOLEAN, { text: "Whether each item of a list stands for itself" }),
      example: setting(json, { text: "A value that was recorded from a real node" }),
      "x-multi-segment": setting(
        MULTI_SEGMENT,
        about(MARKS["x-multi-segment"], "encoded"),
      ),
      "x-spans": setting(TRUE, {
        text: "The name of x-multi-segment in 0.2",
        example: "true",
      }),
    },
  });

const operation = () =>
  object({
    operationId: needed(OPERATION_ID, {
      text: "A name of its own, which generated clients call it by",
      example: "getBlock",
    }),
    ...words(),
    tags: setting(list(LINE, "a list of names"), {
      text: "The groups that it is in",
      example: "[Blocks]",
    }),
    parameters: setting(list(parameter(), "a list of parameters"), { text: "Its parameters" }),
    requestBody: setting(objectOfJson("a Request Body Object"), { text: "The body that it takes" }),
    responses: needed(
      filledMap(ANSWER_STATUS, objectOfJson("a Response Object"), "answers by their status"),
      { text: "The answers by their status. Headers that are not named here are not passed on" },
    ),
    ...marks(),
  });

const item = () =>
  object({
    parameters: setting(list(parameter(), "a list of parameters"), {
      text: "Parameters of all its operations",
    }),
    ...Object.fromEntries(COMMON_METHODS.map((name) => [
      name,
      setting(operation(), { text: `What ${name.toUpperCase()} does` }),
    ])),
  });

const components = () =>
  object({
    schemas: setting(schemas(), { text: "JSON Schemas by name" }),
    parameters: setting(map(COMPONENT_NAME, parameter()), { text: "Parameters by name" }),
    ...Object.fromEntries(
      ["responses", "requestBodies", "headers", "examples"].map((name) => [
        name,
        setting(map(COMPONENT_NAME, objectOfJson("an object")), {
          text: `Objects of OpenAPI 3.1 by name`,
        }),
      ]),
    ),
  });

/** The schema of the OpenAPI part. */
const openapi = () =>
  object({
    paths: needed(filledMap(TEMPLATE, item(), "paths, each with its operations"), {
      text: "The operations by path, below the node's URL",
    }),
    components: setting(components(), { text: "What references lead to" }),
    tags: setting(
      list(
        object({
          name: needed(LINE, { text: "The name of the group", example: "Blocks" }),
          description: setting(TEXT, { text: "What is in it" }),
        }),
        "a list of tags, as in [{ name: Blocks }]",
      ),
      { text: "The groups, in the order in which they are shown" },
    ),
    servers: setting(
      v.pipe(
        list(
          object({
            url: needed(BASE_PATH, { text: "What all paths begin with", example: "/v1" }),
          }),
          "a list of one server",
        ),
        v.check((servers) => servers.length === 1, "a list of one server"),
      ),
      { text: "One server with a path, where all paths begin with it", example: "[{ url: /v1 }]" },
    ),
  });

/** The keys of a kind that say what it offers. */
export const interfaceSettings = (): Settings => ({
  openrpc: setting(openrpc(), { text: "Its methods of JSON-RPC: a part of an OpenRPC document" }),
  openapi: setting(openapi(), {
    text: "Its operations of REST: a part of an OpenAPI 3.1 document",
  }),
});
