/**
 * The settings of the info: what is asked, and what is shown of it.
 *
 * @module
 */
import { DEFAULTS, type InfoSettings, type NodeSettings } from "../info/settings.ts";
import { parseReference, referencesOf } from "../info/query-plan.ts";
import { isObject } from "../json/values.ts";
import type { Field, Kind, Reference, Source, SourceOptions } from "../kinds/kind.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { describeValue } from "../untrusted-text.ts";
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
} from "./texts.ts";
import {
  BOOLEAN,
  type Diagnostic,
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
  type SettingsOf,
  word,
} from "./schema.ts";

const COMMON: SettingsOf<SourceOptions> = {
  timeout: setting(TIMEOUT, { text: "How long a response may take", default: "node.timeout" }),
  ttl: setting(AGE, { text: "How long a response is good for", default: "info.ttl" }),
  optional: setting(BOOLEAN, {
    text: "If true, a missing method or path is not an error",
    default: "false",
  }),
  keep_errors: setting(BOOLEAN, {
    text:
      "If true, an error is a value as well: of JSON-RPC the whole response with result or error, " +
      "of HTTP the content whatever the status",
    default: "false",
  }),
};

export function source(path: Schema<string>): Schema<Source> {
  return oneOf({
    jsonrpc: {
      jsonrpc: needed(LINE, {
        text: "A method of JSON-RPC that is called",
        example: "getmininginfo",
      }),
      params: setting(
        either("a list or an object", list(json, "a list"), map(LINE, json)),
        { text: "Its parameters", example: "[1, true]" },
      ),
      path: setting(SOURCE_PATH, {
        text: "Where it is posted to, below node.url",
        default: "node.url itself",
        example: "/rpc",
      }),
      ...COMMON,
    },
    get: {
      get: needed(SOURCE_GET, {
        text: "A path below node.url, a URL, or the place of a link in another response",
        example: "/status",
      }),
      accept: setting(LINE, {
        text: "The media type that is asked for",
        default: "application/json",
        example: "application/nostr+json",
      }),
      ...COMMON,
    },
    post: {
      post: needed(SOURCE_PATH, {
        text: "A path below node.url, or a URL, that is posted to",
        example: "/v3/maintenance/status",
      }),
      json: setting(json, { text: "What is posted", example: "{}" }),
      ...COMMON,
    },
    file: {
      file: needed(path, { text: "A file with JSON or plain text", example: "build.json" }),
      ...COMMON,
    },
    command: {
      command: needed(filledList(TEXT, "a list: the program and its arguments"), {
        text: "A program that prints JSON or plain text, and its arguments; no shell reads them",
        example: "[df, --output=avail, /data]",
      }),
      ...COMMON,
    },
  });
}

const CONVERSIONS = ["hex", "number", "not", "count", "time", "uptime", "sum"] as const;

const CONVERSION = either(
  `one of ${CONVERSIONS.join(", ")}, or an object with count, match, add or join`,
  word(CONVERSIONS),
  oneOf({
    count: { count: needed(POINTER, { text: "Counts the members that are true there" }) },
    match: { match: needed(EXPRESSION, { text: "The first group, or all that it matches" }) },
    add: { add: needed(number("a number"), { text: "The number with this one added" }) },
    join: { join: needed(TEXT, { text: "All the places, with this text between them" }) },
  }),
);

/** The place that a key comes from. */
export const FIELD: Schema<Field> = either(
  "a place such as net#/version, or an object with from",
  REFERENCE_TEXT,
  object({
    from: needed(
      either(
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
    as: setting(CONVERSION, {
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

export function infoSettings(path: Schema<string>): SettingsOf<InfoSettings> {
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
    fields: setting(map(INFO_KEY, FIELD), {
      text: "Where the keys come from, beside or in place of those of the kind: a place, " +
        "or an object as below",
      example: "{ difficulty: mining#/difficulty }",
    }),
  };
}

/** Tells whether a node has a kind, named or found by asking, which brings sources of its own. */
export function hasKind({ kind, url }: NodeSettings): boolean {
  return kind === undefined ? url !== undefined : kind !== "none";
}

/**
 * Finds fields that name a source which neither the info nor the kind has. Fields that are wrong in
 * themselves are passed over.
 *
 * @param kinds the kinds that the node may be; none for a node that only the info describes
 */
export function unknownSources(info: InfoSettings, kinds: readonly Kind[]): Diagnostic[] {
  const own = Object.keys(info.sources ?? {});
  const names = [...own, ...kinds.flatMap(({ sources }) => Object.keys(sources))];
  return Object.entries(info.fields ?? {}).flatMap(([key, field]) =>
    placesOf(field).flatMap((place) => {
      // The sources of all kinds are too many to be named.
      const message = explainSource(place, names, kinds.length > 1 ? own : names);
      return message === undefined
        ? []
        : [{ path: ["info", "fields", key], message, isKey: false }];
    })
  );
}

/** The request that a source makes, in short: a method of JSON-RPC, `GET /status`, a file, or a command. */
export function questionOf(source: Source): string {
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

/** The places that a field names; none where it is wrong. */
export function placesOf(field: unknown): readonly Reference[] {
  const from = isObject(field) ? field.from : field;
  const isRight = [from].flat().every((place) => typeof place === "string");
  return isRight ? referencesOf(field as Field) : [];
}

/** Says of a place that its source is not there; `told` are those that are named. */
export function explainSource(
  place: unknown,
  names: readonly string[],
  told: readonly string[] = names,
): string | undefined {
  if (typeof place !== "string" || !place.includes("#")) return undefined;
  const [name] = parseReference(place as Reference);
  if (names.includes(name)) return undefined;
  const meant = didYouMean(nearest(name, names)) ||
    (told.length > 0 ? `; there are ${told.join(", ")}` : "");
  return `names the source ${describeValue(name)}, which is not there${meant}`;
}
