/**
 * The options of a host: what each may be, and what is wrong with them.
 *
 * @module
 */
import * as v from "valibot";
import type { DescriptionPlace } from "./description/watch.ts";
import { mistakeInLogo } from "./explorer/page-settings.ts";
import { diagnosticsOfOperations } from "./host-operations/describe-operation.ts";
import { formatJson, isPlainObject } from "./json/lossless.ts";
import { LOG_CALLS } from "./log.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { structureOf } from "./openapi/structure.ts";
import { HAS_SOCKETS } from "./platform.ts";
import {
  allowed,
  clashesOfForward,
  CLI_OPTIONS,
  INFO,
  NODE,
  PAGE,
  pageSettings,
  placeWithServers,
  sharedSettings,
} from "./settings/configuration.ts";
import { kindSchema, withoutSecretFiles } from "./settings/kind.ts";
import { hasKind, infoSettings, nodeSettings, unknownSources } from "./settings/node.ts";
import * as s from "./settings/schema.ts";
import type { Diagnostic, Schema, Settings } from "./settings/schema.ts";
import * as t from "./settings/texts.ts";

/** Makes the schema of the node, or of its URL; all URLs may be objects. */
function nodeOptions(own: readonly string[]): Schema {
  const urlObject = v.pipe(
    v.instance(URL),
    v.transform(({ href }) => href),
    t.NODE_URL as v.GenericSchema<string>,
  );
  const url = s.secret(s.either(t.URL_EXAMPLE, t.NODE_URL, urlObject));
  const optional = v.optional(url);
  const whole = s.object({ ...nodeSettings(t.FILE, own), url: optional, public_url: optional });
  const alone = v.pipe(url, v.transform((url) => ({ url })));
  return s.either("the URL of the node, or an object with url", alone, whole);
}

const DOCUMENT = "the path of a file, a URL, none, an OpenAPI document, or an object with text";

const TEXT_OF_DOCUMENT = s.object({
  text: s.needed(v.string("the description as text"), { text: "The description itself" }),
  name: s.setting(t.LINE, { text: "Its name; .json for JSON" }),
});

const VERSION = v.optional(v.string('a version such as "3.1.1"'));

/** A document says so by its first key. Its copy is read as text is, so that both are checked alike. */
const DOCUMENT_AS_TEXT = v.pipe(
  s.json,
  v.looseObject({ openapi: VERSION, swagger: VERSION }),
  v.transform((value) => ({ text: formatJson(value, 2), name: "description.json" })),
);

const DOCUMENT_FORMS: Parameters<typeof s.byKey>[0] = [
  [["openapi", "swagger"], DOCUMENT_AS_TEXT],
  [["text"], TEXT_OF_DOCUMENT],
];

const PLACE_OR_DOCUMENT = s.either(DOCUMENT, t.PLACE, v.instance(URL), s.byKey(DOCUMENT_FORMS));

const DESCRIPTION = s.either(
  `${DOCUMENT} or from`,
  t.PLACE,
  v.instance(URL),
  s.byKey([...DOCUMENT_FORMS, [["from"], placeWithServers(PLACE_OR_DOCUMENT)]]),
);

const LOGO = v.pipe(
  v.instance(Uint8Array, "the bytes of an image (Uint8Array)"),
  v.rawCheck(({ dataset, addIssue }) => {
    const wrong = dataset.typed ? mistakeInLogo(dataset.value) : undefined;
    if (wrong !== undefined) addIssue({ message: wrong });
  }),
);

const TEXT: Schema = v.string("a text");
const OBJECT: Schema = v.custom(isPlainObject, "an object");
const OBJECTS = mapOf(OBJECT);
const TEXTS = s.list(TEXT, "a list of texts");

const OPENAPI = structureOf({ openapi: "3.1.1" }).kinds;

/** Makes the schema of an object of OpenAPI by its table, with extensions; of some members by `closer`. */
function openApi(kind: string, closer: Settings = {}): Schema {
  const settings = [...OPENAPI[kind]!].map(([key, { shape = "", needed }]) => {
    const schema = closer[key] ?? schemaOf(shape);
    return [key, needed ? schema : v.optional(schema)] as const;
  });
  return s.object(Object.fromEntries(settings), (key) => key.startsWith("x-"));
}

