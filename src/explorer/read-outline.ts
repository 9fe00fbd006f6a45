/**
 * Extracts what the page shows from an OpenAPI document. The document is untrusted: values of an
 * unexpected shape are ignored.
 *
 * @module
 */
import { callNoteOf } from "../gateway/annotate-operations.ts";
import { followReference, operationsOf, serversFor } from "../openapi/operations.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { nameOfNodeOperation } from "../openapi/callable-operations.ts";
import { TAG as SERVICE_TAG } from "../openapi/merge.ts";
import { createFreeName, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import { anchorOf, methodNameOf, tagFragment, UNTAGGED, wordsOf } from "./labels.ts";
import { type Form, parametersOf, readForm, typeOf } from "./read-form.ts";
import {
  createFieldReader,
  nameType,
  type Rule,
  rulesOf,
  type SchemaField,
} from "./read-schema.ts";

export interface Outline {
  title: string;
  version: string;
  summary: string;
  description: string;
  sections: Section[];
  calls: CallCounts;
}

/** The operations of the node, counted. */
export interface CallCounts {
  total: number;
  /** Those that are marked as reads. */
  reads: number;
  /** Those of REST that are a `GET`. */
  gets: number;
  public: number;
  token: number;
  /** False where calls are switched off. */
  isOn: boolean;
  /** True if all of them are methods of JSON-RPC. */
  areMethods: boolean;
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
  /** The first server without a final slash: a URL, or a path on this service. */
  server: string;
  /** The name of a method of JSON-RPC, the summary of any other. */
  title: string;
  /** Empty where it is the title. */
  summary: string;
  description: string;
  deprecated: boolean;
  /** The permission of a forwarded call; `undefined` where another server responds. */
  call: "open" | "token" | "refused" | undefined;
  callSentence: string;
  marks: string[];
  isCommon: boolean;
  /** True if it can be posted as well, with its parameters as an object. */
  isPostedToo: boolean;
  /** True if the API sends it, to whoever wants to be told of something; its name stands for a path. */
  isWebhook: boolean;
  parameters: Item[];
  /** `undefined` where it has none, or its fields are the parameters of a method. */
  body: Item | undefined;
  responses: Item[];
  /** `undefined` where it cannot be tried here. */
  form: Form | undefined;
}

/** A parameter, a request body or a response. */
export interface Item {
  /** The name of a parameter, the status of a response, or the type of a body. */
  name: string;
  /** Such as `query`, `string`, `required`. */
  facts: string[];
  description: string;
  rules: readonly Rule[];
  /** The fields of what it holds. */
  fields: readonly SchemaField[];
}

type FieldReader = ReturnType<typeof createFieldReader>;

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
    calls: countCalls(root),
  };
}

function countCalls(root: Json): CallCounts {
  const counts = { total: 0, reads: 0, gets: 0, public: 0, token: 0, isOn: false };
  let methods = 0;
  const names = new Set<string>();
  for (const [path, value] of Object.entries(objectOf(root.paths))) {
    const item = objectOf(value);
    for (const located of operationsOf(item)) {
      const name = nameOfNodeOperation(root, path, item, located);
      // A method of JSON-RPC may have a GET and a POST.
      if (name === undefined || names.has(name)) continue;
      names.add(name);
      const right = callNoteOf(located.operation)?.right;
      counts.total++;
      counts.isOn ||= right !== undefined;
      if (methodNameOf(path)) methods++;
      else if (located.method === "GET") counts.gets++;
      if (located.operation["x-access"] === "read") counts.reads++;
      if (right === "open") counts.public++;
      if (right === "token") counts.token++;
    }
  }
  return { ...counts, areMethods: methods === counts.total };
}

