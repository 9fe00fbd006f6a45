/**
 * Extracts what the page shows from an OpenAPI document. The document is untrusted: values of an
 * unexpected shape are ignored.
 *
 * @module
 */
import { callNoteOf } from "../gateway/annotate-operations.ts";
import { createFreeName, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { nameOfNodeOperation } from "../openapi/callable-operations.ts";
import { TAG as SERVICE_TAG } from "../openapi/merge.ts";
import { followReference, operationsOf, serversFor } from "../openapi/operations.ts";
import { usualUrl } from "../openapi/servers.ts";
import { shorten } from "../untrusted-text.ts";
import type { FormData } from "./form-request.ts";
import { anchorOf, methodNameOf, tagFragment, UNTAGGED, wordsOf } from "./labels.ts";
import { type Parameter, parametersOf, readForm } from "./read-form.ts";
import {
  createFieldReader,
  descriptionOf,
  factsOf,
  type Item,
  LEVELS,
  nameType,
  rulesOf,
  typeOf,
} from "./read-schema.ts";

export interface Outline {
  title: string;
  version: string;
  summary: string;
  description: string;
  sections: Section[];
}

/** A tag with its operations. */
export interface Section {
  id: string;
  name: string;
  description: string;
  /** Those that are marked as common come first. */
  operations: Operation[];
  /** True if its operations are this service's own, beside those of a node. */
  isService: boolean;
}

export interface Operation {
  /** The fragment that Scalar uses for it. */
  id: string;
  /** A short one of our own; empty where it has no name, and under its further tags. */
  anchor: string;
  method: string;
  path: string;
  /** The name of a method of JSON-RPC, the summary of any other. */
  title: string;
  /** Empty where it is the title. */
  summary: string;
  description: string;
  deprecated: boolean;
  marks: string[];
  isCommon: boolean;
  /** The name by which the node is called; `undefined` where another server responds. */
  nodeName: string | undefined;
  /** True for a method of JSON-RPC. */
  isMethod: boolean;
  /** True if it can be posted as well, with its parameters as an object. */
  isPostedToo: boolean;
  /** True if the API sends it, to whoever wants to be told of something; its name stands for a path. */
  isWebhook: boolean;
  /** The permission of a forwarded call; `undefined` where none is forwarded. */
  call: "open" | "token" | "refused" | undefined;
  callSentence: string;
  /** Its parameters, its body and its responses, with their headings. */
  items: readonly (readonly [heading: string, items: readonly Item[]])[];
  /** `undefined` where it cannot be tried here. */
  form: FormData | undefined;
}

const WEBHOOKS = "Webhooks";

/** Stands for this service, whose address is not known here. */
const HERE = "http://here.invalid";

const ID_LENGTH_MAX = 400;

/** The most parameters, responses and their facts that are read: more than any page has room for. */
const ITEMS_MAX = 250_000;

export function readOutline(document: unknown): Outline {
  const root = objectOf(document);
  const info = objectOf(root.info);
  return {
    title: text(info.title) || "API",
    version: text(info.version),
    summary: text(info.summary),
    description: text(info.description),
    sections: readSections(root),
  };
}

function readSections(root: Json): Section[] {
  const sections = new Map<string, Section>();
  const hidden = new Set<string>();
  const unique = createUniqueId();
  const anchors = new Set<string>();
  const read = createOperationReader(root);
  const sectionOf = (name: string, description = ""): Section => {
    if (!sections.has(name)) {
      const [id, isService] = [unique(tagFragment(name)), name === SERVICE_TAG];
      sections.set(name, { id, name, description, operations: [], isService });
    }
    return sections.get(name)!;
  };
  for (const tag of listOf(root.tags).map(objectOf)) {
    const name = text(tag.name);
    if (isHiddenByScalar(tag)) hidden.add(name);
    else if (name) sectionOf(name, text(tag.description));
  }
  const readItem = (path: string, value: unknown, isWebhook: boolean) => {
    const item = readPathItem(root, value);
    const isPostedToo = !isWebhook && methodNameOf(path) !== "" && item[ONE_METHOD] === true;
    for (const { method, operation } of operationsOf(item)) {
      if (isHiddenByScalar(operation) || (isPostedToo && method === "POST")) continue;
      const made = { ...read(item, operation, method, path, isWebhook), isPostedToo };
      const anchor = isWebhook ? "" : anchorOf(path, operation);
      const tags = listOf(operation.tags).map(text).filter(Boolean);
      const names = tags.length > 0 ? tags : [isWebhook ? WEBHOOKS : UNTAGGED];
      for (const name of new Set(names)) {
        if (hidden.has(name)) continue;
        const { id, operations } = sectionOf(name);
        const place = isWebhook ? `webhook/${method}/${path}` : `${method}${path}`;
        const fragment = isWebhook && tags.length === 0 ? place : `${id}/${place}`;
        operations.push({
          ...made,
          id: unique(fragment),
          anchor: anchors.has(anchor) ? "" : anchor,
        });
        anchors.add(anchor);
      }
    }
  };
  for (const [path, value] of Object.entries(objectOf(root.paths))) readItem(path, value, false);
  for (const [name, value] of Object.entries(objectOf(root.webhooks))) readItem(name, value, true);
  const shown = [...sections.values()].filter(({ operations }) => operations.length > 0);
  // Sorting keeps the order of what is equal.
  for (const { operations } of shown) {
    operations.sort((a, b) => Number(b.isCommon) - Number(a.isCommon));
  }
  return shown.sort((a, b) => Number(a.isService) - Number(b.isService));
}

/** The members of a path item override those of the item it refers to. */
function readPathItem(root: Json, value: unknown): Json {
  const own = objectOf(value);
  return own.$ref === undefined ? own : { ...followReference(root, own), ...own };
}

type OperationReader = (
  item: Json,
  operation: Json,
  method: string,
  path: string,
  isWebhook: boolean,
) => Omit<Operation, "id" | "anchor" | "isPostedToo">;

/** Makes the reader of a document's operations. */
function createOperationReader(root: Json): OperationReader {
  const readItems = createItemReader(root);
  let left = ITEMS_MAX;
  return (item, operation, method, path, isWebhook) => {
    const note = callNoteOf(operation);
    const rpcName = methodNameOf(path);
    const nodeName = isWebhook
      ? undefined
      : nameOfNodeOperation(root, path, item, { method, operation });
    const isCalled = note ? note.right !== "refused" : nodeName === undefined;
    const hasRoom = left > 0;
    const parameters = hasRoom ? parametersOf(root, item, operation) : [];
    const items = hasRoom ? readItems(operation, parameters, rpcName !== "") : [];
    for (const { facts } of items.flatMap(([, all]) => all)) left -= 1 + facts.length;
    const address = serverOf([operation, item, root]) + path;
    const summary = text(operation.summary);
    return {
      ...{ method, path, nodeName, items, isWebhook, isMethod: rpcName !== "" },
      title: rpcName || summary || text(operation.operationId) || path,
      summary: rpcName ? summary : "",
      description: note?.description ?? text(operation.description),
      deprecated: operation.deprecated === true,
      marks: wordsOf(operation),
      isCommon: operation["x-common"] === true,
      call: note?.right,
      callSentence: note?.sentence ?? "",
      form: isCalled && hasRoom && !isWebhook
        ? readForm(root, operation, parameters, method, address)
        : undefined,
    };
  };
}

/** Texts that OpenAPI asks for, and that say no more than the type does. */
const FILLERS = new Set(["The result.", "The answer.", "It is done.", "It was not done."]);

/** Makes the reader of what operations take and respond with. */
function createItemReader(root: Json) {
  const fieldsOf = createFieldReader(root);

  const readParameter = ({ value, parameter }: Parameter): Item => {
    const schema = followReference(root, parameter.schema);
    const example = parameter.example === undefined ? {} : { example: parameter.example };
    const isRequired = parameter.required === true;
    return {
      name: text(parameter.name),
      facts: factsOf(text(parameter.in), ...typeOf(schema), isRequired && "required"),
      description: descriptionOf(root, value, parameter) || text(schema.description),
      rules: rulesOf({ ...schema, ...example }),
      fields: [],
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
      rules: [],
      fields: fieldsOf(schema),
    }];
  };

  /** The parameters of a method are the properties of its body. */
  const readProperties = (value: unknown): Item[] =>
    fieldsOf(contentOf(root, followReference(root, value)).schema, LEVELS + 1)
      .map((item) => ({ ...item, facts: ["body", ...item.facts] }));

  const readResponse = ([status, value]: [string, unknown]): Item => {
    const response = followReference(root, value);
    const { types, schema } = contentOf(root, response);
    const description = descriptionOf(root, value, response);
    const type = nameType(root, schema);
    const isProblem = types[0] === "application/problem+json";
    // JSON is what a type with a name is in.
    const isPlain = type !== "" && types.join() === "application/json";
    return {
      name: status,
      facts: isProblem ? types : factsOf(type, ...isPlain ? [] : types),
      description: type !== "" && FILLERS.has(description) ? "" : description,
      rules: [],
      fields: isProblem ? [] : fieldsOf(schema),
    };
  };

  return (
    { requestBody, responses }: Json,
    parameters: readonly Parameter[],
    isMethod: boolean,
  ): Operation["items"] => [
    ["Parameters", [
      ...parameters.map(readParameter),
      ...isMethod ? readProperties(requestBody) : [],
    ]],
    ["Request body", isMethod ? [] : readBody(requestBody)],
    ["Responses", Object.entries(objectOf(responses)).map(readResponse)],
  ];
}

/** Reads the media types of a content, and the schema of the first one. */
function contentOf(root: Json, { content }: Json): { types: string[]; schema: unknown } {
  const types = Object.keys(objectOf(content));
  const schema = types[0] === undefined
    ? undefined
    : followReference(root, objectOf(content)[types[0]]).schema;
  return { types, schema };
}

/** Finds the first server of the first holder that has one, with defaults for its variables; empty if it is not of HTTP. */
function serverOf(holders: Json[]): string {
  const [server] = serversFor(holders);
  try {
    const { protocol, origin, pathname } = new URL(usualUrl(objectOf(server)) ?? "", HERE);
    const path = pathname.replace(/\/+$/, "");
    return origin === HERE || !/^https?:$/.test(protocol) ? path : origin + path;
  } catch {
    return "";
  }
}

const isHiddenByScalar = (value: Json) => Boolean(value["x-internal"] || value["x-scalar-ignore"]);

/** Makes the function that makes an `id` unique, and valid in HTML: without white space. */
function createUniqueId(): (id: string) => string {
  const freeName = createFreeName(new Set(), "-");
  return (wanted) =>
    freeName(shorten(wanted, ID_LENGTH_MAX).replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent));
}

const text = (value: unknown): string => textOf(value) ?? "";
