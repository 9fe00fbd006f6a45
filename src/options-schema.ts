/**
 * The settings of the configuration file and of `createNodeface`: what each may be, its default and its
 * text. `settings/flags-and-variables.ts` has those with a flag or a variable. `docs/configuration.md` and
 * `spec/nodeface.schema.json` are made of both.
 *
 * @module
 */
import * as v from "valibot";
import { LOGO_TYPES, mistakeInLogo } from "./explorer/logo.ts";
import { LOG_CALLS } from "./log.ts";
import { COMMAND, LOGS } from "./settings/flags-and-variables.ts";
import { FORWARD, forward } from "./settings/forward-schema.ts";
import { infoSettings } from "./settings/info-schema.ts";
import { kindSchema } from "./settings/kind.ts";
import { documentParts, operationObject } from "./settings/host-openapi.ts";
import { nodeSettings } from "./settings/node-schema.ts";
import {
  FILE,
  HOST_NAME,
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
} from "./settings/text-schemas.ts";
import {
  byKey,
  callback,
  either,
  json,
  later,
  list,
  map,
  needed,
  object,
  reworded,
  type Schema,
  secret,
  section,
  setting,
  word,
} from "./settings/schema-builders.ts";
import { formatJson } from "./json/lossless.ts";
import { URL_EXAMPLE } from "./settings/text-rules.ts";

/** A list of those who are let in, or `"*"`. */
function allowed(entry: Schema<string>, entries: string): Schema {
  const right = `a list of ${entries}, or "*" for any`;
  return either<unknown>(right, word(["*"], right), list(entry, right));
}

const hosts = () =>
  setting(allowed(HOST_NAME, "host names"), {
    text: "The host names that are answered for, besides loopback names and IP addresses. " +
      'Others are refused with 421. "*" answers for any',
    default: "[]",
    example: "[node.example]",
  });

const cors = () =>
  setting(allowed(ORIGIN, "origins"), {
    text: 'The origins whose pages may read the answers: "*" for any, [] for none',
    default: "'*'",
    example: "[https://app.example]",
  });

const metrics = () =>
  reworded(
    setting(v.boolean("true or false"), COMMAND.metrics),
    "Whether /v1/metrics is answered, for Prometheus",
  );

const logCalls = () => setting(word(LOG_CALLS), COMMAND.logCalls);

const description = (place: Schema) => setting(place, COMMAND.spec);

/** Where a description is, with what becomes of its servers. */
const placeWithServers = (place: Schema) =>
  object({
    from: needed(place, { ...COMMAND.spec, text: "Where it is, as above" }),
    servers: setting(SERVERS, {
      text: "What becomes of the servers at its top: keep leaves them as they are, and a path is " +
        "the one before every path of the node",
      default: "with node.url they stand for the node: a path is taken of them, and no origin",
      example: "keep",
    }),
  });

/** The settings of the page; a file has the logo by its path, a host by its bytes. */
const page = (logo: Schema, what: string) => ({
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
});

/** The bytes of a logo. */
const LOGO = v.pipe(
  v.instance(Uint8Array, "the bytes of an image (Uint8Array)"),
  v.rawCheck(({ dataset, addIssue }) => {
    const mistake = dataset.typed ? mistakeInLogo(dataset.value) : undefined;
    if (mistake !== undefined) addIssue({ message: mistake });
  }),
);

const PAGE = { text: "What the explorer page is called, and its logo" };
const NODE = { text: "The node that is shown" };
const INFO = { text: "What is shown of the node at /v1/info" };

/**
 * What a configuration file may say.
 *
 * @param locate where a path leads that the file names
 * @param own the names of the operator's own kinds
 */
