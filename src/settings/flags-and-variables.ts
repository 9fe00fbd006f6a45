/**
 * The settings that the command takes from flags and from the environment. `--help` is made of it.
 *
 * @module
 */
import { FORWARD_ALIASES, FORWARDS } from "../gateway/forward-settings.ts";
import { LOG_CALLS, type LogCalls } from "../log.ts";
import { KIND_OR_FILE_RULE } from "./kind-name.ts";
import type { About } from "./schema-builders.ts";
import {
  FILE_RULE,
  HOST_RULE,
  NODE_URL_RULE,
  oneWordOf,
  PLACE_RULE,
  PORT_RULE,
  SWITCH_RULE,
  type TextRule,
} from "./text-rules.ts";

/** A setting of the command, which is told as text. */
export interface CommandSetting<T = unknown> extends About {
  readonly rule: TextRule<T>;
  /** Its key in the configuration file; one with a dot is inside of another. */
  readonly key?: string;
}

/** What is written about requests, to standard output. */
export const LOGS = ["text", "json", "off"] as const;

/** What the settings are, each as its rule reads it. */
export interface Values {
  url?: string;
  kind?: string;
  spec?: string;
  config?: string;
  host?: string;
  port?: number;
  log?: (typeof LOGS)[number];
  logCalls?: LogCalls;
  forward?: (typeof FORWARDS)[number];
  metrics?: boolean;
}

/** The settings of the command, in the order of its help. */
export const COMMAND: {
  readonly [Name in keyof Values]-?: CommandSetting<NonNullable<Values[Name]>>;
} = {
  url: {
    key: "node.url",
    rule: NODE_URL_RULE,
    text: "where the node answers, such as http://127.0.0.1:8545",
    example: "http://127.0.0.1:8545",
    variables: ["NODEFACE_URL"],
    argument: "NODE_URL",
  },
  kind: {
    key: "node.kind",
    rule: KIND_OR_FILE_RULE,
    text: "what kind of node it is; a file for one of your own",
    default: "found by asking",
    example: "bitcoin",
    flag: "kind",
    variables: ["NODEFACE_KIND"],
    argument: "KIND",
  },
  spec: {
    key: "description",
    also: ["spec"],
    rule: PLACE_RULE,
    text:
      "the node's own OpenAPI description, a file or a URL, read again when it changes, or none",
    default: "where nodes of its kind describe themselves",
    example: "openapi.yaml",
    flag: "spec",
    variables: ["NODEFACE_SPEC"],
    argument: "PLACE",
  },
  config: {
    rule: FILE_RULE,
    text: "a configuration, YAML or JSON, read again on SIGHUP",
    default: "nodeface.yaml of the working directory, where there is one",
    flag: "config",
    variables: ["NODEFACE_CONFIG"],
    argument: "FILE",
  },
  host: {
    key: "listen",
    rule: HOST_RULE,
    text: "the address to listen on",
    default: "127.0.0.1",
    flag: "host",
    variables: ["NODEFACE_HOST"],
    argument: "HOST",
  },
  port: {
    key: "listen",
    rule: PORT_RULE,
    text: "the port to listen on; 0 for a free one",
    default: "8080",
    flag: "port",
    variables: ["NODEFACE_PORT", "PORT"],
    argument: "PORT",
  },
  forward: {
    key: "forward",
    rule: oneWordOf(FORWARDS, undefined, FORWARD_ALIASES),
    text: "what may be called at the node through this service: off, or reads",
    default: "off",
    example: "reads",
    flag: "forward",
    variables: ["NODEFACE_FORWARD"],
    argument: "WHAT",
  },
  metrics: {
    key: "metrics",
    rule: SWITCH_RULE,
    text: "answer /v1/metrics, for Prometheus",
    default: "false",
    example: "true",
    flag: "metrics",
    variables: ["NODEFACE_METRICS"],
  },
  log: {
    key: "log",
    rule: oneWordOf(LOGS),
    text: "write each request to standard output: text, json or off",
    default: "off",
    example: "json",
    flag: "log",
    variables: ["NODEFACE_LOG"],
    argument: "FORM",
  },
  logCalls: {
    key: "log_calls",
    rule: oneWordOf(LOG_CALLS),
    text: "which calls of the node are a line of the log, on standard error: failed, all or off",
    default: "failed",
    example: "all",
    flag: "log-calls",
    variables: ["NODEFACE_LOG_CALLS"],
    argument: "CALLS",
  },
};
