/**
 * Every setting, declared once: its rule, default, flag, variables and text. The configuration file,
 * the flags and `createNodeface` are all read by it. `--help`, `docs/configuration.md` and
 * `spec/nodeface.schema.json` are made of it.
 *
 * @module
 */
import { info } from "./settings/info.ts";
import { kind, node, url } from "./settings/node.ts";
import {
  FILE,
  HOST,
  HOST_NAMES,
  LINE,
  LISTEN,
  NODE_URL,
  ORIGINS,
  PLACE,
  PORT,
  PREFIX,
} from "./settings/rules.ts";
import {
  either,
  list,
  object,
  type ObjectShape,
  path,
  type Setting,
  type Shape,
  text,
  type TextRule,
  word,
} from "./settings/shapes.ts";

/** A list of those who are let in, or `"*"`. */
function allowed(rule: TextRule, entries: string): Shape {
  const right = `a list of ${entries}, or "*" for any`;
  return either(right, word(["*"], right), list(text(rule), right));
}

/** What is written about requests, to standard output. */
export const LOGS = ["text", "json", "off"] as const;

const listen: Setting = {
  shape: text(LISTEN),
  text: "The address and the port to listen on. [::1] is written with its brackets",
  default: "127.0.0.1:8080",
  example: "127.0.0.1:8080",
};

const host: Setting = {
  shape: text(HOST),
  text: "the address to listen on",
  default: "127.0.0.1",
  flag: "host",
  variables: ["NODEFACE_HOST"],
  argument: "HOST",
};

const port: Setting = {
  shape: text(PORT),
  text: "the port to listen on; 0 for a free one",
  default: "8080",
  flag: "port",
  variables: ["NODEFACE_PORT", "PORT"],
  argument: "PORT",
};

const config: Setting = {
  shape: path(FILE),
  text: "a configuration, YAML or JSON, read again on SIGHUP",
  default: "nodeface.yaml of the working directory, where there is one",
  flag: "config",
  variables: ["NODEFACE_CONFIG"],
  argument: "FILE",
};

const log: Setting = {
  shape: word(LOGS, `one of ${LOGS.join(", ")}`),
  text: "write each request to standard output: text, json or off",
  default: "off",
  example: "json",
  flag: "log",
  variables: ["NODEFACE_LOG"],
  argument: "FORM",
};

const hosts: Setting = {
  shape: allowed(HOST_NAMES, "host names"),
  text: "The host names that are answered for, besides loopback names and IP addresses. " +
    'Others are refused with 421. "*" answers for any',
  default: "[]",
  example: "[node.example]",
};

const cors: Setting = {
  shape: allowed(ORIGINS, "origins"),
  text: 'The origins whose pages may read the answers: "*" for any, [] for none',
  default: "'*'",
  example: "[https://app.example]",
};

const description: Setting = {
  shape: path(PLACE),
  text: "the node's own OpenAPI description, a file or a URL, read again when it changes, or none",
  default: "where nodes of its kind describe themselves",
  example: "openapi.yaml",
  flag: "spec",
  variables: ["NODEFACE_SPEC"],
  argument: "PLACE",
};

/** The settings that the command takes from flags and from the environment, in the order of its help. */
export const COMMAND: Readonly<
  Record<"url" | "kind" | "spec" | "config" | "host" | "port" | "log", Setting>
> = { url, kind, spec: description, config, host, port, log };

/** What a configuration file may say. */
export const CONFIGURATION: ObjectShape = object({
  listen,
  log: { ...log, text: "What is written of each request to standard output: text, json or off" },
  hosts,
  cors,
  description: {
    ...description,
    text:
      "The node's own OpenAPI description: a file or a URL, read again when it changes, or none",
  },
  node,
  info,
});

/** The methods that an operation may have. */
export const OPERATION_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const callback = (called: string): Setting => ({
  shape: { is: "function", right: "a function" },
  text: `Is told ${called}`,
});

const urlOption = (setting: Setting): Setting => ({
  ...setting,
  shape: either(NODE_URL.right, setting.shape, { is: "url", rule: NODE_URL }),
});

const { settings: nodeSettings } = node.shape;

/** What `createNodeface` may be told. */
export const OPTIONS: ObjectShape = object({
  hosts,
  cors,
  prefix: {
    shape: text(PREFIX),
    text: "The path that comes before all others",
    default: '""',
  },
  description: {
    ...description,
    shape: either(
      "the path of a file, a URL, none, or an object with text",
      text(PLACE),
      { is: "url" },
      object({
        text: {
          shape: text({ pattern: /^/, right: "the description as text" }),
          text: "The description itself",
        },
        name: { shape: text(LINE), text: "What it is called; .json for JSON" },
      }, ["text"]),
    ),
  },
  node: {
    ...node,
    shape: object({
      ...nodeSettings,
      url: urlOption(nodeSettings.url!),
      public_url: urlOption(nodeSettings.public_url!),
    }),
  },
  info: {
    ...info,
    shape: either(
      "an object with what is shown, or a function that tells it",
      info.shape,
      { is: "function", right: "a function" },
    ),
  },
  operations: {
    shape: list(
      object({
        method: {
          shape: word(OPERATION_METHODS, `one of ${OPERATION_METHODS.join(", ")}`),
          text: "The method, in upper case. HEAD is answered with GET",
        },
        path: { shape: text(LINE), text: "The path as OpenAPI writes it" },
        operation: {
          shape: { is: "map", name: LINE, of: { is: "json" } },
          text: "The OpenAPI operation object",
        },
        handle: {
          shape: { is: "function", right: "a function that answers a request" },
          text: "Answers a request",
        },
      }, ["method", "path", "operation", "handle"]),
      "a list of operations",
    ),
    text: "Further operations, which the description and the explorer show as well",
  },
  startedAt: { shape: { is: "date" }, text: "When the service started" },
  onDescription: callback("what is wrong with the description, each time that it was read"),
  onError: callback("of every error that is answered with 500"),
  log: callback("what is wrong with the node, once when it begins and once when it ends"),
});
