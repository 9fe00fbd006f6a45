/**
 * What a configuration may say: one schema for the file, the environment and the flags, from which
 * the JSON Schema for editors is made. A message says what would be right.
 *
 * @module
 */
import * as v from "valibot";
import { REFERENCE } from "../info/reference.ts";
import { DURATION, type InfoSettings, type NodeSettings } from "../info/settings.ts";
import { KINDS } from "../kinds/index.ts";
import type { Duration, Reference } from "../kinds/kind.ts";

/** What is written about requests, to standard output. */
export const LOGS = ["text", "json", "off"] as const;

/** What the configuration file may say. */
export interface FileConfig {
  listen?: { host: string; port: number };
  log?: (typeof LOGS)[number];
  hosts?: readonly string[] | "*";
  cors?: readonly string[] | "*";
  description?: string;
  node?: NodeSettings;
  info?: InfoSettings;
}

/** An object in which an unknown key is an error that names the known ones. */
function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  const keys = Object.keys(entries).join(", ");
  return v.strictObject(
    entries,
    ({ expected }) => expected === "never" ? `is no key here; there are ${keys}` : `needs ${keys}`,
  );
}

/** Text of a form. */
function text<Text extends string = string>(pattern: RegExp, right: string) {
  const message = `must be ${right}`;
  const schema: unknown = v.pipe(v.string(message), v.regex(pattern, message));
  return schema as v.GenericSchema<Text>;
}

/** An object whose form depends on which of some keys it has. */
function oneOf<Forms extends Readonly<Record<string, v.GenericSchema>>>(
  forms: Forms,
): v.GenericSchema<v.InferInput<Forms[keyof Forms]>, v.InferOutput<Forms[keyof Forms]>> {
  const all = v.union(Object.values(forms), `must have one of ${Object.keys(forms).join(", ")}`);
  return v.lazy((input) => {
    if (typeof input !== "object" || input === null) return all;
    return forms[Object.keys(forms).find((key) => key in input) ?? ""] ?? all;
  });
}

const line = text(/^[^\r\n]+$/, "a line of text");
const duration = text<Duration>(DURATION, 'a duration such as "2s", "500ms" or "1m"');
const reference = text<Reference>(
  REFERENCE,
  "a source, # and a JSON Pointer, such as net#/subversion",
);
const path = text(/^(\/|https?:\/\/)\S*$/, "a path such as /status, or a URL");
const header = text(/^[\w-]+$/, "the name of a header");
const key = text(
  /^(?!(?:status|updated_at|api|links)$)[a-z][a-z0-9_]*$/,
  "a key in snake_case other than status, updated_at, api and links",
);
const expression = v.pipe(
  v.string("must be a regular expression"),
  v.check(isExpression, "must be a regular expression"),
);

const common = {
  timeout: v.exactOptional(duration),
  ttl: v.exactOptional(duration),
  optional: v.exactOptional(v.boolean("must be true or false")),
};

