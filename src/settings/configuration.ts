/**
 * Defines the settings: flags, environment variables, and keys of the configuration file. The help
 * and the manual are generated from these definitions.
 *
 * @module
 */
import * as v from "valibot";
import { LOGO_TYPES, type View, VIEWS } from "../explorer/page-settings.ts";
import {
  type Forward,
  FORWARD_DEFAULTS,
  FORWARDS,
  type ForwardSettings,
  MEANT_FORWARD,
  type ResolvedForward,
  resolveForward,
} from "../gateway/policy.ts";
import type { Cors } from "../http/response.ts";
import type { Hosts } from "../http/request.ts";
import {
  EVENT_DEFAULTS,
  type EventSettings,
  type InfoSettings,
  type NodeSettings,
} from "../info/settings.ts";
import { listOf, objectOf } from "../json/values.ts";
import { LOG_CALLS, type LogCalls } from "../log.ts";
import { infoSettings, KIND_OPTION, nodeSettings, URL_OPTION } from "./node.ts";
import * as s from "./schema.ts";
import type { CliOption, Diagnostic, Schema, SettingsOf } from "./schema.ts";
import * as t from "./texts.ts";

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

export const CLI_OPTIONS: {
  readonly [Name in keyof CliValues]-?: CliOption<NonNullable<CliValues[Name]>>;
} = {
  url: URL_OPTION,
  kind: KIND_OPTION,
  spec: {
    key: "description",
    also: ["spec"],
    schema: t.PLACE,
    text:
      "The node's own OpenAPI description: a file, a URL, or none. A changed description is reloaded",
    default: "taken from the node or its kind",
    example: "openapi.yaml",
    flag: "spec",
    variables: ["NODEFACE_SPEC"],
    argument: "PLACE",
  },
  config: {
    schema: t.FILE,
    text: "A YAML or JSON configuration file, reloaded on SIGHUP",
    default: "nodeface.yaml in the working directory, if there is one",
    flag: "config",
    variables: ["NODEFACE_CONFIG"],
    argument: "FILE",
  },
  host: {
    key: "listen",
    schema: t.HOST,
    text: "The address to listen on",
    default: "127.0.0.1",
    flag: "host",
    variables: ["NODEFACE_HOST"],
    argument: "HOST",
  },
  port: {
    key: "listen",
    schema: t.PORT,
    text: "The port to listen on; 0 selects any free port",
    default: "8080",
    flag: "port",
    variables: ["NODEFACE_PORT", "PORT"],
    argument: "PORT",
  },
  forward: {
    key: "forward",
    schema: s.word(FORWARDS, undefined, MEANT_FORWARD),
    text: 'The calls to forward to the node: "off", or "reads" for all read operations',
    default: "off",
    example: "reads",
    flag: "forward",
    variables: ["NODEFACE_FORWARD"],
    argument: "WHAT",
  },
  metrics: {
    key: "metrics",
    schema: t.SWITCH,
    text: "Serve /v1/metrics, for Prometheus",
    default: "false",
    example: "true",
    flag: "metrics",
    variables: ["NODEFACE_METRICS"],
  },
  accessLog: {
    key: "access_log",
    schema: s.word(ACCESS_LOGS),
    text: "The access log on standard output: text, json or off",
    default: "off",
    example: "json",
    flag: "access-log",
    variables: ["NODEFACE_ACCESS_LOG"],
    also: ["log"],
    argument: "FORM",
  },
  logCalls: {
    key: "log_calls",
    schema: s.word(LOG_CALLS),
    text: "The forwarded calls that are logged to standard error: failed, all or off",
    default: "failed",
    example: "all",
    flag: "log-calls",
    variables: ["NODEFACE_LOG_CALLS"],
    argument: "CALLS",
  },
};

/** The content of a configuration file, with resolved paths. */
export interface FileConfig {
  listen?: { host: string; port: number } | undefined;
  access_log?: AccessLog | undefined;
  log_calls?: LogCalls | undefined;
  hosts?: Hosts | undefined;
  cors?: Cors | undefined;
  description?: { from: string; base?: string | undefined } | undefined;
  forward?: ResolvedForward | undefined;
  metrics?: boolean | undefined;
  events?: EventSettings | undefined;
  kinds?: readonly unknown[] | undefined;
  page?: Page<string> | undefined;
  node?: NodeSettings | undefined;
  info?: InfoSettings | undefined;
}

export function allowed(entry: Schema<string>, entries: string): Schema<readonly string[] | "*"> {
  const expected = `a list of ${entries}, or "*" for any`;
  return v.union([s.word(["*"], expected), v.array(entry, expected)], expected);
}

