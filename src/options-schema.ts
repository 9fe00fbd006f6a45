/**
 * The settings of the configuration file and of `createNodeface`: what each may be, its default and its
 * text. `settings/command-line.ts` has those with a flag or a variable. `docs/configuration.md` and
 * `spec/nodeface.schema.json` are made of both.
 *
 * @module
 */
import * as v from "valibot";
import type { DescriptionPlace } from "./description/watch.ts";
import { LOGO_TYPES, mistakeInLogo, type View, VIEWS } from "./explorer/page-settings.ts";
import { type Forward, resolveForward } from "./gateway/policy.ts";
import type { Cors } from "./http/cors.ts";
import type { Hosts } from "./http/hosts.ts";
import type { InfoSettings, NodeSettings } from "./info/settings.ts";
import { formatJson } from "./json/lossless.ts";
import { LOG_CALLS, type LogCalls } from "./log.ts";
import { diagnosticsOfOperations } from "./host-operations/describe-operation.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { ACCESS_LOGS, type AccessLog, CLI_OPTIONS } from "./settings/command-line.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { clashesOfForward, forwardSetting } from "./settings/forward.ts";
import { documentParts, operationObject } from "./settings/host-openapi.ts";
import { hasKind, infoSettings, unknownSources } from "./settings/info.ts";
import { kindSchema } from "./settings/kind.ts";
import { nodeSettings } from "./settings/node.ts";
import {
  BOOLEAN,
  byKey,
  callback,
  type Diagnostic,
  either,
  formatDiagnostic,
  json,
  list,
  map,
  needed,
  object,
  readValue,
  reworded,
  type Schema,
  secret,
  section,
  setting,
  type SettingsOf,
  word,
} from "./settings/schema.ts";
import {
  FILE,
  HOST_NAME,
  isFilePlace,
  KIND_FILE,
  KIND_NAME,
  LINE,
  LISTEN,
  NODE_URL,
  ORIGIN,
  PLACE,
  PREFIX,
  SERVERS,
  TITLE,
  URL_EXAMPLE,
} from "./settings/texts.ts";

/** The settings of a configuration file. */
export interface FileConfig {
  listen?: { host: string; port: number } | undefined;
  access_log?: AccessLog | undefined;
  log_calls?: LogCalls | undefined;
  hosts?: Hosts | undefined;
  cors?: Cors | undefined;
  /** A path as the process sees it, a URL, or `none`; with what becomes of its servers. */
  description?: string | { from: string; servers?: string | undefined } | undefined;
  forward?: Forward | undefined;
  metrics?: boolean | undefined;
  /** The files of the operator's own kinds, as the process sees them. */
  kinds?: readonly string[] | undefined;
  /** The logo is a file, as the process sees it. */
  page?:
    | { title?: string | undefined; logo?: string | undefined; view?: View | undefined }
    | undefined;
  node?: NodeSettings | undefined;
  info?: InfoSettings | undefined;
}

/** Makes the schema of a list of those who are let in, or `"*"`. */
function allowed(entry: Schema<string>, entries: string): Schema<readonly string[] | "*"> {
  const expected = `a list of ${entries}, or "*" for any`;
  return either(expected, word(["*"], expected), list(entry, expected));
}

const HOSTS = setting(allowed(HOST_NAME, "host names"), {
  text: "The host names that are answered for, besides loopback names and IP addresses. " +
    'Others are refused with 421. "*" answers for any',
  default: "[]",
  example: "[node.example]",
});

const CORS = setting(allowed(ORIGIN, "origins"), {
  text: 'The origins whose pages may read the responses: "*" for any, [] for none',
  default: "'*'",
  example: "[https://app.example]",
});

const METRICS = reworded(
  setting(BOOLEAN, CLI_OPTIONS.metrics),
  "Whether /v1/metrics is answered, for Prometheus",
);

const LOG_CALLS_SETTING = setting(word(LOG_CALLS), CLI_OPTIONS.logCalls);

const PAGE = { text: "What the explorer page is called, its logo, and what it shows first" };
const NODE = { text: "The node that is shown" };
const INFO = { text: "What is shown of the node at /v1/info" };

/** Makes the schema of the place of a description with what becomes of its servers. */
const placeWithServers = <T>(place: Schema<T>) =>
  object({
    from: needed(place, { ...CLI_OPTIONS.spec, text: "Where it is, as above" }),
    servers: setting(SERVERS, {
      text: "What becomes of the servers at its top: keep leaves them as they are, and a path is " +
        "the one before every path of the node",
      default: "with node.url they stand for the node: a path is taken of them, and no origin",
      example: "keep",
    }),
  });

