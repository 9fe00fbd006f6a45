/**
 * The schema of a host's options, and a check that reports every error.
 *
 * @module
 */
import * as v from "valibot";
import type { DescriptionPlace } from "./description/source.ts";
import { mistakeInLogo } from "./explorer/page-settings.ts";
import { diagnosticsOfDocument, diagnosticsOfPaths } from "./host-operations/describe-operation.ts";
import { formatJson, isPlainObject } from "./json/lossless.ts";
import type { JsonObject } from "./json/values.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { HAS_SOCKETS } from "./platform.ts";
import {
  allowed,
  forwardConflicts,
  NEEDS_NODE,
  pageSettings,
  placeWithBase,
  sharedSettings,
} from "./settings/configuration.ts";
import { CLI_OPTIONS } from "./settings/flags.ts";
import { kindSchema, withoutSecretFiles } from "./settings/kind-schema.ts";
import { hasKind, infoSettings, nodeSettings, unknownSources } from "./settings/node-schema.ts";
import {
  anyOf,
  byKey,
  choice,
  json,
  map,
  object,
  optional,
  readValue,
  refuseOptions,
  type Schema,
  secret,
  type SettingDiagnostic,
} from "./settings/schema.ts";
import {
  FILE,
  KIND_NAME,
  LINE,
  NODE_URL,
  ORIGIN,
  PLACE,
  PREFIX,
  URL_EXAMPLE,
} from "./settings/texts.ts";

function nodeOptions(own: readonly string[]): Schema {
  const urlObject = v.pipe(
    v.instance(URL),
    v.transform(({ href }) => href),
    NODE_URL as v.GenericSchema<string>,
  );
  const url = secret(anyOf([NODE_URL, urlObject], URL_EXAMPLE));
  const optionalUrl = optional(url, CLI_OPTIONS.url.text);
  const whole = object({ ...nodeSettings(FILE, own), url: optionalUrl });
  const alone = v.pipe(url, v.transform((url) => ({ url })));
  return anyOf([alone, whole], "the URL of the node, or an object with url");
}

const DOCUMENT = 'the path of a file, a URL, "none", an OpenAPI document, or an object with "text"';
const TEXT_OF_DOCUMENT = object({
  text: v.string("the description as text"),
  name: v.optional(LINE),
});
const VERSION = v.optional(v.string('a version such as "3.1.1"'));

/** An object is converted to text, so that it is checked like any other description. */
const DOCUMENT_AS_TEXT = v.pipe(
  json,
  v.looseObject({ openapi: VERSION, swagger: VERSION }),
  v.transform((value) => ({ text: formatJson(value, 2), name: "description.json" })),
);

const DOCUMENT_FORMS: Parameters<typeof byKey>[0] = [
  [["openapi", "swagger"], DOCUMENT_AS_TEXT],
  [["text"], TEXT_OF_DOCUMENT],
];

const PLACE_OR_DOCUMENT = anyOf([PLACE, v.instance(URL), byKey(DOCUMENT_FORMS)], DOCUMENT);

const DESCRIPTION = anyOf([
  PLACE,
  v.instance(URL),
  byKey([...DOCUMENT_FORMS, [["from"], placeWithBase(PLACE_OR_DOCUMENT)]]),
], `${DOCUMENT} or "from"`);

const LOGO = v.pipe(
  v.instance(Uint8Array, "the bytes of an image (Uint8Array)"),
  v.rawCheck(({ dataset, addIssue }) => {
    const wrong = dataset.typed ? mistakeInLogo(dataset.value) : undefined;
    if (wrong !== undefined) addIssue({ message: wrong });
  }),
);

/** The content is checked as an OpenAPI document. */
const JSON_OBJECT = v.pipe(json, v.custom<JsonObject>(isPlainObject, "an object"));

const DOCUMENT_PARTS = object({
  info: v.optional(JSON_OBJECT),
  tags: v.optional(v.pipe(json, v.array(v.unknown(), "a list of tags"))),
  externalDocs: v.optional(JSON_OBJECT),
  components: v.optional(JSON_OBJECT),
});

const FUNCTION = v.function("a function");

const OPERATION = object({
  method: choice(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: LINE,
  operation: JSON_OBJECT,
  cors: v.optional(allowed(ORIGIN, "origins")),
  handle: v.function("a function that responds to a request"),
});

/** Besides the known kinds, `node.kind` may be a name in `own`. */
export function optionsSchema(own: readonly string[]): Schema<ReadOptions> {
  const settings: Readonly<Record<keyof NodefaceOptions, Schema>> = {
    ...sharedSettings(FILE),
    prefix: v.optional(PREFIX),
    description: optional(DESCRIPTION, CLI_OPTIONS.spec.text, CLI_OPTIONS.spec),
    kinds: v.optional(
      map(KIND_NAME, v.lazy(() => v.pipe(kindSchema(), v.transform(withoutSecretFiles)))),
    ),
    page: v.optional(object(pageSettings(LOGO))),
    node: v.optional(nodeOptions(own)),
    info: v.optional(
      anyOf(
        [object(infoSettings(FILE)), FUNCTION],
        "an object with settings of the info, or a function that returns the info",
      ),
    ),
    operations: v.optional(v.array(OPERATION, "a list of operations")),
    document: v.optional(DOCUMENT_PARTS),
    startedAt: v.optional(v.date("a Date, such as new Date()")),
    log: v.optional(FUNCTION),
    logCalls: v.optional(CLI_OPTIONS.logCalls.schema),
  };
  return object(settings) as Schema<ReadOptions>;
}

type ReadOptions = Omit<CheckedOptions, "description"> & {
  readonly description?: DescriptionPlace | { from: DescriptionPlace; base?: string };
};

/** @throws {TypeError} with one line for each error */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, diagnostics } = readValue(options, optionsSchema(own));
  const found = diagnostics.length > 0 ? diagnostics : diagnosticsOfOptions(value);
  refuseOptions(found);
  const { description, ...checked } = value;
  // A method may need private fields of its own object, which `value` copies.
  const operations = checked.operations?.map((operation, at) => ({
    ...operation,
    handle: operation.handle.bind(options.operations![at]),
  }));
  const others = { ...checked, ...operations && { operations } };
  return typeof description === "object" && "from" in description
    ? { ...others, description: description.from, base: description.base }
    : { ...others, description };
}

function diagnosticsOfOptions(
  { node = {}, info, operations = [], document, forward, hosts }: ReadOptions,
): SettingDiagnostic[] {
  const found = forwardConflicts(forward, hosts);
  if (forward && node.url === undefined) found.push({ path: ["forward"], message: NEEDS_NODE });
  if (forward && !HAS_SOCKETS) {
    const message = 'must be "off" in a worker, which cannot forward calls to the node';
    found.push({ path: ["forward"], message });
  }
  const wrongPaths = [...diagnosticsOfPaths(operations)];
  found.push(...wrongPaths.length > 0 ? wrongPaths : diagnosticsOfDocument(operations, document));
  // Loading all kinds would delay the start. If the node has a kind, its sources are not checked
  // here.
  if (typeof info === "object" && !hasKind(node)) found.push(...unknownSources(info, []));
  return found;
}