function readSections(root: Json): Section[] {
  const sections = new Map<string, Section>();
  const hidden = new Set<string>();
  const unique = createUniqueId();
  const anchors = new Set<string>();
  const room = { left: ITEMS_MAX };
  const fieldsOf = createFieldReader(root);
  const section = (name: string, description = "") => {
    const id = unique(tagFragment(name));
    const isService = name === SERVICE_TAG;
    sections.set(name, { id, name, description, operations: [], isService });
  };
  /** Lists the sections of an operation's tags, which are made where they are not declared. */
  const sectionsOf = (operation: Json, untagged: string): Section[] => {
    const tags = tagsOf(operation);
    return [...new Set(tags.length > 0 ? tags : [untagged])].filter((tag) => !hidden.has(tag))
      .map((tag) => {
        if (!sections.has(tag)) section(tag);
        return sections.get(tag)!;
      });
  };
  for (const tag of listOf(root.tags).map(objectOf)) {
    const name = text(tag.name);
    if (isHiddenByScalar(tag)) hidden.add(name);
    else if (name && !sections.has(name)) section(name, text(tag.description));
  }
  const readItem = (path: string, value: unknown, isWebhook: boolean) => {
    const item = readPathItem(root, value);
    const isPostedToo = !isWebhook && methodNameOf(path) !== "" && item[ONE_METHOD] === true;
    for (const { method, operation } of operationsOf(item)) {
      if (isHiddenByScalar(operation) || (isPostedToo && method === "POST")) continue;
      const read = {
        ...readOperation(root, item, operation, method, path, room, fieldsOf),
        ...{ isPostedToo, isWebhook },
        ...isWebhook && { form: undefined },
      };
      const wanted = isWebhook ? "" : anchorOf(path, operation);
      const isTagged = tagsOf(operation).length > 0;
      for (const { id, operations } of sectionsOf(operation, isWebhook ? WEBHOOKS : UNTAGGED)) {
        const place = isWebhook ? `webhook/${method}/${path}` : `${method}${path}`;
        const whole = isWebhook && !isTagged ? place : `${id}/${place}`;
        operations.push({ ...read, id: unique(whole), anchor: anchors.has(wanted) ? "" : wanted });
        anchors.add(wanted);
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

const tagsOf = (operation: Json): string[] => listOf(operation.tags).map(text).filter(Boolean);

/** The members of a path item override those of the item it refers to. */
function readPathItem(root: Json, value: unknown): Json {
  const own = objectOf(value);
  return own.$ref === undefined ? own : { ...followReference(root, own), ...own };
}

function readOperation(
  root: Json,
  item: Json,
  operation: Json,
  method: string,
  path: string,
  room: { left: number },
  fieldsOf: FieldReader,
): Omit<Operation, "id" | "anchor" | "isPostedToo" | "isWebhook"> {
  const summary = text(operation.summary);
  const note = callNoteOf(operation);
  const rpcName = methodNameOf(path);
  const server = serverOf([operation, item, root]);
  const isCalled = note
    ? note.right !== "refused"
    : nameOfNodeOperation(root, path, item, { method, operation }) === undefined;
  const hasRoom = room.left > 0;
  const body = hasRoom ? readBody(root, operation, fieldsOf) : undefined;
  const parameters = !hasRoom ? [] : [
    ...readParameters(root, item, operation),
    // The parameters of a method are the properties of its body.
    ...rpcName ? readProperties(root, operation, fieldsOf) : [],
  ];
  const responses = hasRoom ? readResponses(root, operation, fieldsOf) : [];
  const hasForm = isCalled && hasRoom;
  for (const { facts } of [...parameters, ...responses]) room.left -= 1 + facts.length;
  return {
    method,
    path,
    server,
    title: rpcName || summary || text(operation.operationId) || path,
    summary: rpcName ? summary : "",
    description: note?.description ?? text(operation.description),
    deprecated: operation.deprecated === true,
    call: note?.right,
    callSentence: note?.sentence ?? "",
    marks: wordsOf(operation),
    isCommon: operation["x-common"] === true,
    parameters,
    body: rpcName ? undefined : body,
    responses,
    form: hasForm ? readForm(root, item, operation, method, !/^https?:/.test(server)) : undefined,
  };
}

/** Texts that OpenAPI asks for, and that say no more than the type does. */
const FILLERS = new Set(["The result.", "The answer.", "It is done.", "It was not done."]);

function readResponses(root: Json, operation: Json, fieldsOf: FieldReader): Item[] {
  return Object.entries(objectOf(operation.responses)).map(([status, value]) => {
    const response = followReference(root, value);
    const { types, schema } = contentOf(root, response);
    const description = descriptionOf(root, value, response);
    const type = nameType(root, schema);
    const isProblem = types[0] === "application/problem+json";
    // JSON is what a type with a name is in.
    const isPlain = type !== "" && types.join() === "application/json";
    return {
      name: status,
      facts: isProblem || type === "" ? types : isPlain ? [type] : [type, ...types],
      description: type !== "" && FILLERS.has(description) ? "" : description,
      rules: [],
      fields: isProblem ? [] : fieldsOf(schema),
    };
  });
}

/** Reads the media types of a content, and the schema of the first one. */
function contentOf(root: Json, { content }: Json): { types: string[]; schema: unknown } {
  const types = Object.keys(objectOf(content));
  const schema = types[0] === undefined
    ? undefined
    : followReference(root, objectOf(content)[types[0]]).schema;
  return { types, schema };
}

function readParameters(root: Json, item: Json, operation: Json): Item[] {
  return parametersOf(root, item, operation).map(({ value, parameter }) => {
    const required = parameter.required === true ? ["required"] : [];
    const schema = followReference(root, parameter.schema);
    const example = parameter.example === undefined ? {} : { example: parameter.example };
    return {
      name: text(parameter.name),
      facts: [text(parameter.in), ...typeOf(schema), ...required].filter(Boolean),
      description: descriptionOf(root, value, parameter) || text(schema.description),
      rules: rulesOf({ ...schema, ...example }),
      fields: [],
    };
  });
}

function readBody(root: Json, operation: Json, fieldsOf: FieldReader): Item | undefined {
  const body = followReference(root, operation.requestBody);
  const { types, schema } = contentOf(root, body);
  if (types.length === 0) return undefined;
  const required = body.required === true ? ["required"] : [];
  const description = descriptionOf(root, operation.requestBody, body);
  const facts = [...types.slice(1), ...required];
  return {
    name: types[0]!,
    facts: [nameType(root, schema), ...facts].filter(Boolean),
    description,
    rules: [],
    fields: fieldsOf(schema),
  };
}

function readProperties(root: Json, operation: Json, fieldsOf: FieldReader): Item[] {
  const { content } = followReference(root, operation.requestBody);
  const json = followReference(root, objectOf(content)["application/json"]);
  const { properties, required } = followReference(root, json.schema);
  const names = new Set(listOf(required));
  return Object.entries(objectOf(properties)).map(([name, value]) => {
    const property = followReference(root, value);
    const needed = names.has(name) ? ["required"] : [];
    return {
      name,
      facts: ["body", ...typeOf(property), ...needed],
      description: descriptionOf(root, value, property),
      rules: rulesOf(property),
      fields: fieldsOf(value),
    };
  });
}

/** A description beside a `$ref` overrides the target's since OpenAPI 3.1 (3.1.1, section 4.8.23). */
function descriptionOf(root: Json, value: unknown, resolved: Json): string {
  const own = text(root.openapi).startsWith("3.0") ? "" : text(objectOf(value).description);
  return own || text(resolved.description);
}

/** Finds the first server of the first holder that has one, with defaults for its variables; empty if it is not of HTTP. */
function serverOf(holders: Json[]): string {
  const [server] = serversFor(holders);
  const variables = objectOf(objectOf(server).variables);
  const address = text(objectOf(server).url).replace(
    /\{([^{}]*)\}/g,
    (_, name) => Object.hasOwn(variables, name) ? text(objectOf(variables[name]).default) : "",
  );
  try {
    const { protocol, origin, pathname } = new URL(address, HERE);
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
