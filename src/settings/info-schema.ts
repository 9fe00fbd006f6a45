/**
 * The settings of the info: what is asked, and what is shown of it.
 *
 * @module
 */
import * as v from "valibot";
import { DEFAULTS } from "../info/node-and-info-settings.ts";
import {
  AGE,
  EXPRESSION,
  HIDDEN_KEY,
  INFO_KEY,
  LINE,
  POINTER,
  REFERENCE_TEXT,
  SOURCE_GET,
  SOURCE_NAME,
  SOURCE_PATH,
  TEXT,
  TIMEOUT,
} from "./text-schemas.ts";
import {
  either,
  filledList,
  json,
  list,
  map,
  needed,
  number,
  object,
  oneOf,
  type Schema,
  setting,
  type Settings,
  word,
} from "./schema-builders.ts";

/** What every source may say. */
const common = (): Settings => ({
  timeout: setting(TIMEOUT, { text: "How long an answer may take", default: "node.timeout" }),
  ttl: setting(AGE, { text: "How long an answer is good for", default: "info.ttl" }),
  optional: setting(v.boolean("true or false"), {
    text: "Whether it is no fault when the node has no such method or path",
    default: "false",
  }),
  keep_errors: setting(v.boolean("true or false"), {
    text:
      "Whether an error is a value as well: of JSON-RPC the whole answer with result or error, " +
      "of HTTP the content whatever the status",
    default: "false",
  }),
});

/** A source, by the schema of a path. */
export function source(path: Schema<string>): Schema {
  return oneOf({
    jsonrpc: {
      jsonrpc: needed(LINE, {
        text: "A method of JSON-RPC that is called",
        example: "getmininginfo",
      }),
      params: setting(
        either<unknown>("a list or an object", list(json, "a list"), map(LINE, json)),
        { text: "Its parameters", example: "[1, true]" },
      ),
      path: setting(SOURCE_PATH, {
        text: "Where it is posted to, below node.url",
        default: "node.url itself",
        example: "/rpc",
      }),
      ...common(),
    },
    get: {
      get: needed(SOURCE_GET, {
        text: "A path below node.url, a URL, or the place of a link in another answer",
        example: "/status",
      }),
      accept: setting(LINE, {
        text: "The media type that is asked for",
        default: "application/json",
        example: "application/nostr+json",
      }),
      ...common(),
    },
    post: {
      post: needed(SOURCE_PATH, {
        text: "A path below node.url, or a URL, that is posted to",
        example: "/v3/maintenance/status",
      }),
      json: setting(json, { text: "What is posted", example: "{}" }),
      ...common(),
    },
    file: {
      file: needed(path, { text: "A file with JSON or plain text", example: "build.json" }),
      ...common(),
    },
    command: {
      command: needed(filledList(TEXT, "a list: the program and its arguments"), {
        text: "A program that prints JSON or plain text, and its arguments; no shell reads them",
        example: "[df, --output=avail, /data]",
      }),
      ...common(),
    },
  });
}

const CONVERSIONS = ["hex", "number", "not", "count", "time", "uptime", "sum"];

const conversion = () =>
  either<unknown>(
    `one of ${CONVERSIONS.join(", ")}, or an object with count, match, add or join`,
    word(CONVERSIONS),
    oneOf({
      count: { count: needed(POINTER, { text: "Counts the members that are true there" }) },
      match: { match: needed(EXPRESSION, { text: "The first group, or all that it matches" }) },
      add: { add: needed(number("a number"), { text: "The number with this one added" }) },
      join: { join: needed(TEXT, { text: "All the places, with this text between them" }) },
    }),
  );

/** Where a key comes from. */
export const field = (): Schema =>
  either<unknown>(
    "a place such as net#/version, or an object with from",
    REFERENCE_TEXT,
    object({
      from: needed(
        either<unknown>(
          "a place such as net#/version, or a list of places",
          REFERENCE_TEXT,
          filledList(REFERENCE_TEXT, "a list of places"),
        ),
        {
          text: "The place of the value: a source, # and a JSON Pointer. " +
            "Of several places, the first that has a value",
          example: "net#/version",
        },
      ),
      as: setting(conversion(), {
        text: "What is made of the value: hex (a number from or to its hexadecimal form), " +
          "number (from its decimal form), not, count (how many), time (RFC 3339), " +
          "uptime (the start, from the seconds since), sum, { count: POINTER }, " +
          "{ match: EXPRESSION }, { add: NUMBER } or { join: TEXT }",
        example: "{ match: '^v(.+)' }",
      }),
      unless: setting(REFERENCE_TEXT, {
        text: "The key is left out where this place is true",
        example: "net#/hidden",
      }),
    }),
  );

/** The keys of `info`, by the schema of a path. */
export function infoSettings(path: Schema<string>): Settings {
  return {
    ttl: setting(AGE, {
      text: "The node is asked at most once in this time",
      default: DEFAULTS.ttl,
      example: "5s",
    }),
    stale: setting(AGE, {
      text: "How long last known values are shown when the node stops answering",
      default: DEFAULTS.stale,
      example: "2m",
    }),
    static: setting(map(INFO_KEY, json), {
      text: "Keys whose values are always the same",
      example: "{ name: my-node }",
    }),
    hide: setting(list(HIDDEN_KEY, "a list of keys"), {
      text: "Keys that are not shown",
      example: "[peers]",
    }),
    sources: setting(map(SOURCE_NAME, source(path)), {
      text: "What is asked, by a name: beside or in place of what the kind asks",
      example: "{ mining: { jsonrpc: getmininginfo } }",
    }),
    fields: setting(map(INFO_KEY, field()), {
      text: "Where the keys come from, beside or in place of those of the kind: a place, " +
        "or an object as below",
      example: "{ difficulty: mining#/difficulty }",
    }),
  };
}
