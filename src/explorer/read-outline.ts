/**
 * Extracts the page's content from an untrusted OpenAPI document. Values of unexpected types are
 * ignored.
 *
 * @module
 */
import { callNoteOf, nodeNameOf } from "../gateway/annotate-operations.ts";
import { CALL_METHODS } from "../gateway/policy.ts";
import { formatJson } from "../json/lossless.ts";
import { createFreeName, type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { nameOfNodeOperation } from "../openapi/callable-operations.ts";
import {
  followReference,
  type LocatedOperation,
  operationsOf,
  type Parameter,
  parametersOf,
  serversFor,
  SERVICE_TAG,
} from "../openapi/operations.ts";
import { readOnlyAlternative } from "../openapi/parameter-schema.ts";
import { trim, usualUrl } from "../openapi/servers.ts";
import { pause } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import type { FormData } from "./form-request.ts";
import { anchorOf, methodNameOf, tagFragment, UNTAGGED, wordsOf } from "./labels.ts";
import { readForm, typeOf } from "./read-form.ts";

export interface Outline extends Record<"title" | "version" | "summary" | "description", string> {
  readonly sections: readonly Section[];
}

export interface Section {
  id: string;
  name: string;
  description: string;
  operations: ShownOperation[];
  isService: boolean;
}

export interface ShownOperation {
  /** The URL fragment in Scalar. */
  id: string;
  /**
   * The short URL fragment. Empty if an earlier entry has the same fragment, or if the name is
   * unsafe in a URL.
   */
  anchor: string;
  method: string;
  /** The path; for a webhook, its name. */
  path: string;
  /**
   * The name of a JSON-RPC method. For other operations, the first available of a short summary,
   * `operationId` and path.
   */
  title: string;
  /** Empty if the summary is already shown as `title`. */
  summary: string;
  description: string;
  deprecated: boolean;
  marks: string[];
  isCommon: boolean;
  /** True for a method that is called over WebSocket, or for events. */
  isSubscription: boolean;
  /** The operation's name in settings; `undefined` if the node does not serve the operation. */
  nodeName: string | undefined;
  /** True for a GET operation if the page omits the equivalent POST operation. */
  isPostedToo: boolean;
  call: "open" | "token" | "refused" | undefined;
  callSentence: string;
  /** True if the operation cannot be called now, but a setting would enable it. */
  isOpenable: boolean;
  items: Items;
  /** `undefined` if the operation cannot be tried on the page. */
  form: FormData | undefined;
}

/** A parameter, a request body, a response, or a field of any of these. */
export interface Item {
  /** The name of a parameter or field, the status of a response, or the media type of a body. */
  readonly name: string;
  /** Facts about the item, such as its type (`array of Transaction`) and `required`. */
  readonly facts: readonly string[];
  readonly description: string;
  readonly rules?: readonly Rule[];
  /** Reads the fields, which a large page does not show. */
  readonly fieldsOf?: () => readonly Item[];
}

type Rule = readonly [name: string, value: string];
type Items = readonly (readonly [heading: string, items: readonly Item[]])[];

/** The reason for a refusal names the setting that would allow the call, if there is one. */
const NAMED_SETTING = /forward\.(?:open|clients)/;

const TITLE_LENGTH_MAX = 100;
const HERE = "http://here.invalid";
/** The maximum number of parameters, responses and facts in total; no page has room for more. */
const ITEMS_MAX = 250_000;
/** The maximum number of tags under which one operation is listed. */
const TAGS_MAX = 4;

export async function readOutline(document: unknown): Promise<Outline> {
  const root = objectOf(document);
  const info = objectOf(root.info);
  return {
    title: text(info.title) || "API",
    version: text(info.version),
    summary: text(info.summary),
    description: text(info.description),
    sections: await new SectionReader(root).read(),
  };
}

class SectionReader {
  readonly #root: Json;
  readonly #readItems: ReturnType<typeof createItemReader>;
  readonly #sections = new Map<string, Section>();
  /** The names of the tags that Scalar hides. */
  readonly #hidden = new Set<string>();
  readonly #anchors = new Set<string>();
  readonly #freeId = createFreeName(new Set(), "-");
  #itemsLeft = ITEMS_MAX;

  constructor(root: Json) {
    this.#root = root;
    this.#readItems = createItemReader(root);
  }

  async read(): Promise<Section[]> {
    const { tags, webhooks, paths } = this.#root;
    for (const tag of listOf(tags).map(objectOf)) {
      await pause();
      const name = text(tag.name);
      if (isHiddenByScalar(tag)) this.#hidden.add(name);
      else if (name) this.#sectionOf(name, text(tag.description));
    }
    for (const [path, value] of Object.entries(objectOf(paths))) {
      await this.#readPathItem(path, objectOf(value), false);
    }
    for (const [name, value] of Object.entries(objectOf(webhooks))) {
      await this.#readPathItem(name, objectOf(value), true);
    }
    const shown = [...this.#sections.values()].filter(({ operations }) => operations.length > 0);
    for (const { operations } of shown) {
      operations.sort((a, b) => Number(b.isCommon) - Number(a.isCommon));
    }
    return shown.sort((a, b) => Number(a.isService) - Number(b.isService));
  }

  #unique(wanted: string): string {
    return this.#freeId(shorten(wanted, 400).replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent));
  }

  #sectionOf(name: string, description = ""): Section {
    let section = this.#sections.get(name);
    if (!section) {
      const id = this.#unique(tagFragment(name));
      section = { id, name, description, operations: [], isService: name === SERVICE_TAG };
      this.#sections.set(name, section);
    }
    return section;
  }

  async #readPathItem(path: string, item: Json, isWebhook: boolean): Promise<void> {
    const isPostedToo = !isWebhook && methodNameOf(path) !== "" && item[ONE_METHOD] === true;
    for (const located of operationsOf(item)) {
      await pause();
      const { method, operation } = located;
      if (isHiddenByScalar(operation) || (isPostedToo && method === "POST")) continue;
      const shown = { ...this.#readOperation(item, located, path, isWebhook), isPostedToo };
      const anchor = isWebhook ? "" : anchorOf(path, operation);
      const tags = listOf(operation.tags).map(text).filter(Boolean);
      const names = tags.length > 0 ? tags : [isWebhook ? "Webhooks" : UNTAGGED];
      for (const name of new Set(names.slice(0, TAGS_MAX))) {
        if (this.#hidden.has(name)) continue;
        const { id, operations } = this.#sectionOf(name);
        const place = isWebhook ? `webhook/${method}/${path}` : `${method}${path}`;
        operations.push({
          ...shown,
          id: this.#unique(isWebhook && tags.length === 0 ? place : `${id}/${place}`),
          anchor: this.#anchors.has(anchor) ? "" : anchor,
        });
        this.#anchors.add(anchor);
      }
    }
  }

  #readOperation(
    item: Json,
    located: LocatedOperation,
    path: string,
    isWebhook: boolean,
  ): Omit<ShownOperation, "id" | "anchor" | "isPostedToo"> {
    const root = this.#root;
    const { method, operation } = located;
    const note = callNoteOf(operation);
    const rpcName = methodNameOf(path);
    const nodeName = nodeNameOf(operation) ??
      (isWebhook ? undefined : nameOfNodeOperation(root, { ...located, path, item }));
    const isCalled = note ? note.right !== "refused" : nodeName === undefined;
    const hasRoom = this.#itemsLeft > 0;
    const parameters = hasRoom ? parametersOf(root, item, operation) : [];
    const items = hasRoom ? this.#readItems(operation, parameters, rpcName !== "") : [];
    for (const { facts } of items.flatMap(([, all]) => all)) this.#itemsLeft -= 1 + facts.length;
    const address = addressOf(objectOf(serversFor([operation, item, root])[0])) + path;
    const isOff = nodeName !== undefined && note === undefined;
    const sentence = note?.sentence ?? (isOff ? "Calls are switched off." : "");
    const summary = text(operation.summary);
    const named = summary.length > TITLE_LENGTH_MAX ? "" : summary;
    const title = rpcName || named || text(operation.operationId) || path;
    return {
      method,
      path,
      nodeName,
      items,
      title,
      summary: title === summary ? "" : summary,
      description: note?.description ?? text(operation.description),
      deprecated: operation.deprecated === true,
      marks: wordsOf(operation),
      isCommon: operation["x-common"] === true,
      isSubscription: operation["x-subscription"] !== undefined,
      call: note?.right,
      callSentence: isWebhook ? "Sent by the API to its subscribers." : sentence,
      isOpenable: isOff
        ? operation["x-streaming"] !== true && CALL_METHODS.includes(method)
        : note?.right === "refused" && NAMED_SETTING.test(sentence),
      form: isCalled && hasRoom && !isWebhook && operation["x-connection"] !== true
        ? readForm(root, operation, parameters, method, address)
        : undefined,
    };
  }
}

