/**
 * The settings that flags and variables of the environment may give. `--help` is made of them.
 *
 * @module
 */
import { FORWARD_ALIASES, FORWARDS } from "../gateway/policy.ts";
import { LOG_CALLS, type LogCalls } from "../log.ts";
import { type About, type Schema, word } from "./schema.ts";
import { FILE, HOST, KIND_OR_FILE, NODE_URL, PLACE, PORT, SWITCH } from "./texts.ts";

export const ACCESS_LOGS = ["text", "json", "off"] as const;

export type AccessLog = (typeof ACCESS_LOGS)[number];

export interface CliValues {
  url?: string;
  kind?: string;
  spec?: string;
  config?: string;
  host?: string;
  port?: number;
  accessLog?: AccessLog;
  logCalls?: LogCalls;
  forward?: (typeof FORWARDS)[number];
  metrics?: boolean;
}

/** A setting that a flag or a variable may give, as text. */
export interface CliOption<T = unknown> extends About {
  readonly schema: Schema<T>;
  /** Its key in the configuration file; one with a dot is inside of another. */
  readonly key?: string;
  /** Its names in the version before, which are read with a warning. */
  readonly before?: { readonly flag: string; readonly variable: string; readonly key: string };
}

/** The settings that flags and variables may give, in the order of `--help`. */
export const CLI_OPTIONS: {
  readonly [Name in keyof CliValues]-?: CliOption<NonNullable<CliValues[Name]>>;
} = {
  url: {
    key: "node.url",
    schema: NODE_URL,
    text: "the node's URL, such as http://127.0.0.1:8545",
    example: "http://127.0.0.1:8545",
    variables: ["NODEFACE_URL"],
    argument: "NODE_URL",
  },
  kind: {
    key: "node.kind",
    schema: KIND_OR_FILE,
    text: "the kind of the node, or the file of a kind of your own",
    default: "found by asking",
    example: "bitcoin",
    flag: "kind",
    variables: ["NODEFACE_KIND"],
    argument: "KIND",
  },
  spec: {
    key: "description",
    also: ["spec"],
    schema: PLACE,
    text:
      "the node's own OpenAPI description, a file or a URL, read again when it changes, or none",
    default: "where nodes of its kind describe themselves",
    example: "openapi.yaml",
    flag: "spec",
    variables: ["NODEFACE_SPEC"],
    argument: "PLACE",
  },
  config: {
    schema: FILE,
    text: "a configuration, YAML or JSON, read again on SIGHUP",
    default: "nodeface.yaml of the working directory, where there is one",
    flag: "config",
    variables: ["NODEFACE_CONFIG"],
    argument: "FILE",
  },
  host: {
    key: "listen",
    schema: HOST,
    text: "the address to listen on",
    default: "127.0.0.1",
    flag: "host",
    variables: ["NODEFACE_HOST"],
    argument: "HOST",
  },
  port: {
    key: "listen",
    schema: PORT,
    text: "the port to listen on; 0 for a free one",
    default: "8080",
    flag: "port",
    variables: ["NODEFACE_PORT", "PORT"],
    argument: "PORT",
  },
  forward: {
    key: "forward",
    schema: word(FORWARDS, undefined, FORWARD_ALIASES),
    text: "the calls of the node that are forwarded: off, or reads",
    default: "off",
    example: "reads",
    flag: "forward",
    variables: ["NODEFACE_FORWARD"],
    argument: "WHAT",
  },
  metrics: {
    key: "metrics",
    schema: SWITCH,
    text: "serve /v1/metrics, for Prometheus",
    default: "false",
    example: "true",
    flag: "metrics",
    variables: ["NODEFACE_METRICS"],
  },
  accessLog: {
    key: "access_log",
    schema: word(ACCESS_LOGS),
    text: "write each request to standard output: text, json or off",
    default: "off",
    example: "json",
    flag: "access-log",
    variables: ["NODEFACE_ACCESS_LOG"],
    also: ["log"],
    before: { flag: "log", variable: "NODEFACE_LOG", key: "log" },
    argument: "FORM",
  },
  logCalls: {
    key: "log_calls",
    schema: word(LOG_CALLS),
    text: "log calls of the node on standard error: failed, all or off",
    default: "failed",
    example: "all",
    flag: "log-calls",
    variables: ["NODEFACE_LOG_CALLS"],
    argument: "CALLS",
  },
};

export function explainRenamed(before: string, now: string): string {
  return `${before} is called ${now} now; the old name is read in 0.3 alone`;
}
