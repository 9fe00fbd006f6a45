/**
 * Defines the keys of the configuration file. The manual is generated from these definitions.
 *
 * @module
 */
import * as v from "valibot";
import { LOGO_TYPES, type View, VIEWS } from "../explorer/page-settings.ts";
import {
  type Forward,
  FORWARD_DEFAULTS,
  FORWARDS,
  MEANT_FORWARD,
  type ResolvedForward,
  resolveForward,
} from "../gateway/policy.ts";
import type { Cors } from "../http/common-headers.ts";
import type { Hosts } from "../http/host-trust.ts";
import { EVENT_DEFAULTS } from "../info/settings.ts";
import { listOf, objectOf } from "../json/values.ts";
import type { LogCalls } from "../log.ts";
import type {
  ClientSettings,
  EventSettings,
  ForwardSettings,
  InfoSettings,
  NodeSettings,
} from "../setting-types.ts";
import { type AccessLog, CLI_OPTIONS, type CliOption } from "./flags.ts";
import { infoSettings, nodeSettings } from "./node-schema.ts";
import {
  anyOf,
  BOOLEAN,
  choice,
  described,
  diagnosticsOfRepeated,
  filledList,
  issuePath,
  object,
  optional,
  type Schema,
  section,
  type SettingDiagnostic,
  type SettingPath,
  type SettingsOf,
  typed,
  wholeNumber,
} from "./schema.ts";
import {
  BASE,
  CALL_TIMEOUT,
  CLIENT_NAME,
  FILE,
  HOST_NAME,
  isFilePlace,
  KIND_FILE,
  KIND_NAME,
  LINE,
  LISTEN,
  ORIGIN,
  PLACE,
  secretFile,
  SIZE,
  TITLE,
  VARIABLE,
} from "./texts.ts";

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

/** A key of the file that a flag also sets. */
const keyOf = <T>(
  option: CliOption,
  schema: Schema<T> = option.schema as Schema<T>,
  text: string = option.text,
): Schema<T | undefined> => optional(schema, text, option);

export function allowed(entry: Schema<string>, entries: string): Schema<readonly string[] | "*"> {
  const expected = `a list of ${entries}, or "*" for any`;
  return anyOf([v.array(entry, expected), choice(["*"], expected)], expected);
}

