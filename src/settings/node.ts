/**
 * The settings under `node` and `info`.
 *
 * @module
 */
import * as v from "valibot";
import { DEFAULTS, type InfoSettings, type NodeSettings } from "../info/settings.ts";
import { parseReference, referencesOf } from "../info/query-plan.ts";
import { isObject } from "../json/values.ts";
import type { AuthFile, Field, Kind, Reference, Source, SourceOptions } from "../kinds/kind.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { describeValue } from "../untrusted-text.ts";
import * as s from "./schema.ts";
import type { CliOption, Diagnostic, Schema, Settings, SettingsOf } from "./schema.ts";
import * as t from "./texts.ts";

const SCHEMES = {
  basic: "user:password, for HTTP Basic",
  bearer: "a bearer token",
  digest: "user:password, for HTTP Digest",
  header: 'a header value, or "Name: value"',
} as const;

const HEADER = s.setting(t.HEADER, {
  text: "The header that contains the secret. " +
    'If "header" is not set, the secret must have the form "Name: value"',
  example: "X-API-Key",
});

const MATCH = s.setting(t.EXPRESSION, {
  text: "A regular expression whose first group captures the secret",
  example: "'<apikey>(.*?)</apikey>'",
});

function authForms(where: "file" | "env", placeOf: (secret: string) => Schema) {
  const forms: Record<string, Settings> = {};
  for (const [scheme, secret] of Object.entries(SCHEMES)) {
    const key = `${scheme}_${where}`;
    const header = scheme === "header" && { header: HEADER };
    forms[key] = { [key]: placeOf(secret), ...header, ...where === "file" && { match: MATCH } };
  }
  return forms;
}

const authFileForms = (path: Schema<string>) =>
  authForms("file", (secret) =>
    s.needed(path, {
      text: `A file with ${secret}`,
      example: "~/.node/secret",
    }));

export const authFile = (path: Schema<string>): Schema<AuthFile> =>
  s.oneOf(authFileForms(path)) as Schema<unknown> as Schema<AuthFile>;

function auth(path: Schema<string>): Schema<NodeSettings["auth"]> {
  const variables = authForms("env", (secret) =>
    s.needed(t.LINE, {
      text: `An environment variable with ${secret}`,
      example: "NODE_SECRET",
    }));
  const forms = s.oneOf({ ...authFileForms(path), ...variables }) as Schema<unknown>;
  return s.setting(s.secret(forms as Schema<NonNullable<NodeSettings["auth"]>>), {
    text: "The file or variable with the node's secret. " +
      "Only the origin of node.url receives the secret. A response that contains the secret is " +
      "refused, unless the secret is shorter than 8 characters, which may occur by chance",
    default: "the usual secret files of this kind of node",
    example: "{ basic_file: ~/.node/cookie }",
  });
}

export const URL_OPTION: CliOption<string> = {
  key: "node.url",
  schema: t.NODE_URL,
  text: "The node's URL, such as http://127.0.0.1:8545",
  example: "http://127.0.0.1:8545",
  variables: ["NODEFACE_URL"],
  argument: "NODE_URL",
};

export const KIND_OPTION: CliOption<string> = {
  key: "node.kind",
  schema: t.KIND_OR_FILE,
  text: "The kind of the node, or a file that defines your own kind",
  default: "detected",
  example: "bitcoin",
  flag: "kind",
  variables: ["NODEFACE_KIND"],
  argument: "KIND",
};

export function nodeSettings(
  path: Schema<string>,
  own: readonly string[] = [],
): SettingsOf<NodeSettings> {
  return {
    url: s.setting(t.NODE_URL, URL_OPTION),
    kind: s.setting(t.kindName(own), {
      ...KIND_OPTION,
      text: 'The kind of the node, or "none" to use only the settings in info',
    }),
    auth: auth(path),
    tls: s.setting(
      s.object({
        ca_file: s.needed(path, {
          text: "A PEM file with the CA certificate that signed the node's certificate",
          example: "~/.node/ca.pem",
        }),
      }),
      {
        text: "An additional certificate authority to trust for https",
        default: "the authorities that the runtime trusts",
        example: "{ ca_file: ~/.node/ca.pem }",
      },
    ),
    timeout: s.setting(t.TIMEOUT, {
      text: "The maximum time for a response from the node",
      default: DEFAULTS.timeout,
      example: "5s",
    }),
    ask_methods: s.setting(s.BOOLEAN, {
      text: "Ask the node once which of its kind's methods it lacks; " +
        "only a node in this machine or network is asked",
      default: "true",
      example: "false",
    }),
  };
}