const source = oneOf({
  jsonrpc: object({
    jsonrpc: line,
    params: v.exactOptional(v.union(
      [v.array(v.any()), v.record(v.string(), v.any())],
      "must be a list or an object",
    )),
    path: v.exactOptional(path),
    ...common,
  }),
  get: object({
    get: text(/^(\/|https?:\/\/|[\w-]+#\/)\S*$/, "a path, a URL, or the place of a link"),
    accept: v.exactOptional(line),
    ...common,
  }),
  post: object({ post: path, json: v.exactOptional(v.any()), ...common }),
  file: object({ file: line, ...common }),
  command: object({
    command: v.pipe(
      v.array(v.string("must be text"), "must be a list: the program and its arguments"),
      v.minLength(1, "must name a program"),
    ),
    ...common,
  }),
});

const conversion = v.union(
  [
    v.picklist(["hex", "not", "count", "time", "uptime", "sum"]),
    object({ count: text(/^\//, "a JSON Pointer") }),
    object({ match: expression }),
    object({ join: v.string() }),
  ],
  "must be hex, not, count, time, uptime, sum, { count: POINTER }, { match: EXPRESSION } or { join: TEXT }",
);

const fieldOptions = object({
  from: v.union([reference, v.array(reference)], "must be a place such as net#/version, or a list"),
  as: v.exactOptional(conversion),
  unless: v.exactOptional(reference),
});

const field = v.lazy((input) =>
  input === undefined
    ? v.union([reference, fieldOptions])
    : typeof input === "string"
    ? reference
    : fieldOptions
);

const secret = {
  match: v.exactOptional(expression),
};

const auth = oneOf({
  basic_file: object({ basic_file: line, ...secret }),
  bearer_file: object({ bearer_file: line, ...secret }),
  header_file: object({ header_file: line, header: v.exactOptional(header), ...secret }),
  basic_env: object({ basic_env: line }),
  bearer_env: object({ bearer_env: line }),
  header_env: object({ header_env: line, header: v.exactOptional(header) }),
});

/** The URL of a node. A secret does not belong into it: it would be seen in lists of processes. */
export const NodeUrl: v.GenericSchema<string> = v.pipe(
  text(/^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/, "a URL such as http://127.0.0.1:8545"),
  v.check(
    (url) => !/@/.test(url) && (!url.startsWith("http") || URL.canParse(url)),
    "names a secret, or cannot be parsed; secrets lie in files, see node.auth",
  ),
);

/** Where a description is; `none` is nowhere. */
export const Place: v.GenericSchema<string> = v.pipe(
  line,
  v.check(
    (place) => !/^(https?|file):/i.test(place) || URL.canParse(place),
    "must be a path or a URL",
  ),
);

/** The name of a kind of node. */
export const KindName: v.GenericSchema<string> = v.picklist(
  [...Object.keys(KINDS), "none"],
  `must be one of ${Object.keys(KINDS).join(", ")}, or none`,
);

/** What is written about requests. */
export const Log: v.GenericSchema<(typeof LOGS)[number]> = v.picklist(
  LOGS,
  `must be one of ${LOGS.join(", ")}`,
);

/** A host name, or an IP literal without brackets. */
export const Host: v.GenericSchema<string> = text(/^[^\s/[\]]+$/, "a host name or an address");

/** A port as it is written. */
export const Port: v.GenericSchema<string, number> = v.pipe(
  text(/^\d{1,5}$/, "a whole number from 0 to 65535"),
  v.check((port) => !(Number(port) > 65535), "must be a whole number from 0 to 65535"),
  v.transform(Number),
);

const listen = v.pipe(
  text(/^(\[[\da-fA-F:.]+\]|[^\s/[\]:]+):\d{1,5}$/, "an address and a port, as in 127.0.0.1:8080"),
  v.transform((address) => {
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    return { host, port: Number(address.slice(colon + 1)) };
  }),
  v.check(({ port }) => port <= 65535, "must have a port from 0 to 65535"),
);

const name = text(
  /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/,
  'a host name without a port, or "*" in place of the list',
);
const hosts = v.union(
  [v.literal("*"), v.array(name)],
  'must be a list of host names, or "*" for any',
);

const origin = text(
  /^https?:\/\/[^\s\/?#@]+$/,
  'an origin such as https://app.example, or "*" in place of the list',
);
const cors = v.union(
  [v.literal("*"), v.array(origin)],
  'must be a list of origins, or "*" for any',
);

/** What the configuration file may say. */
export const FileSchema: v.GenericSchema<unknown, FileConfig> = object({
  listen: v.exactOptional(listen),
  log: v.exactOptional(Log),
  hosts: v.exactOptional(hosts),
  cors: v.exactOptional(cors),
  description: v.exactOptional(Place),
  node: v.exactOptional(object({
    url: v.exactOptional(NodeUrl),
    public_url: v.exactOptional(NodeUrl),
    kind: v.exactOptional(KindName),
    auth: v.exactOptional(auth),
    timeout: v.exactOptional(duration),
  })),
  info: v.exactOptional(object({
    ttl: v.exactOptional(duration),
    stale: v.exactOptional(duration),
    static: v.exactOptional(v.record(key, v.any())),
    hide: v.exactOptional(v.array(line, "must be a list of keys")),
    sources: v.exactOptional(v.record(text(/^[\w-]+$/, "a name of letters and digits"), source)),
    fields: v.exactOptional(v.record(key, field)),
  })),
}) as v.GenericSchema<unknown, FileConfig>;

function isExpression(pattern: string): boolean {
  try {
    return !!new RegExp(pattern);
  } catch {
    return false;
  }
}