export function configuration(
  locate: (path: string) => string = (path) => path,
  own: readonly string[] = [],
): Schema {
  const isFile = (place: string) => place !== "none" && !/^(https?|file):/i.test(place);
  const place = v.pipe(PLACE, v.transform((place) => isFile(place) ? locate(place) : place));
  const path = v.pipe(FILE, v.transform(locate));
  return section({
    listen: setting(LISTEN, {
      text: "The address and the port to listen on. [::1] is written with its brackets",
      also: ["host", "port"],
      default: "127.0.0.1:8080",
      example: "127.0.0.1:8080",
    }),
    log: reworded(
      setting(word(LOGS), COMMAND.log),
      "What is written of each request to standard output: text, json or off",
    ),
    log_calls: reworded(
      logCalls(),
      "Which calls of the node are a line of the log: failed, all or off",
    ),
    hosts: hosts(),
    cors: cors(),
    description: reworded(
      description(
        either<unknown>(
          "the path of a file, a URL, none, or an object with from and servers",
          place,
          placeWithServers(place),
        ),
      ),
      "The node's own OpenAPI description: a file or a URL, read again when it changes, or none",
    ),
    forward: setting(forward(path), FORWARD),
    metrics: metrics(),
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
  });
}

/** The methods that an operation may have. */
const OPERATION_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The node, or its URL; all URLs may be objects. */
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
  return either<unknown>("the URL of the node, or an object with url", alone, whole);
}

const DOCUMENT = "the path of a file, a URL, none, an OpenAPI document, or an object with text";

/** Where a host has a description. */
const documentPlace = (right: string, forms: () => Schema) =>
  either<unknown>(right, PLACE, v.instance(URL), v.lazy(() => forms()));

/**
 * A document says so by its first key. Its copy is read as text is, so that both are checked alike.
 *
 * @param others further forms of an object, by their keys
 */
function documentOrText(...others: Parameters<typeof byKey>[0]): Schema {
  const text = object({
    text: needed(v.string("the description as text"), { text: "The description itself" }),
    name: setting(LINE, { text: "What it is called; .json for JSON" }),
  });
  const version = v.optional(v.string('a version such as "3.1.1"'));
  const document = v.pipe(
    json,
    v.looseObject({ openapi: version, swagger: version }),
    v.transform((value) => ({ text: formatJson(value, 2), name: "description.json" })),
  );
  return byKey([[["openapi", "swagger"], document], [["text"], text], ...others]);
}

/** The same, or an object that says what becomes of its servers. */
const documentWithServers = () =>
  documentOrText([["from"], placeWithServers(documentPlace(DOCUMENT, () => documentOrText()))]);

function infoOptions(): Schema {
  const right = "an object with what is shown, or a function that tells it";
  return either<unknown>(right, object(infoSettings(FILE)), callback());
}

function operation(): Schema {
  return object({
    method: needed(word(OPERATION_METHODS), {
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
}

/**
 * What `createNodeface` may be told.
 *
 * @param own the names of the host's own kinds
 */
export const optionsWith = (own: readonly string[]): Schema =>
  object({
    hosts: hosts(),
    cors: cors(),
    prefix: setting(PREFIX, {
      text: "The path under which visitors find the service",
      default: '""',
    }),
    description: description(
      documentPlace(`${DOCUMENT} or from`, documentWithServers),
    ),
    kinds: setting(map(KIND_NAME, v.lazy(() => kindSchema())), {
      text:
        "Kinds of the host's own, by name, in the form of the files in spec/kinds/. They win over " +
        "known ones of the same name",
    }),
    forward: setting(later(() => forward(FILE)), FORWARD),
    metrics: metrics(),
    page: setting(later(() => object(page(LOGO, "The bytes of an image"))), PAGE),
    node: setting(later(() => nodeOptions(own)), NODE),
    info: setting(later(infoOptions), INFO),
    operations: setting(list(v.lazy(operation), "a list of operations"), {
      text: "Further operations, which the description and the explorer show as well",
    }),
    document: setting(v.lazy(() => documentParts()), {
      text: "What the description says besides its operations, as OpenAPI writes it",
    }),
    startedAt: setting(v.date("a Date, such as new Date()"), { text: "When the service started" }),
    log: setting(callback(), {
      text: "Is told what an operator should know: of the node, its description, and errors",
    }),
    logCalls: logCalls(),
  });

/** The same for a host without kinds of its own. */
export const OPTIONS: Schema = later(() => optionsWith([]));