const COMMON: SettingsOf<SourceOptions> = {
  timeout: s.setting(t.TIMEOUT, {
    text: "The maximum time for a response",
    default: "node.timeout",
  }),
  ttl: s.setting(t.AGE, { text: "The time for which a response is valid", default: "info.ttl" }),
  optional: s.setting(s.BOOLEAN, {
    text: "If true, a missing method or path is not an error",
    default: "false",
  }),
  keep_errors: s.setting(s.BOOLEAN, {
    text: "If true, JSON error responses are accepted as values, " +
      "except for a missing method or path. " +
      'With keep_errors, the value of a JSON-RPC source is an object with "result" or "error"',
    default: "false",
  }),
};

const nodeSources = (path: Schema<string>, get: Schema<string>) => ({
  jsonrpc: {
    jsonrpc: s.needed(t.LINE, { text: "The JSON-RPC method to call", example: "getmininginfo" }),
    params: s.setting(
      v.union([v.array(s.json, "a list"), s.map(t.LINE, s.json)], "a list or an object"),
      {
        text:
          "The parameters. In a list, { from: PLACE } is replaced by a value from another response",
        example: "[1, true]",
      },
    ),
    path: s.setting(path, {
      text: "The path below node.url to which the call is posted",
      default: "node.url itself",
      example: "/rpc",
    }),
    ...COMMON,
  },
  get: {
    get: s.needed(get, {
      text: "A path below node.url, a URL, or a link in another response",
      example: "/status",
    }),
    accept: s.setting(t.LINE, {
      text: "The media type to request",
      default: "application/json",
      example: "application/nostr+json",
    }),
    ...COMMON,
  },
  post: {
    post: s.needed(path, {
      text: "The POST target: a path below node.url, or a URL",
      example: "/v3/maintenance/status",
    }),
    json: s.setting(s.json, { text: "The JSON to post", example: "{}" }),
    ...COMMON,
  },
});

/** A kind may come from anyone, so its sources cannot read files or run programs. */
export const NODE_SOURCE: Schema<Source> = s.oneOf(nodeSources(t.PATH, t.PATH_OR_LINK));

const source = (path: Schema<string>): Schema<Source> =>
  s.oneOf({
    ...nodeSources(t.SOURCE_PATH, t.SOURCE_GET),
    file: {
      file: s.needed(path, { text: "A file with JSON or plain text", example: "build.json" }),
      ...COMMON,
    },
    command: {
      command: s.needed(s.filledList(v.string("text"), "a list: the program and its arguments"), {
        text: "A program and its arguments. " +
          "The program prints JSON or plain text, and runs without a shell",
        example: "[df, --output=avail, /data]",
      }),
      ...COMMON,
    },
  });

const CONVERSIONS = ["hex", "number", "not", "count", "time", "uptime", "sum"] as const;

const CONVERSION = v.union([
  s.word(CONVERSIONS),
  s.oneOf({
    count: {
      count: s.needed(t.POINTER, {
        text: "The number of members whose value at this JSON Pointer is true",
      }),
    },
    match: {
      match: s.needed(t.EXPRESSION, {
        text: "The text that the first group matches, or the whole match if there is no group",
      }),
    },
    add: { add: s.needed(s.NUMBER, { text: "The value plus this number" }) },
    times: { times: s.needed(s.NUMBER, { text: "The value times this number" }) },
    uptime: {
      uptime: s.needed(s.word(["ms", "s", "m", "h"]), { text: "The start time, from the uptime" }),
    },
    join: {
      join: s.needed(v.string("text"), { text: "All values, joined by this separator" }),
    },
  }),
], `one of ${CONVERSIONS.join(", ")}, or an object with count, match, add, times, join or uptime`);

export const REFERENCES: Schema<Reference | Reference[]> = v.union([
  t.REFERENCE_TEXT,
  s.filledList(t.REFERENCE_TEXT, "a list of places"),
], "a place such as net#/version, or a list of places");