/** Makes the settings of the page; a file has the logo by its path, a host by its bytes. */
const page = <T>(logo: Schema<T>, what: string) => ({
  title: setting(TITLE, {
    text: "What the page is called",
    default: "the name of the node",
    example: "Harbour 2",
  }),
  logo: setting(logo, {
    text: `${what}: ${LOGO_TYPES}, at most 256 KiB. It is shown beside the title, and as the ` +
      "icon of the page",
    default: "the first letter of the title",
    example: "logo.svg",
  }),
  view: setting(word(VIEWS), {
    text: "What /v1/spec is: Scalar's reference, or the simple page. The other one stays at " +
      "/v1/spec/reference or /v1/spec/simple",
    default: "reference",
    example: "simple",
  }),
});

/**
 * Makes the schema of a configuration file.
 *
 * @param locate finds the place of a path that the file names
 */
export function configuration(
  locate: (path: string) => string = (path) => path,
  own: readonly string[] = [],
): Schema<FileConfig> {
  const place = v.pipe(PLACE, v.transform((place) => isFilePlace(place) ? locate(place) : place));
  const path = v.pipe(FILE, v.transform(locate));
  const settings: SettingsOf<FileConfig> = {
    listen: setting(LISTEN, {
      text: "The address and the port to listen on. [::1] is written with its brackets",
      also: ["host", "port"],
      default: "127.0.0.1:8080",
      example: "127.0.0.1:8080",
    }),
    access_log: reworded(
      setting(word(ACCESS_LOGS), CLI_OPTIONS.accessLog),
      "What is written of each request to standard output: text, json or off",
    ),
    log_calls: reworded(
      LOG_CALLS_SETTING,
      "Which calls of the node are a line of the log: failed, all or off",
    ),
    hosts: HOSTS,
    cors: CORS,
    description: setting(
      either(
        "the path of a file, a URL, none, or an object with from and servers",
        place,
        placeWithServers(place),
      ),
      {
        ...CLI_OPTIONS.spec,
        text:
          "The node's own OpenAPI description: a file or a URL, read again when it changes, or none",
      },
    ),
    forward: forwardSetting(path),
    metrics: METRICS,
    kinds: setting(list(v.pipe(KIND_FILE, v.transform(locate)), "a list of files"), {
      text:
        "Kinds of your own: files in the form of those in spec/kinds/, each called as its kind " +
        "is. They win over known ones of the same name",
      default: "[]",
      example: "[mine.yaml]",
    }),
    page: setting(section(page(path, "A file with an image")), PAGE),
    node: setting(section(nodeSettings(path, own)), NODE),
    info: setting(section(infoSettings(path)), INFO),
  };
  return section(settings);
}

/** Makes the schema of the node, or of its URL; all URLs may be objects. */
function nodeOptions(own: readonly string[]): Schema {
  const urlObject = v.pipe(
    v.instance(URL),
    v.transform(({ href }) => href),
    NODE_URL as v.GenericSchema<string>,
  );
  const url = secret(either(URL_EXAMPLE, NODE_URL, urlObject));
  const optional = v.optional(url);
  const whole = object({ ...nodeSettings(FILE, own), url: optional, public_url: optional });
  const alone = v.pipe(url, v.transform((url) => ({ url })));
  return either("the URL of the node, or an object with url", alone, whole);
}

const DOCUMENT = "the path of a file, a URL, none, an OpenAPI document, or an object with text";

const TEXT_OF_DOCUMENT = object({
  text: needed(v.string("the description as text"), { text: "The description itself" }),
  name: setting(LINE, { text: "What it is called; .json for JSON" }),
});

const VERSION = v.optional(v.string('a version such as "3.1.1"'));

/** A document says so by its first key. Its copy is read as text is, so that both are checked alike. */
const DOCUMENT_AS_TEXT = v.pipe(
  json,
  v.looseObject({ openapi: VERSION, swagger: VERSION }),
  v.transform((value) => ({ text: formatJson(value, 2), name: "description.json" })),
);

const DOCUMENT_FORMS: Parameters<typeof byKey>[0] = [
  [["openapi", "swagger"], DOCUMENT_AS_TEXT],
  [["text"], TEXT_OF_DOCUMENT],
];

const PLACE_OR_DOCUMENT = either(DOCUMENT, PLACE, v.instance(URL), byKey(DOCUMENT_FORMS));