function createItemReader(root: Json) {
  const fieldsOf = createFieldReader(root);
  const readParameter = ({ value, parameter, name, place }: Parameter): Item => {
    const { types, schema: inner } = contentOf(root, parameter);
    const schema = readOnlyAlternative(root, parameter.schema ?? inner);
    const { example = schema.example, required } = parameter;
    return {
      name,
      facts: factsOf(
        place,
        ...typeOf(schema),
        ...types.slice(0, 1),
        required === true && "required",
      ),
      description: descriptionOf(root, value, parameter) || text(schema.description),
      rules: rulesOf({ ...schema, example }, followReference(root, schema.items)),
    };
  };

  const readBody = (value: unknown): Item[] => {
    const body = followReference(root, value);
    const { types: [name, ...others], schema } = contentOf(root, body);
    if (name === undefined) return [];
    return [{
      name,
      facts: factsOf(nameType(root, schema), ...others, body.required === true && "required"),
      description: descriptionOf(root, value, body),
      fieldsOf: () => fieldsOf(schema),
    }];
  };

  /** The parameters of a JSON-RPC method are the properties of its body. */
  const readProperties = (value: unknown): Item[] =>
    fieldsOf(contentOf(root, followReference(root, value)).schema, LEVELS + 1)
      .map((item) => ({ ...item, facts: ["body", ...item.facts] }));

  const readResponse = ([status, value]: [string, unknown]): Item => {
    const response = followReference(root, value);
    const { types, schema } = contentOf(root, response);
    const type = nameType(root, schema);
    const isProblem = types[0] === "application/problem+json";
    // A JSON response with a schema shows the type of the schema instead of the media type.
    const isPlain = type !== "" && types.join() === "application/json";
    return {
      name: status,
      facts: isProblem ? types : factsOf(type, ...isPlain ? [] : types),
      description: descriptionOf(root, value, response),
      fieldsOf: () => isProblem ? [] : fieldsOf(schema),
    };
  };

  return (
    { requestBody, responses }: Json,
    parameters: readonly Parameter[],
    isMethod: boolean,
  ): Items => [
    ["Parameters", [
      ...parameters.map(readParameter),
      ...isMethod ? readProperties(requestBody) : [],
    ]],
    ["Request body", isMethod ? [] : readBody(requestBody)],
    ["Responses", Object.entries(objectOf(responses)).map(readResponse)],
  ];
}