export const FIELD: Schema<Field> = v.union([
  t.REFERENCE_TEXT,
  s.object({
    from: s.needed(REFERENCES, {
      text: "The place of the value: a source name and a JSON Pointer, joined by #. " +
        "If several places are listed, the first value found is used, " +
        'but "sum" and "join" use all values',
      example: "net#/version",
    }),
    as: s.setting(CONVERSION, {
      text: "The conversion of the value: hex (to or from hexadecimal), " +
        "number (from decimal), not (true becomes false), count (of members), time (to RFC 3339), " +
        "uptime (seconds become the start time), sum (of all values), { count: POINTER }, " +
        "{ match: EXPRESSION }, { add: NUMBER }, { times: NUMBER }, { uptime: ms } or { join: TEXT }",
      example: "{ match: '^v(.+)' }",
    }),
    unless: s.setting(t.REFERENCE_TEXT, {
      text: "The key is omitted from /v1/info if the value at this place is true",
      example: "net#/hidden",
    }),
  }),
], 'a place such as net#/version, or an object with the key "from"');

export function infoSettings(path: Schema<string>): SettingsOf<InfoSettings> {
  return {
    ttl: s.setting(t.AGE, {
      text: "The shortest time between two queries of the node",
      default: DEFAULTS.ttl,
      example: "5s",
    }),
    stale: s.setting(t.AGE, {
      text: "The time for which the last known values are shown after the node stops responding",
      default: DEFAULTS.stale,
      example: "2m",
    }),
    static: s.setting(s.map(t.INFO_KEY, s.json), {
      text: "Keys to add, each with a constant value",
      example: "{ name: my-node }",
    }),
    hide: s.setting(v.array(t.INFO_KEY, "a list of keys"), {
      text: "Keys to omit",
      example: "[peers]",
    }),
    watch: s.setting(t.WATCH, {
      text: "The interval at which the node is queried even if no client sends a request",
      default: "30s",
      example: "5s",
    }),
    history: s.setting(t.HISTORY, {
      text: "The period that /v1/history covers: at most 24h, in at most 240 samples",
      default: DEFAULTS.history,
      example: "24h",
    }),
    stalled_after: s.setting(t.STALLED_AFTER, {
      text: "The time without a new block after which the node is stalled",
      default: "depends on the kind and network",
      example: "10m",
    }),
    sources: s.setting(s.map(t.SOURCE_NAME, source(path)), {
      text: "Sources by name, which extend or replace the kind's sources",
      example: "{ mining: { jsonrpc: getmininginfo } }",
    }),
    fields: s.setting(s.map(t.INFO_KEY, FIELD), {
      text: "Keys to add or replace. Each key needs a place such as net#/version, " +
        'or an object with "from"',
      example: "{ difficulty: mining#/difficulty }",
    }),
  };
}

export function hasKind({ kind, url }: NodeSettings): boolean {
  return kind === undefined ? url !== undefined : kind !== "none";
}

/** @param kinds the possible kinds of the node */
export function unknownSources(info: InfoSettings, kinds: readonly Kind[]): Diagnostic[] {
  const own = Object.keys(info.sources ?? {});
  const names = [...own, ...kinds.flatMap(({ sources }) => Object.keys(sources))];
  return Object.entries(info.fields ?? {}).flatMap(([key, field]) =>
    placesOf(field).flatMap((place) => {
      const message = explainSource(place, names, kinds.length > 1 ? own : names);
      return message === undefined
        ? []
        : [{ path: ["info", "fields", key], message, isKey: false }];
    })
  );
}

export function questionOf(source: Source): string {
  if ("jsonrpc" in source) return source.jsonrpc;
  if ("get" in source) return `GET ${source.get}`;
  if ("post" in source) return `POST ${source.post}`;
  return "file" in source ? source.file : source.command.join(" ");
}

export function placesOf(field: unknown): readonly Reference[] {
  const from = isObject(field) ? field.from : field;
  const isRight = [from].flat().every((place) => typeof place === "string");
  return isRight ? referencesOf(field as Field) : [];
}

/** @param listed source names for the message, shown if none of `names` is similar to the missing one */
export function explainSource(
  place: unknown,
  names: readonly string[],
  listed: readonly string[] = names,
): string | undefined {
  if (typeof place !== "string" || !place.includes("#")) return undefined;
  const [name] = parseReference(place as Reference);
  if (names.includes(name)) return undefined;
  const meant = didYouMean(nearest(name, names)) ||
    (listed.length > 0 ? `; expected one of ${listed.join(", ")}` : "");
  return `names the source ${describeValue(name)}, which does not exist${meant}`;
}