function schemaOf(shape: string): Schema {
  if (shape === "") return TEXT;
  if (shape.startsWith("{")) return OBJECTS;
  if (shape.endsWith("[]")) return s.list(OBJECT, `a list of ${shape.slice(0, -2)}s`);
  return shape === "externalDocs" ? openApi(shape) : OBJECT;
}

function mapOf(of: Schema): Schema {
  return v.pipe(OBJECT, v.record(v.string(), of, "an object") as Schema);
}

/** An operation object of OpenAPI; a copy is taken. */
const OPERATION_OBJECT = v.pipe(
  s.json,
  openApi("operation", {
    tags: TEXTS,
    responses: OBJECTS,
    deprecated: s.BOOLEAN,
    security: s.list(mapOf(TEXTS), "a list of security requirements"),
  }),
);

/** The parts of an OpenAPI document besides its operations; a copy is taken. */
const DOCUMENT_PARTS = v.pipe(
  s.json,
  s.object({
    info: v.optional(openApi("info")),
    tags: v.optional(s.list(openApi("tag"), "a list of tags")),
    externalDocs: v.optional(openApi("externalDocs")),
    // A schema may be true or false.
    components: v.optional(openApi("components", { schemas: OBJECT })),
  }),
);

const OPERATION = s.object({
  method: s.needed(s.word(["GET", "POST", "PUT", "PATCH", "DELETE"]), {
    text: "The method, in upper case. GET serves HEAD as well",
  }),
  path: s.needed(t.LINE, { text: "The path as OpenAPI writes it" }),
  operation: s.needed(OPERATION_OBJECT, { text: "The OpenAPI operation object" }),
  cors: s.setting(allowed(t.ORIGIN, "origins"), {
    text: "The origins whose pages may call it",
    default: "the origins that cors of the service lists",
  }),
  handle: s.needed(s.callback("a function that responds to a request"), {
    text: "Responds to a request",
  }),
});

const HOST_KIND = () => v.pipe(kindSchema(), v.transform(withoutSecretFiles));

/** Makes the schema of what `createNodeface` may be told. */
export function optionsSchema(own: readonly string[] = []): Schema<ReadOptions> {
  const settings: Readonly<Record<keyof NodefaceOptions, Schema>> = {
    ...sharedSettings(t.FILE),
    prefix: s.setting(t.PREFIX, {
      text: "The path of the service as clients see it",
      default: '""',
    }),
    description: s.setting(DESCRIPTION, CLI_OPTIONS.spec),
    kinds: s.setting(s.map(t.KIND_NAME, v.lazy(() => HOST_KIND())), {
      text:
        "Kinds of the host's own, by name, in the form of the files in spec/kinds/. They win over " +
        "known ones of the same name",
    }),
    page: s.setting(s.object(pageSettings(LOGO, "The bytes of an image")), PAGE),
    node: s.setting(nodeOptions(own), NODE),
    info: s.setting(
      s.either(
        "an object with what is shown, or a function that tells it",
        s.object(infoSettings(t.FILE)),
        s.callback(),
      ),
      INFO,
    ),
    operations: s.setting(s.list(OPERATION, "a list of operations"), {
      text: "Further operations, which the description and the explorer show as well",
    }),
    document: s.setting(DOCUMENT_PARTS, {
      text: "The other members of the description, as OpenAPI writes them",
    }),
    startedAt: s.setting(v.date("a Date, such as new Date()"), {
      text: "The time at which the service started",
    }),
    log: s.setting(s.callback(), {
      text: "Receives messages for the operator: on the node, its description, and errors",
    }),
    logCalls: s.setting(s.word(LOG_CALLS), CLI_OPTIONS.logCalls),
  };
  return s.object(settings) as Schema<ReadOptions>;
}

/** The options as they are read: in one form each, but for the description with its servers. */
type ReadOptions = Omit<CheckedOptions, "description"> & {
  readonly description?: DescriptionPlace | { from: DescriptionPlace; servers?: string };
};

/**
 * Checks all options.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, diagnostics } = s.readValue(options, optionsSchema(own));
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
  if (found.length === 0) return checked;
  const lines = found.map(s.formatDiagnostic);
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
    ...forward && !HAS_SOCKETS ? [FORWARD_IN_WORKER] : [],
    ...diagnosticsOfOperations(operations, document?.components),
    ...isWhole ? unknownSources(info, []) : [],
  ];
}
