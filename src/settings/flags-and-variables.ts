/**
 * The settings that the command takes from flags and from the environment. `--help` is made of it.
 *
 * @module
 */
import { FORWARDS } from "../gateway/forward-settings.ts";
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
  forward?: (typeof FORWARDS)[number];
  metrics?: boolean;
}

/** The settings of the command, in the order of its help. */
export const COMMAND: {
  readonly [Name in keyof Values]-?: CommandSetting<NonNullable<Values[Name]>>;
} = {
  url: {
    rule: NODE_URL_RULE,
    text: "where the node answers, such as http://127.0.0.1:8545",
    example: "http://127.0.0.1:8545",
    variables: ["NODEFACE_URL"],
    argument: "NODE_URL",
  },
  kind: {
    rule: KIND_OR_FILE_RULE,
    text: "what kind of node it is; a file for one of your own",
    default: "found by asking",
    example: "bitcoin",
    flag: "kind",
    variables: ["NODEFACE_KIND"],
    argument: "KIND",
  },
  spec: {
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
    rule: HOST_RULE,
    text: "the address to listen on",
    default: "127.0.0.1",
    flag: "host",
    variables: ["NODEFACE_HOST"],
    argument: "HOST",
  },
  port: {
    rule: PORT_RULE,
    text: "the port to listen on; 0 for a free one",
    default: "8080",
    flag: "port",
    variables: ["NODEFACE_PORT", "PORT"],
    argument: "PORT",
  },
  forward: {
    rule: oneWordOf(FORWARDS),
    text: "what may be called at the node through this service: off, or reads",
    default: "off",
    example: "reads",
    flag: "forward",
    variables: ["NODEFACE_FORWARD"],
    argument: "WHAT",
  },
  metrics: {
    rule: SWITCH_RULE,
    text: "answer /v1/metrics, for Prometheus",
    default: "false",
    example: "true",
    flag: "metrics",
    variables: ["NODEFACE_METRICS"],
  },
  log: {
    rule: oneWordOf(LOGS),
    text: "write each request to standard output: text, json or off",
    default: "off",
    example: "json",
    flag: "log",
    variables: ["NODEFACE_LOG"],
    argument: "FORM",
  },
};
