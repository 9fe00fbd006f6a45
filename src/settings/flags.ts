/**
 * The flags of the command, and the environment variables that can replace them. The help and the
 * manual list them.
 *
 * @module
 */
import { FORWARDS, MEANT_FORWARD } from "../gateway/policy.ts";
import { LOG_CALLS, type LogCalls } from "../log.ts";
import { type About, choice, type Schema } from "./schema.ts";
import { FILE, HOST, KIND_OR_FILE, NODE_URL, PLACE, PORT, SWITCH } from "./texts.ts";

export interface CliOption<T = unknown> extends About {
  readonly schema: Schema<T>;
  /** The name of the flag, without its dashes. */
  readonly flag?: string;
  /**
   * The placeholder for the flag's value in `--help`. A flag that takes no value has no
   * placeholder.
   */
  readonly argument?: string;
  /** The environment variables, in order of precedence. */
  readonly variables: readonly string[];
  /** The setting's key in the configuration file, with dots between the keys of nested sections. */
  readonly key?: string;
}

const ACCESS_LOGS = ["text", "json", "off"] as const;
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

export const CLI_OPTIONS: {
  readonly [Name in keyof CliValues]-?: CliOption<NonNullable<CliValues[Name]>>;
} = {
  url: {
    key: "node.url",
    schema: NODE_URL,
    text: "The node's URL, such as http://127.0.0.1:8545",
    example: "http://127.0.0.1:8545",
    variables: ["NODEFACE_URL"],
    argument: "NODE_URL",
  },
  kind: flag("kind", "KIND", {
    key: "node.kind",
    schema: KIND_OR_FILE,
    text: "The kind of the node, or a file that defines your own kind",
    default: "detected",
    example: "bitcoin",
  }),
  spec: flag("spec", "PLACE", {
    key: "description",
    also: ["spec"],
    schema: PLACE,
    text: "The node's own OpenAPI description: a file, a URL, or none. If the description " +
      "changes, it is reloaded",
    default: "taken from the node or its kind",
    example: "openapi.yaml",
  }),
  config: flag("config", "FILE", {
    schema: FILE,
    text: "A YAML or JSON configuration file, reloaded on SIGHUP",
    default: "nodeface.yaml in the working directory, if there is one",
  }),
  host: flag("host", "HOST", {
    key: "listen",
    schema: HOST,
    text: "The address to listen on",
    default: "127.0.0.1",
  }),
  port: flag("port", "PORT", {
    key: "listen",
    schema: PORT,
    text: "The port to listen on; 0 selects any free port",
    default: "8080",
  }, "PORT"),
  forward: flag("forward", "WHAT", {
    key: "forward",
    schema: choice(FORWARDS, undefined, MEANT_FORWARD),
    text: 'The calls to forward to the node: "off", or "reads" for all read operations',
    default: "off",
    example: "reads",
  }),
  metrics: flag("metrics", undefined, {
    key: "metrics",
    schema: SWITCH,
    text: "Serve /v1/metrics, for Prometheus",
    default: "false",
    example: "true",
  }),
  accessLog: flag("access-log", "FORM", {
    key: "access_log",
    schema: choice(ACCESS_LOGS),
    text: "The access log on standard output: text, json or off",
    default: "off",
    example: "json",
    also: ["log"],
  }),
  logCalls: flag("log-calls", "CALLS", {
    key: "log_calls",
    schema: choice(LOG_CALLS),
    text: "The forwarded calls that are logged to standard error: failed, all or off",
    default: "failed",
    example: "all",
  }),
};

/** A flag can be replaced by a variable such as `NODEFACE_ACCESS_LOG`. */
function flag<T>(
  flag: string,
  argument: string | undefined,
  about: Omit<CliOption<T>, "flag" | "argument" | "variables">,
  ...others: readonly string[]
): CliOption<T> {
  const variable = `NODEFACE_${flag.toUpperCase().replaceAll("-", "_")}`;
  return { ...about, flag, ...argument && { argument }, variables: [variable, ...others] };
}
