/**
 * What a configuration file may say: the schema that checks it, and from which the JSON Schema for
 * editors is made. A message says what would be right.
 *
 * @module
 */
import * as v from "valibot";
import { HOST_NAMES, ORIGINS, type Rule } from "../http/allowed.ts";
import { REFERENCE } from "../info/source-reference.ts";
import { DURATION, type InfoSettings, type NodeSettings } from "../info/settings.ts";
import { KINDS } from "../kinds/index.ts";
import type { Duration, Reference } from "../kinds/kind.ts";
import { kindRule, LINE, LISTEN, LOG, LOGS, NODE_URL, PLACE } from "./setting-rules.ts";

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

/** Text by a rule, as it is written. */
function ruled(rule: Rule<unknown>): v.GenericSchema<string> {
  const { pattern, right, refusal = `must be ${right}` } = rule;
  // What breaks the pattern has been said by then.
  const isRight = (text: string) => !pattern.test(text) || rule.normal(text) !== undefined;
  return v.pipe(text(pattern, right), v.check(isRight, refusal));
}

const line = ruled(LINE);
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

/** A list of those who are let in, or `"*"`. */
function allowed(rule: Rule, entries: string) {
  const message = `must be a list of ${entries}, or "*" for any`;
  return v.union([v.literal("*"), v.array(ruled(rule))], message);
}

const kinds = Object.keys(KINDS);

/** What the configuration file may say. */
export const FileSchema: v.GenericSchema<unknown, FileConfig> = object({
  listen: v.exactOptional(v.pipe(ruled(LISTEN), v.transform((text) => LISTEN.normal(text)!))),
  log: v.exactOptional(v.picklist(LOGS, `must be ${LOG.right}`)),
  hosts: v.exactOptional(allowed(HOST_NAMES, "host names")),
  cors: v.exactOptional(allowed(ORIGINS, "origins")),
  description: v.exactOptional(ruled(PLACE)),
  node: v.exactOptional(object({
    url: v.exactOptional(ruled(NODE_URL)),
    public_url: v.exactOptional(ruled(NODE_URL)),
    kind: v.exactOptional(v.picklist([...kinds, "none"], `must be ${kindRule(kinds).right}`)),
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