/** Cached, since many references may point to one large object. */
const namesOf = onceFor((object: Json): string[] => Object.keys(object));

function contentOf(root: Json, { content }: Json): { types: string[]; schema: unknown } {
  const types = namesOf(objectOf(content));
  return { types, schema: followReference(root, objectOf(content)[types[0] ?? ""]).schema };
}

/** Cached, since most operations have the document's server. */
const addressOf = onceFor((server: Json): string => {
  try {
    const { protocol, origin, pathname } = new URL(usualUrl(server) ?? "", HERE);
    const path = trim(pathname);
    return origin === HERE || !/^https?:$/.test(protocol) ? path : origin + path;
  } catch {
    return "";
  }
});

const isHiddenByScalar = (value: Json) => Boolean(value["x-internal"] || value["x-scalar-ignore"]);
const text = (value: unknown): string => textOf(value) ?? "";

const DEPTH_MAX = 4;
const LEVELS = 2;
const FIELDS_MAX = 60, OPTIONS_MAX = 4, VALUES_MAX = 12, VALUE_LENGTH_MAX = 80;

const KEYWORDS = [
  ["one of", "enum"],
  ["from", "minimum"],
  ["to", "maximum"],
  ["pattern", "pattern"],
  ["default", "default"],
] as const;

/** @param items the schema of the items, if the schema is one of a list */
function rulesOf(schema: Json, items: Json): Rule[] {
  const each = limitsOf({ enum: items.enum }).map(([, values]): Rule => ["each one of", values]);
  const rules = [...limitsOf(schema), ...each];
  const example = write(schema.example ?? listOf(schema.examples)[0] ?? "");
  const isShown = example !== "" && example.length <= VALUE_LENGTH_MAX;
  return isShown ? [...rules, ["example", example]] : rules;
}