export const placeWithBase = <T>(
  place: Schema<T>,
): Schema<{ from: T; base: string | undefined }> =>
  object({
    from: described(place, "A file, a URL, or none", {
      also: ["spec"],
      example: "openapi.yaml",
    }),
    base: optional(BASE, "The path below node.url that is put before the path of every operation", {
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
  title: optional(TITLE, "The title of the page", {
    default: "the name of the node",
    example: "Harbour 2",
  }),
  logo: optional(
    logo,
    `An image file: ${LOGO_TYPES}, at most 256 KiB. ` +
      "The image appears beside the title and as the page icon",
    {
      default: "the first letter of the title",
      example: "logo.svg",
    },
  ),
  view: optional(choice(VIEWS), "The page at /v1/spec: Scalar's reference, or the simple page", {
    default: "reference, or simple if the description has more than 300 operations",
    example: "simple",
  }),
});

const KIND = "a file such as mine.yaml, or an object with name or extends";

const OWN_KIND = v.pipe(
  v.objectWithRest(
    {
      name: optional(KIND_NAME, "The name of your kind", {
        default: "the name of the kind that it extends",
        example: "mine",
      }),
      // Whoever reads the kind checks the name.
      extends: optional(v.string("the name of a known kind"), "The known kind to extend", {
        example: "ethereum",
      }),
    },
    v.unknown(),
    KIND,
  ),
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
    PLACE,
    v.transform((place) => isFilePlace(place) ? locate(place) : place),
  );
  const path = v.pipe(FILE, v.transform(locate));
  const { hosts, cors, ...shared } = sharedSettings(path);
  const settings: SettingsOf<FileConfig> = {
    listen: optional(
      LISTEN,
      "The address and port to listen on. An IPv6 address needs brackets " +
        'and, in YAML, quotes, as in "[::1]:8080"',
      {
        also: ["host", "port"],
        default: "127.0.0.1:8080",
        example: "127.0.0.1:8080",
      },
    ),
    access_log: keyOf(CLI_OPTIONS.accessLog),
    log_calls: keyOf(CLI_OPTIONS.logCalls),
    hosts,
    cors,
    description: keyOf(
      CLI_OPTIONS.spec,
      anyOf(
        [v.pipe(place, v.transform((from) => ({ from }))), placeWithBase(place)],
        'the path of a file, a URL, "none", or an object with "from" and "base"',
      ),
    ),
    ...shared,
    kinds: optional(
      v.array(anyOf([KIND_FILE, OWN_KIND], KIND), "a list of kinds"),
      "Your own kinds, which replace known kinds of the same name. " +
        "A kind is a file, such as mine.yaml for the kind mine, or an object with a name. " +
        "The files in spec/kinds/ show the keys of a kind",
      {
        default: "[]",
        example: "[mine.yaml]",
      },
    ),
    page: optional(
      section(pageSettings(path)),
      "The title, logo and default view of the explorer page",
    ),
    node: optional(section(nodeSettings(path, own)), "The node to describe"),
    info: optional(section(infoSettings(path)), "The content of /v1/info"),
  };
  return section(settings);
}

const OPERATIONS_LIST = "a list of operations, as in [reads, getblock]";
const OPERATIONS = v.array(LINE, OPERATIONS_LIST);
const FORWARD = "off, reads, or an object such as { open: [reads] }";

export function sharedSettings(
  path: Schema<string>,
): SettingsOf<Pick<FileConfig, "hosts" | "cors" | "forward" | "metrics" | "events">> {
  return {
    hosts: optional(
      allowed(HOST_NAME, "host names"),
      "The host names to serve, in addition to loopback names and IP addresses. " +
        "Under most other names, the service shows only what every page may read",
      {
        default: "[]",
        example: "[node.example]",
      },
    ),
    cors: optional(
      allowed(ORIGIN, "origins"),
      "Origins whose pages may read Nodeface's own responses, except /v1/metrics: " +
        '"*" for any, but no events and no history; [] for none',
      {
        default: "'*'",
        example: "[https://app.example]",
      },
    ),
    forward: forwardSetting(path),
    metrics: keyOf(
      CLI_OPTIONS.metrics,
      BOOLEAN,
      "If true, /v1/metrics serves Prometheus metrics",
    ),
    events: optional(
      section<SettingsOf<EventSettings>>({
        listeners: optional(
          wholeNumber(1, 10_000),
          "The maximum number of concurrent /v1/events streams",
          {
            default: String(EVENT_DEFAULTS.listeners),
          },
        ),
        per_address: optional(
          wholeNumber(1, 10_000),
          "The maximum number of streams to one client address. " +
            "Behind a proxy, all clients have the proxy's address. If the host does not pass the " +
            "client's address, only `listeners` counts",
          {
            default: String(EVENT_DEFAULTS.per_address),
            example: "1000",
          },
        ),
      }),
      "The limits of /v1/events",
    ),
  };
}

function forwardSetting(path: Schema<string>): Schema<ResolvedForward | undefined> {
  const settings: SettingsOf<ForwardSettings> = {
    open: optional(
      OPERATIONS,
      'The operations that need no token, by name; "reads" allows all read operations. ' +
        "A name is a JSON-RPC method, an operationId, or an HTTP method with a path template. " +
        'A "*" in a name matches any text. Operations marked "write" or "secret" always need a ' +
        'token. Marks, "*" and operationIds from a URL or the node do not work here',
      {
        default: "[]",
        example: '[reads, "GET /blocks/*"]',
      },
    ),
    clients: optional(
      v.array(typed("ClientSettings", clientSetting(path)), CLIENTS),
      "Clients with a name. Each may call the operations in forward.open and in its own list",
      {
        also: ["with_token", "token_file", "token_env"],
        default: "[]",
        example: "[{ name: wallet, token_file: token, allow: [sendrawtransaction] }]",
      },
    ),
    origins: optional(
      allowed(ORIGIN, "origins"),
      "The origins whose pages may call the node, in addition to this service's origin. " +
        '"*" allows only calls that need no token',
      {
        default: "[]",
        example: "[https://app.example]",
      },
    ),
    timeout: optional(
      CALL_TIMEOUT,
      "The maximum duration of a call with its response, unless it waits for events",
      {
        default: FORWARD_DEFAULTS.timeout,
      },
    ),
    limit: optional(
      SIZE,
      "The maximum size of a response (of JSON-RPC at most 40MiB, with a token 64MiB), and of " +
        "the body of a REST call",
      {
        default: FORWARD_DEFAULTS.limit,
      },
    ),
    concurrency: optional(
      wholeNumber(1, 1000),
      "The maximum number of concurrent calls. Of each share, up to 1000 more calls wait, for at " +
        "most 15 s",
      {
        default: "64 (Monero 16, Bitcoin's family 8)",
        example: "8",
      },
    ),
    per_minute: optional(
      PER_MINUTE,
      "The maximum number of calls per minute from all callers without a token together",
      {
        default: "unlimited",
        example: "6000",
      },
    ),
    at_root: optional(BOOLEAN, "If true, the node's own paths are also served at the root", {
      default: "true, but false in a host program",
      example: "false",
    }),
  };
  const checked = v.pipe(object(settings), v.rawCheck(checkForward));
  const whole = anyOf([checked, choice(FORWARDS, FORWARD, MEANT_FORWARD)], FORWARD);
  return keyOf(
    CLI_OPTIONS.forward,
    v.pipe(whole as Schema<Forward>, v.transform((forward: Forward) => resolveForward(forward))),
    "The calls to forward to the node: none, all read operations, or only listed operations",
  );
}

const PER_MINUTE = wholeNumber(1, 10_000_000);
const CLIENTS = "a list of clients";

function clientSetting(path: Schema<string>): Schema<ClientSettings> {
  return object<SettingsOf<ClientSettings>>({
    name: described(CLIENT_NAME, "The name of the client in the log and in metrics", {
      example: "wallet",
    }),
    token_file: optional(
      secretFile(path),
      "A file with the client's token: at least 32 characters, preferably hexadecimal. " +
        "A new token works within a second",
      {
        example: "/etc/nodeface/wallet-token",
      },
    ),
    token_env: optional(VARIABLE, "An environment variable with the client's token"),
    allow: described(
      filledList(LINE, OPERATIONS_LIST),
      "The operations that the client may call, named as in forward.open. " +
        'Operations marked "write" or "secret" must be named in full, without "*". ' +
        '"/wallet/NAME METHOD" allows a method for one wallet of Bitcoin Core',
      {
        example: "[reads, sendrawtransaction]",
      },
    ),
    concurrency: optional(
      wholeNumber(1, 1000),
      "The maximum number of slots that the client may use at the same time",
      {
        default: "all slots that other clients do not need",
        example: "4",
      },
    ),
    per_minute: optional(PER_MINUTE, "The maximum number of the client's calls per minute", {
      default: "unlimited",
      example: "600",
    }),
  });
}

function checkForward<T>(
  { dataset: { value }, addIssue }: v.RawCheckContext<T>,
): void {
  const { clients } = objectOf(value);
  const all = listOf(clients).map(objectOf);
  const add = (message: string, ...path: SettingPath) =>
    addIssue({ message, path: issuePath(value, ["clients", ...path]) });
  for (const [at, { token_file: file, token_env: variable }] of all.entries()) {
    if ((file === undefined) === (variable === undefined)) {
      add("must have either token_file or token_env", at);
    }
  }
  for (const key of ["name", "token_file", "token_env"]) {
    const repeated = diagnosticsOfRepeated(all.map((client) => client[key]), (_, at, first) => ({
      path: [at, key],
      message: `is that of clients[${first}], too; each client needs its own`,
    }));
    for (const { message, path } of repeated) add(message, ...path);
  }
}

export const NEEDS_NODE = "needs node.url, the node to call";

export function forwardConflicts(
  forward: Pick<ResolvedForward, "origins"> | undefined,
  hosts: Hosts = [],
): SettingDiagnostic[] {
  if (!forward) return [];
  const found: SettingDiagnostic[] = [];
  const add = (key: "hosts" | "forward", message: string) => found.push({ path: [key], message });
  if (hosts === "*") add("hosts", 'cannot be "*" if calls are forwarded; list the host names');
  if (forward.origins === "*" && (hosts === "*" || hosts.length === 0)) {
    add("forward", 'has origins: "*", which needs the setting hosts');
  }
  return found;
}
