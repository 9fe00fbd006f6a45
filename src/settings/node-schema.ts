/**
 * The settings under `node` and `info`.
 *
 * @module
 */
import * as v from "valibot";
import { DEFAULTS } from "../info/settings.ts";
import { parseReference, referencesOf } from "../info/query-plan.ts";
import { isObject } from "../json/values.ts";
import type { Field, Kind, Source, SourceOptions } from "../kinds/kind.ts";
import type { AuthFile, Reference, SecretPlace } from "../kinds/parts.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { InfoSettings, NodeSettings } from "../setting-types.ts";
import { CLI_OPTIONS } from "./flags.ts";
import { describeValue } from "../untrusted-text.ts";
import {
  anyOf,
  BOOLEAN,
  choice,
  described,
  filledList,
  json,
  map,
  NUMBER,
  object,
  oneOf,
  optional,
  type Schema,
  secret,
  type SettingDiagnostic,
  type Settings,
  type SettingsOf,
  typed,
} from "./schema.ts";
import {
  AGE,
  EXPRESSION,
  HEADER,
  HISTORY,
  INFO_KEY,
  kindName,
  LINE,
  NODE_URL,
  PATH,
  PATH_OR_LINK,
  POINTER,
  REFERENCE_TEXT,
  secretFile,
  SOURCE_GET,
  SOURCE_NAME,
  SOURCE_PATH,
  STALLED_AFTER,
  TIMEOUT,
  VARIABLE,
  WATCH,
  WS_URL,
} from "./texts.ts";

const SCHEMES = {
  basic: "user:password, for HTTP Basic",
  bearer: "a bearer token",
  digest: "user:password, for HTTP Digest",
  header: 'a header value, or "Name: value"',
} as const;

const NAME_OF_HEADER = optional(
  HEADER,
  "The header that contains the secret. " +
    'If "header" is not set, the secret must have the form "Name: value"',
  {
    example: "X-API-Key",
  },
);

const MATCH = optional(EXPRESSION, "A regular expression whose first group captures the secret", {
  example: "'<apikey>(.*?)</apikey>'",
});

function authForms(where: "file" | "env", placeOf: (secret: string) => Schema) {
  const forms: Record<string, Settings> = {};
  for (const [scheme, secret] of Object.entries(SCHEMES)) {
    const key = `${scheme}_${where}`;
    const header = scheme === "header" && { header: NAME_OF_HEADER };
    forms[key] = { [key]: placeOf(secret), ...header, ...where === "file" && { match: MATCH } };
  }
  return forms;
}

const authFileForms = (path: Schema<string>) =>
  authForms("file", (secret) =>
    described(secretFile(path), `A file with ${secret}`, {
      example: "~/.node/secret",
    }));

export const authFile = (path: Schema<string>): Schema<AuthFile> =>
  typed("AuthFile", oneOf(authFileForms(path)) as Schema<unknown> as Schema<AuthFile>);

function auth(path: Schema<string>): Schema<SecretPlace | undefined> {
  const variables = authForms(
    "env",
    (secret) =>
      described(VARIABLE, `An environment variable with ${secret}`, {
        example: "NODE_SECRET",
      }),
  );
  const forms = oneOf({ ...authFileForms(path), ...variables }) as Schema<unknown>;
  return optional(
    secret(typed("SecretPlace", forms as Schema<SecretPlace>)),
    "The file or variable with the node's secret. " +
      "Only the origin of node.url receives the secret. " +
      "Responses that contain a secret of at least 8 characters are refused or cut off",
    {
      default: "on this machine, the usual secret files of this kind of node",
      example: "{ basic_file: ~/.node/cookie }",
    },
  );
}