export const placeWithBase = <T>(
  place: Schema<T>,
): Schema<{ from: T; base: string | undefined }> =>
  s.object({
    from: s.needed(place, { ...CLI_OPTIONS.spec, text: "A file, a URL, or none" }),
    base: s.setting(t.BASE, {
      text: "The path below node.url with which the paths of all operations begin",
      default: "the path in the description's server URLs",
      example: "/v1",
    }),
  });

interface Page<Logo> {
  title?: string | undefined;
  logo?: Logo | undefined;
  view?: View | undefined;
}

export const pageSettings = <Logo>(logo: Schema<Logo>): SettingsOf<Page<Logo>> => ({
  title: s.setting(t.TITLE, {
    text: "The title of the page",
    default: "the name of the node",
    example: "Harbour 2",
  }),
  logo: s.setting(logo, {
    text: `An image file: ${LOGO_TYPES}, at most 256 KiB. ` +
      "The image appears beside the title and as the page icon",
    default: "the first letter of the title",
    example: "logo.svg",
  }),
  view: s.setting(s.word(VIEWS), {
    text: "The page at /v1/spec: Scalar's reference, or the simple page",
    default: "reference",
    example: "simple",
  }),
});

const KIND = "a file such as mine.yaml, or an object with name or extends";

const OWN_KIND = v.pipe(
  s.object({
    name: s.setting(t.KIND_NAME, {
      text: "The name of your kind",
      default: "the name of the kind that it extends",
      example: "mine",
    }),
    extends: s.setting(s.json, { text: "The known kind to extend", example: "ethereum" }),
  }, () => true),
  v.check(({ name, extends: base }) => name !== undefined || base !== undefined, KIND),
);

/**
 * Besides the known kinds, `node.kind` may be a name in `own`.
 *
 * @param locate the function that resolves the paths in the configuration file
 */
export function configuration(
  locate: (path: string) => string = (path) => path,
  own: readonly string[] = [],
): Schema<FileConfig> {
  const place = v.pipe(
    t.PLACE,
    v.transform((place) => t.isFilePlace(place) ? locate(place) : place),
  );
  const path = v.pipe(t.FILE, v.transform(locate));
  const { hosts, cors, ...shared } = sharedSettings(path);
  const settings: SettingsOf<FileConfig> = {
    listen: s.setting(t.LISTEN, {
      text: "The address and port to listen on. An IPv6 address needs brackets, as in [::1]:8080",
      also: ["host", "port"],
      default: "127.0.0.1:8080",
      example: "127.0.0.1:8080",
    }),
    access_log: s.setting(s.word(ACCESS_LOGS), CLI_OPTIONS.accessLog),
    log_calls: s.setting(s.word(LOG_CALLS), CLI_OPTIONS.logCalls),
    ...{ hosts, cors },
    description: s.setting(
      v.union(
        [v.pipe(place, v.transform((from) => ({ from }))), placeWithBase(place)],
        'the path of a file, a URL, "none", or an object with "from" and "base"',
      ),
      CLI_OPTIONS.spec,
    ),
    ...shared,
    kinds: s.setting(v.array(v.union([t.KIND_FILE, OWN_KIND], KIND), "a list of kinds"), {
      text: "Your own kinds, which replace known kinds of the same name. " +
        "A kind is a file named after the kind, such as mine.yaml, or an object with a name. " +
        "The files in spec/kinds/ show the keys of a kind",
      default: "[]",
      example: "[mine.yaml]",
    }),
    page: s.setting(s.section(pageSettings(path)), {
      text: "The title, logo and default view of the explorer page",
    }),
    node: s.setting(s.section(nodeSettings(path, own)), { text: "The node to describe" }),
    info: s.setting(s.section(infoSettings(path)), { text: "The content of /v1/info" }),
  };
  return s.section(settings);
}

const OPERATIONS = v.array(t.LINE, "a list of operations, as in [reads, getblock]");
const FORWARD = "off, reads, or an object such as { open: [reads] }";

