/**
 * The settings of the info: what is asked, and what is shown of it.
 *
 * @module
 */
import { DEFAULTS } from "../info/settings.ts";
import {
  AGE,
  EXPRESSION,
  FILE,
  HIDDEN_KEY,
  INFO_KEY,
  LINE,
  POINTER,
  REFERENCE_TEXT,
  SOURCE_GET,
  SOURCE_NAME,
  SOURCE_PATH,
  TIMEOUT,
} from "./rules.ts";
import {
  either,
  list,
  object,
  path,
  type Setting,
  type Settings,
  type Shape,
  text,
  word,
} from "./shapes.ts";

const common: Settings = {
  timeout: {
    shape: text(TIMEOUT),
    text: "How long an answer may take",
    default: "node.timeout",
  },
  ttl: {
    shape: text(AGE),
    text: "How long an answer is good for",
    default: "info.ttl",
  },
  optional: {
    shape: { is: "boolean" },
    text: "Whether it is no trouble when the node refuses",
    default: "false",
  },
};

const source: Shape = {
  is: "form",
  forms: {
    jsonrpc: object({
      jsonrpc: {
        shape: text(LINE),
        text: "A method of JSON-RPC that is called",
        example: "getmininginfo",
      },
      params: {
        shape: either(
          "a list or an object",
          list({ is: "json" }, "a list"),
          { is: "map", name: LINE, of: { is: "json" } },
        ),
        text: "Its parameters",
        example: "[1, true]",
      },
      path: {
        shape: text(SOURCE_PATH),
        text: "Where it is posted to, below node.url",
        default: "node.url itself",
        example: "/rpc",
      },
      ...common,
    }),
    get: object({
      get: {
        shape: text(SOURCE_GET),
        text: "A path below node.url, a URL, or the place of a link in another answer",
        example: "/status",
        isSecret: true,
      },
      accept: {
        shape: text(LINE),
        text: "The media type that is asked for",
        default: "application/json",
        example: "application/nostr+json",
      },
      ...common,
    }),
    post: object({
      post: {
        shape: text(SOURCE_PATH),
        text: "A path below node.url, or a URL, that is posted to",
        example: "/v3/maintenance/status",
        isSecret: true,
      },
      json: { shape: { is: "json" }, text: "What is posted", example: "{}" },
      ...common,
    }),
    file: object({
      file: {
        shape: path(FILE),
        text: "A file with JSON or plain text",
        example: "build.json",
      },
      ...common,
    }),
    command: object({
      command: {
        shape: list(
          text({ pattern: /^/, right: "text" }),
          "a list: the program and its arguments",
          1,
        ),
        text: "A program that prints JSON or plain text, and its arguments; no shell reads them",
        example: "[df, --output=avail, /data]",
      },
      ...common,
    }),
  },
};

const CONVERSIONS = ["hex", "not", "count", "time", "uptime", "sum"];
const reference = text(REFERENCE_TEXT);

const field: Shape = either(
  "a place such as net#/version, or an object with from",
  reference,
  object({
    from: {
      shape: either(
        "a place such as net#/version, or a list of places",
        reference,
        list(reference, "a list of places", 1),
      ),
      text: "The place of the value: a source, # and a JSON Pointer. " +
        "Of several places, the first that has a value",
      example: "net#/version",
    },
    as: {
      shape: either(
        `one of ${CONVERSIONS.join(", ")}, or an object with count, match or join`,
        word(CONVERSIONS, `one of ${CONVERSIONS.join(", ")}`),
        {
          is: "form",
          forms: {
            count: object({
              count: { shape: text(POINTER), text: "Counts the members that are true there" },
            }),
            match: object({
              match: { shape: text(EXPRESSION), text: "The first group, or all that it matches" },
            }),
            join: object({
              join: {
                shape: text({ pattern: /^/, right: "text" }),
                text: "All the places, with this text between them",
              },
            }),
          },
        },
      ),
      text: "What is made of the value: hex (a number from or to its hexadecimal form), not, " +
        "count (how many), time (RFC 3339), uptime (the start, from the seconds since), sum, " +
        "{ count: POINTER }, { match: EXPRESSION } or { join: TEXT }",
      example: "{ match: '^v(.+)' }",
    },
    unless: {
      shape: reference,
      text: "The key is left out where this place is true",
      example: "net#/hidden",
    },
  }, ["from"]),
);

/** What is shown of the node, as the object `info`. */
export const info: Setting = {
  shape: object({
    ttl: {
      shape: text(AGE),
      text: "The node is asked at most once in this time",
      default: DEFAULTS.ttl,
      example: "5s",
    },
    stale: {
      shape: text(AGE),
      text: "How long last known values are shown when the node stops answering",
      default: DEFAULTS.stale,
      example: "2m",
    },
    static: {
      shape: { is: "map", name: INFO_KEY, of: { is: "json" } },
      text: "Keys whose values are always the same",
      example: "{ name: my-node }",
    },
    hide: {
      shape: list(text(HIDDEN_KEY), "a list of keys"),
      text: "Keys that are not shown",
      example: "[peers]",
    },
    sources: {
      shape: { is: "map", name: SOURCE_NAME, of: source },
      text: "What is asked, by a name: beside or in place of what the kind asks",
      example: "{ mining: { jsonrpc: getmininginfo } }",
    },
    fields: {
      shape: { is: "map", name: INFO_KEY, of: field },
      text: "Where the keys come from, beside or in place of those of the kind: a place, " +
        "or an object as below",
      example: "{ difficulty: mining#/difficulty }",
    },
  }),
  text: "What is shown of the node at /v1/info",
};