export function nodeSettings(
  path: Schema<string>,
  own: readonly string[],
): SettingsOf<NodeSettings> {
  return {
    url: optional(NODE_URL, CLI_OPTIONS.url.text, CLI_OPTIONS.url),
    kind: optional(
      kindName(own),
      'The kind of the node, or "none" to use only the settings in info',
      CLI_OPTIONS.kind,
    ),
    ws: optional(
      WS_URL,
      "The URL for WebSocket connections to the same node: expect is verified at url",
      {
        default: "url, with the path and port of the kind",
        example: "ws://127.0.0.1:8546",
      },
    ),
    auth: auth(path),
    tls: optional(
      object({
        ca_file: described(
          path,
          "A PEM file with the CA certificate that signed the node's certificate",
          {
            example: "~/.node/ca.pem",
          },
        ),
      }),
      "An additional certificate authority to trust for https",
      {
        default: "the authorities that the runtime trusts",
        example: "{ ca_file: ~/.node/ca.pem }",
      },
    ),
    timeout: optional(
      TIMEOUT,
      "The maximum time of a query, but at least 3s until the kind is known; calls have " +
        "forward.timeout",
      {
        default: DEFAULTS.timeout,
        example: "5s",
      },
    ),
    expect: optional(
      map(INFO_KEY, anyOf([LINE, NUMBER], "a line of text, or a number")),
      "The identity of the node: values that /v1/info must have. If another node responds, its " +
        "status is degraded (wrong_network), and calls are not forwarded",
      {
        default: "any node",
        example: '{ chain_id: "1" }',
      },
    ),
    ask_methods: optional(
      BOOLEAN,
      "If true, the service asks the node which methods of its kind it lacks. " +
        "Only a node on this machine or in its network is asked",
      {
        default: "true",
        example: "false",
      },
    ),
  };
}

export const SOURCE_OPTIONS: SettingsOf<SourceOptions> = {
  timeout: optional(TIMEOUT, "The maximum time for a response", {
    default: "node.timeout",
  }),
  ttl: optional(AGE, "The time for which a response is valid", {
    default: "info.ttl",
  }),
  optional: optional(
    BOOLEAN,
    "If true, a missing method, path, file or program is not an error, nor is a path that is " +
      "forbidden (401, 403) while other sources respond",
    {
      default: "false",
    },
  ),
  extra: optional(
    BOOLEAN,
    "If true, a failure does not affect the status. That of your own source beside those of a " +
      "kind never does",
    {
      default: "false",
    },
  ),
  keep_errors: optional(
    BOOLEAN,
    "If true, a JSON error response is used as the value, unless the method or path is missing. " +
      "The value is then the content, or, for a JSON-RPC source, " +
      'an object with "result" or "error"',
    {
      default: "false",
    },
  ),
};

const nodeSources = (path: Schema<string>, get: Schema<string>) => ({
  jsonrpc: {
    jsonrpc: described(LINE, "The JSON-RPC method to call", {
      example: "getmininginfo",
    }),
    params: optional(
      anyOf([v.array(json, "a list"), map(LINE, json)], "a list or an object"),
      "The parameters. In a list, { from: PLACE } is replaced by a value from another response",
      {
        example: "[1, true]",
      },
    ),
    path: optional(path, "The path below node.url to which the call is posted", {
      default: "node.url itself",
      example: "/rpc",
    }),
    ...SOURCE_OPTIONS,
  },
  get: {
    get: described(get, "A path below node.url, a URL, or a link in another response", {
      example: "/status",
    }),
    accept: optional(LINE, "The media type to request", {
      default: "application/json",
      example: "application/nostr+json",
    }),
    ...SOURCE_OPTIONS,
  },
  post: {
    post: described(path, "The POST target: a path below node.url, or a URL", {
      example: "/v3/maintenance/status",
    }),
    json: optional(json, "The JSON to post", {
      example: "{}",
    }),
    ...SOURCE_OPTIONS,
  },
});

/** A kind may come from anyone, so its sources cannot read files or run programs. */
export const NODE_SOURCE: Schema<Source> = oneOf(nodeSources(PATH, PATH_OR_LINK));

const source = (path: Schema<string>): Schema<Source> =>
  typed(
    "Source",
    oneOf({
      ...nodeSources(SOURCE_PATH, SOURCE_GET),
      file: {
        file: described(path, "A file with JSON or plain text", {
          example: "build.json",
        }),
        ...SOURCE_OPTIONS,
      },
      command: {
        command: described(
          filledList(v.string("text"), "a list: the program and its arguments"),
          "A program and its arguments. " +
            "The program prints JSON or plain text, and runs without a shell",
          {
            example: "[sh, -c, 'df --output=avail /data | tail -1']",
          },
        ),
        ...SOURCE_OPTIONS,
      },
    }),
  );

const CONVERSIONS = ["hex", "base16", "number", "not", "count", "time", "uptime", "sum"] as const;

const CONVERSION = anyOf([
  oneOf({
    count: {
      count: described(POINTER, "The number of members whose value at this JSON Pointer is true"),
    },
    match: {
      match: described(
        EXPRESSION,
        "The text that the first group matches, or the whole match if there is no group",
      ),
    },
    add: { add: described(NUMBER, "The value plus this number") },
    times: { times: described(NUMBER, "The value times this number") },
    uptime: {
      uptime: described(choice(["ms", "s", "m", "h"]), "The start time, from the uptime"),
    },
    join: {
      join: described(v.string("text"), "All values, joined by this separator"),
    },
  }),
  choice(CONVERSIONS),
], `one of ${CONVERSIONS.join(", ")}, or an object with count, match, add, times, join or uptime`);