const DESCRIPTION = either(
  `${DOCUMENT} or from`,
  PLACE,
  v.instance(URL),
  byKey([...DOCUMENT_FORMS, [["from"], placeWithServers(PLACE_OR_DOCUMENT)]]),
);

const LOGO = v.pipe(
  v.instance(Uint8Array, "the bytes of an image (Uint8Array)"),
  v.rawCheck(({ dataset, addIssue }) => {
    const wrong = dataset.typed ? mistakeInLogo(dataset.value) : undefined;
    if (wrong !== undefined) addIssue({ message: wrong });
  }),
);

const OPERATION = object({
  method: needed(word(["GET", "POST", "PUT", "PATCH", "DELETE"]), {
    text: "The method, in upper case. HEAD is answered with GET",
  }),
  path: needed(LINE, { text: "The path as OpenAPI writes it" }),
  operation: needed(operationObject(), { text: "The OpenAPI operation object" }),
  cors: setting(allowed(ORIGIN, "origins"), {
    text: "The origins whose pages may call it",
    default: "the origins that cors of the service lists",
  }),
  handle: needed(callback("a function that answers a request"), { text: "Answers a request" }),
});

/** Makes the schema of what `createNodeface` may be told. */
export function optionsSchema(own: readonly string[] = []): Schema<ReadOptions> {
  const settings: Readonly<Record<keyof NodefaceOptions, Schema>> = {
    hosts: HOSTS,
    cors: CORS,
    prefix: setting(PREFIX, {
      text: "The path under which visitors find the service",
      default: '""',
    }),
    description: setting(DESCRIPTION, CLI_OPTIONS.spec),
    kinds: setting(map(KIND_NAME, v.lazy(() => kindSchema())), {
      text:
        "Kinds of the host's own, by name, in the form of the files in spec/kinds/. They win over " +
        "known ones of the same name",
    }),
    forward: forwardSetting(FILE),
    metrics: METRICS,
    page: setting(object(page(LOGO, "The bytes of an image")), PAGE),
    node: setting(nodeOptions(own), NODE),
    info: setting(
      either(
        "an object with what is shown, or a function that tells it",
        object(infoSettings(FILE)),
        callback(),
      ),
      INFO,
    ),
    operations: setting(list(OPERATION, "a list of operations"), {
      text: "Further operations, which the description and the explorer show as well",
    }),
    document: setting(documentParts(), {
      text: "What the description says besides its operations, as OpenAPI writes it",
    }),
    startedAt: setting(v.date("a Date, such as new Date()"), { text: "When the service started" }),
    log: setting(callback(), {
      text: "Is told what an operator should know: of the node, its description, and errors",
    }),
    logCalls: LOG_CALLS_SETTING,
  };
  return object(settings) as Schema<ReadOptions>;
}

/** The options as they are read: in one form each, but for the description with its servers. */
type ReadOptions = Omit<CheckedOptions, "description" | "forward"> & {
  readonly forward?: Forward | undefined;
  readonly description?: DescriptionPlace | { from: DescriptionPlace; servers?: string };
};

/**
 * Checks all options.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, diagnostics } = readValue(options, optionsSchema(own));
  const found = [...diagnostics];
  // A description with its servers becomes two options.
  const { description, ...others } = value ?? {};
  const isWithServers = typeof description === "object" && "from" in description;
  const checked = {
    ...others,
    description: isWithServers ? description.from : description,
    ...isWithServers && { servers: description.servers },
  };
  if (found.length === 0) found.push(...diagnosticsBetween(checked));
  if (found.length === 0) return { ...checked, forward: resolveForward(checked.forward) };
  const lines = found.map(formatDiagnostic);
  throw new TypeError(lines.length === 1 ? lines[0] : ["wrong options:", ...lines].join("\n  "));
}

const FORWARD_IN_WORKER: Diagnostic = {
  path: ["forward"],
  message: 'must be "off" in a worker, where calls are not forwarded to the node',
  isKey: false,
};

/** Finds what is wrong with options that are right one by one. */
function diagnosticsBetween(
  { node = {}, info, operations = [], document, forward, hosts }: Omit<ReadOptions, "description">,
): Diagnostic[] {
  // To load the kinds for their sources would delay the start.
  const isWhole = typeof info === "object" && !hasKind(node);
  return [
    ...clashesOfForward(forward, hosts, node.url !== undefined),
    ...forward && forward !== "off" && !HAS_SOCKETS ? [FORWARD_IN_WORKER] : [],
    ...diagnosticsOfOperations(operations, document?.components),
    ...isWhole ? unknownSources(info, []) : [],
  ];
}