function limitsOf(schema: Json): Rule[] {
  return KEYWORDS.flatMap(([name, keyword]): Rule[] => {
    const value = schema[keyword];
    if (value === undefined || value === null) return [];
    const values = keyword === "enum" ? listOf(value) : [value];
    const shown = values.slice(0, VALUES_MAX).map((one) => shorten(write(one), VALUE_LENGTH_MAX));
    const rest = values.length > VALUES_MAX ? ", …" : "";
    return values.length > 0 ? [[name, shown.join(", ") + rest]] : [];
  });
}

const write = (value: unknown): string => textOf(value) ?? formatJson(value);

const factsOf = (...facts: readonly (string | false)[]): string[] =>
  facts.flatMap((fact) => fact || []);

/**
 * Since OpenAPI 3.1, a description beside `$ref` overrides the target's description (3.1.1, section
 * 4.8.23).
 */
function descriptionOf(root: Json, value: unknown, resolved: Json): string {
  const isOld = textOf(root.openapi)?.startsWith("3.0");
  return (!isOld && textOf(objectOf(value).description)) || (textOf(resolved.description) ?? "");
}

function nameType(root: Json, value: unknown, depth = 0): string {
  if (depth === DEPTH_MAX) return "";
  const schema = followReference(root, value);
  const inner = (value: unknown) => nameType(root, value, depth + 1);
  const options = optionsOf(schema);
  if (options.length > 0) return [...new Set(options.map(inner))].filter(Boolean).join(" or ");
  if (schema.type === "array") {
    const item = inner(schema.items);
    return item && !item.includes(" or ") ? `array of ${item}` : "array";
  }
  if (schema.type === "object" || schema.properties || schema.allOf) {
    const { $ref } = objectOf(value);
    return typeof $ref === "string" ? /[\w.-]{1,60}$/.exec($ref)?.[0] ?? "object" : "object";
  }
  return typeOf(schema).join(", ");
}

const optionsOf = (schema: Json): unknown[] =>
  listOf(schema.oneOf ?? schema.anyOf).slice(0, OPTIONS_MAX);

/** Caches the fields of each schema, since many references may point to one schema. */
function createFieldReader(root: Json): (schema: unknown, levels?: number) => Item[] {
  const readers = Array.from(
    { length: LEVELS + 2 },
    (_, levels) =>
      onceFor((object: Json): Item[] => {
        const parts = new Set([
          object,
          ...listOf(object.allOf).map((part) => followReference(root, part)),
        ]);
        const isRequired = (name: string) => [...parts].some((part) => requiredOf(part).has(name));
        return firstFields(parts).map(([name, value]): Item => {
          const schema = followReference(root, value);
          return {
            name,
            facts: factsOf(nameType(root, value), isRequired(name) && "required"),
            description: descriptionOf(root, value, schema),
            // The rules of nested fields are omitted, since they would double the length of the
            // page.
            rules: levels > LEVELS ? rulesOf(schema, followReference(root, schema.items)) : [],
            fieldsOf: () => read(value, levels - 1),
          };
        });
      }),
  );
  const read = (schema: unknown, levels = LEVELS): Item[] =>
    levels === 0 ? [] : readers[levels]!(objectIn(root, schema));
  return read;
}

/** Cached, since many schemas may include one large schema. */
const requiredOf = onceFor((schema: Json) => new Set(listOf(schema.required)));
const fieldsIn = onceFor((schema: Json) =>
  Object.entries(objectOf(schema.properties)).slice(0, FIELDS_MAX)
);

function firstFields(parts: Iterable<Json>): [name: string, value: unknown][] {
  const fields: [string, unknown][] = [];
  for (const part of parts) {
    fields.push(...fieldsIn(part));
    if (fields.length >= FIELDS_MAX) break;
  }
  return fields.slice(0, FIELDS_MAX);
}

function objectIn(root: Json, value: unknown, depth = 0): Json {
  const schema = followReference(root, value);
  if (depth === DEPTH_MAX || schema.properties) return schema;
  const inner = (value: unknown) => objectIn(root, value, depth + 1);
  if (schema.type === "array") return inner(schema.items);
  return optionsOf(schema).map(inner).find((option) => option.properties ?? option.allOf) ?? schema;
}