export const REFERENCES: Schema<Reference | Reference[]> = anyOf([
  REFERENCE_TEXT,
  filledList(REFERENCE_TEXT, "a list of places"),
], "a place such as net#/version, or a list of places");

export const FIELD: Schema<Field> = typed(
  "Field",
  anyOf([
    REFERENCE_TEXT,
    object({
      from: described(
        REFERENCES,
        "The place of the value: a source name and a JSON Pointer, joined by #. " +
          "If several places are listed, the first value found is used, " +
          'but "sum" and "join" use all values',
        {
          example: "net#/version",
        },
      ),
      as: optional(
        typed("Conversion", CONVERSION),
        "The conversion of the value: hex (to or from hexadecimal), base16 (to hexadecimal " +
          "without 0x), number (from decimal), not (true becomes false), count (of members), " +
          "time (to RFC 3339), " +
          "uptime (seconds become the start time), sum (of all values), { count: POINTER }, " +
          "{ match: EXPRESSION }, { add: NUMBER }, { times: NUMBER }, { uptime: ms } or { " +
          "join: TEXT }",
        {
          example: "{ match: '^v(.+)' }",
        },
      ),
      unless: optional(
        REFERENCE_TEXT,
        "The key is omitted from /v1/info if the value at this place is true. " +
          "Some nodes send placeholders for hidden values",
        {
          example: "net#/hidden",
        },
      ),
    }),
  ], 'a place such as net#/version, or an object with the key "from"'),
);

export function infoSettings(path: Schema<string>): SettingsOf<InfoSettings> {
  return {
    ttl: optional(AGE, "The minimum time between queries of a responding node", {
      default: DEFAULTS.ttl,
      example: "5s",
    }),
    stale: optional(
      AGE,
      "The time for which the last known values are shown after the node stops responding",
      {
        default: DEFAULTS.stale,
        example: "2m",
      },
    ),
    static: optional(map(INFO_KEY, json), "Keys to add, each with a constant value", {
      example: "{ name: my-node }",
    }),
    hide: optional(v.array(INFO_KEY, "a list of keys"), "Keys to omit", {
      example: "[peers]",
    }),
    watch: optional(
      WATCH,
      "The longest interval between queries of the node, even without requests of clients. " +
        "In a host program, the default is off",
      {
        default: DEFAULTS.watch,
        example: "5s",
      },
    ),
    history: optional(
      HISTORY,
      "The period that /v1/history covers: at most 24h, in at most 240 samples",
      {
        default: DEFAULTS.history,
        example: "24h",
      },
    ),
    stalled_after: optional(
      STALLED_AFTER,
      "The node counts as stalled if it has no new block for this time",
      {
        default: "depends on the kind and network",
        example: "10m",
      },
    ),
    sources: optional(
      map(SOURCE_NAME, source(path)),
      "Sources by name, which extend or replace the kind's sources",
      {
        example: "{ mining: { jsonrpc: getmininginfo } }",
      },
    ),
    fields: optional(
      map(INFO_KEY, FIELD),
      "Keys to add or replace. Each key needs a place such as net#/version, " +
        'or an object with "from"',
      {
        example: "{ difficulty: mining#/difficulty }",
      },
    ),
  };
}

export function hasKind({ kind, url }: NodeSettings): boolean {
  return kind === undefined ? url !== undefined : kind !== "none";
}

/** @param kinds the possible kinds of the node */
export function unknownSources(info: InfoSettings, kinds: readonly Kind[]): SettingDiagnostic[] {
  const own = Object.keys(info.sources ?? {});
  const names = [...own, ...kinds.flatMap(({ sources }) => Object.keys(sources))];
  return Object.entries(info.fields ?? {}).flatMap(([key, field]) =>
    placesOf(field).flatMap((place) => {
      const message = explainSource(place, names, kinds.length > 1 ? own : names);
      return message === undefined ? [] : [{ path: ["info", "fields", key], message }];
    })
  );
}

export function placesOf(field: unknown): readonly Reference[] {
  const from = isObject(field) ? field.from : field;
  const isRight = [from].flat().every((place) => typeof place === "string");
  return isRight ? referencesOf(field as Field) : [];
}

/**
 * @param listed source names for the message, shown if none of `names` is similar to the missing
 * one
 */
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