export function sharedSettings(
  path: Schema<string>,
): SettingsOf<Pick<FileConfig, "hosts" | "cors" | "forward" | "metrics" | "events">> {
  return {
    hosts: s.setting(allowed(t.HOST_NAME, "host names"), {
      text: "The host names to serve, besides loopback names and IP addresses. " +
        "Under other host names, only what every page may read is served",
      default: "[]",
      example: "[node.example]",
    }),
    cors: s.setting(allowed(t.ORIGIN, "origins"), {
      text: 'The origins whose pages may read the responses: "*" for any, [] for none',
      default: "'*'",
      example: "[https://app.example]",
    }),
    forward: forwardSetting(path),
    metrics: s.setting(s.BOOLEAN, {
      ...CLI_OPTIONS.metrics,
      text: "If true, /v1/metrics serves Prometheus metrics",
    }),
    events: s.setting(
      s.section<SettingsOf<EventSettings>>({
        listeners: s.setting(s.wholeNumber(1, 10_000), {
          text: "The maximum number of concurrent /v1/events streams",
          default: String(EVENT_DEFAULTS.listeners),
        }),
        per_address: s.setting(s.wholeNumber(1, 10_000), {
          text: "The maximum number of streams to one client address. " +
            "Behind a proxy, all clients have the proxy's address",
          default: String(EVENT_DEFAULTS.per_address),
          example: "1000",
        }),
      }),
      { text: "The limits of /v1/events" },
    ),
  };
}

function forwardSetting(path: Schema<string>): Schema<ResolvedForward | undefined> {
  const settings: SettingsOf<ForwardSettings> = {
    open: s.setting(OPERATIONS, {
      text: 'The names of operations that need no token; "reads" allows all read operations. ' +
        "A name is a JSON-RPC method, an operationId, or an HTTP method with a path template. " +
        'In names, "*" matches any text, but never allows operations marked "write" or "secret". ' +
        'For a description fetched over HTTP, use neither "*" nor operationIds',
      default: "[]",
      example: '[reads, "GET /blocks/*"]',
    }),
    with_token: s.setting(OPERATIONS, {
      text: "The operations that need the token, named as in forward.open",
      default: "[]",
      example: '["POST /transactions"]',
    }),
    token_file: s.setting(path, {
      text: "A file with the token (at least 32 characters). The file is read on every use",
      example: "/etc/nodeface/token",
    }),
    token_env: s.setting(t.LINE, { text: "An environment variable with the token" }),
    origins: s.setting(allowed(t.ORIGIN, "origins"), {
      text: "The origins whose pages may call the node, besides this service's origin. " +
        "* covers only operations that need no token",
      default: "[]",
      example: "[https://app.example]",
    }),
    timeout: s.setting(t.CALL_TIMEOUT, {
      text: "The maximum duration of a call, including its whole response",
      default: FORWARD_DEFAULTS.timeout,
    }),
    limit: s.setting(t.SIZE, { text: "The response size limit", default: FORWARD_DEFAULTS.limit }),
    concurrency: s.setting(s.wholeNumber(1, 1000), {
      text: "The maximum number of concurrent calls. Up to 64 further calls wait for at most 5 s",
      default: String(FORWARD_DEFAULTS.concurrency),
    }),
  };
  const checked = v.pipe(
    s.object(settings),
    v.rawCheck(({ dataset: { value }, addIssue }) => {
      const { with_token: withToken, token_file: file, token_env: variable, origins } = objectOf(
        value,
      );
      const isToken = file !== undefined || variable !== undefined;
      if (listOf(withToken).length > 0 && !isToken) {
        addIssue({ message: "has with_token, but neither token_file nor token_env" });
      }
      if (file !== undefined && variable !== undefined) {
        addIssue({ message: "must have either token_file or token_env, not both" });
      }
      if (listOf(origins).includes("null")) addIssue({ message: 'cannot have "null" in origins' });
    }),
  );
  const whole = v.union([s.word(FORWARDS, FORWARD, MEANT_FORWARD), checked], FORWARD);
  return s.setting(
    v.pipe(whole as Schema<Forward>, v.transform((forward: Forward) => resolveForward(forward))),
    {
      ...CLI_OPTIONS.forward,
      text:
        "The calls to forward to the node: none, all read operations, or only listed operations",
    },
  );
}

/** @param hasNode `undefined` if it is unknown whether there is a node */
export function forwardConflicts(
  forward: Pick<ResolvedForward, "origins"> | undefined,
  hosts: Hosts = [],
  hasNode?: boolean,
): Diagnostic[] {
  if (!forward) return [];
  const found: Diagnostic[] = [];
  const add = (key: "hosts" | "forward", message: string) =>
    found.push({ path: [key], message, isKey: false });
  if (hosts === "*") add("hosts", 'cannot be "*" if calls are forwarded; list the host names');
  if (forward.origins === "*" && (hosts === "*" || hosts.length === 0)) {
    add("forward", 'has origins: "*", which needs the setting hosts');
  }
  if (hasNode === false) add("forward", "needs node.url, the node to call");
  return found;
}
