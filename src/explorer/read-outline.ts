/**
 * Extracts the page's content from an untrusted OpenAPI document. Values of unexpected types are ignored.
 *
 * @module
 */
import { callNoteOf } from "../gateway/annotate-operations.ts";
import { createFreeName, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { ONE_METHOD } from "../kinds/interface.ts";
import { nameOfNodeOperation } from "../openapi/callable-operations.ts";
import { TAG as SERVICE_TAG } from "../openapi/merge.ts";
import {
  followReference,
  type LocatedOperation,
  operationsOf,
  serversFor,
} from "../openapi/operations.ts";
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

/** A tag with its operations, the common ones first. */
export interface Section {
  id: string;
  name: string;
  description: string;
  operations: Operation[];
  isService: boolean;
}

export interface Operation {
  /** The URL fragment in Scalar. */
  id: string;
  /** The short URL fragment. Set only under the operation's first tag; empty if the operation has no safe name. */
  anchor: string;
  method: string;
  path: string;
  /** The name of a JSON-RPC method; the summary of any other operation. */
  title: string;
  /** Empty if the summary is the title. */
  summary: string;
  description: string;
  deprecated: boolean;
  marks: string[];
  isCommon: boolean;
  /** The operation's name in settings; `undefined` if it is not called at the node. */
  nodeName: string | undefined;
  isMethod: boolean;
  /** True for a GET whose equivalent POST is not shown. */
  isPostedToo: boolean;
  /** True if the API sends this request to subscribers; `path` is then the webhook's name. */
  isWebhook: boolean;
  call: "open" | "token" | "refused" | undefined;
  callSentence: string;
  items: readonly (readonly [heading: string, items: readonly Item[]])[];
  /** `undefined` if the operation cannot be tried here. */
  form: FormData | undefined;
}

/** Stands for the origin of this service. */
const HERE = "http://here.invalid";
/** The maximum number of parameters, responses and facts to read; no page has room for more. */
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
  const anchors = new Set<string>();
  const read = createOperationReader(root);
  const freeName = createFreeName(new Set(), "-");
  const unique = (wanted: string) =>
    freeName(shorten(wanted, 400).replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent));
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
    const own = objectOf(value);
    // The item's members override those of the item that it refers to.
    const item = own.$ref === undefined ? own : { ...followReference(root, own), ...own };
    const isPostedToo = !isWebhook && methodNameOf(path) !== "" && item[ONE_METHOD] === true;
    for (const located of operationsOf(item)) {
      const { method, operation } = located;
      if (isHiddenByScalar(operation) || (isPostedToo && method === "POST")) continue;
      const made = { ...read(item, located, path, isWebhook), isPostedToo };
      const anchor = isWebhook ? "" : anchorOf(path, operation);
      const tags = listOf(operation.tags).map(text).filter(Boolean);
      const names = tags.length > 0 ? tags : [isWebhook ? "Webhooks" : UNTAGGED];
      for (const name of new Set(names)) {
        if (hidden.has(name)) continue;
        const { id, operations } = sectionOf(name);
        const place = isWebhook ? `webhook/${method}/${path}` : `${method}${path}`;
        operations.push({
          ...made,
          id: unique(isWebhook && tags.length === 0 ? place : `${id}/${place}`),
          anchor: anchors.has(anchor) ? "" : anchor,
        });
        anchors.add(anchor);
      }
    }
  };
  for (const [path, value] of Object.entries(objectOf(root.paths))) readItem(path, value, false);
  for (const [name, value] of Object.entries(objectOf(root.webhooks))) readItem(name, value, true);
  const shown = [...sections.values()].filter(({ operations }) => operations.length > 0);
  for (const { operations } of shown) {
    operations.sort((a, b) => Number(b.isCommon) - Number(a.isCommon));
  }
  return shown.sort((a, b) => Number(a.isService) - Number(b.isService));
}

function createOperationReader(root: Json) {
  const readItems = createItemReader(root);
  let left = ITEMS_MAX;
  return (item: Json, located: LocatedOperation, path: string, isWebhook: boolean) => {
    const { method, operation } = located;
    const note = callNoteOf(operation);
    const rpcName = methodNameOf(path);
    const nodeName = isWebhook ? undefined : nameOfNodeOperation(root, path, item, located);
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

const FILLERS = ["The result.", "The answer.", "It is done.", "It was not done."];

function createItemReader(root: Json) {
  const fieldsOf = createFieldReader(root);
  const readParameter = ({ value, parameter }: Parameter): Item => {
    const schema = followReference(root, parameter.schema);
    const { example = schema.example, required } = parameter;
    return {
      name: text(parameter.name),
      facts: factsOf(text(parameter.in), ...typeOf(schema), required === true && "required"),
      description: descriptionOf(root, value, parameter) || text(schema.description),
      rules: rulesOf({ ...schema, example }),
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
      fields: fieldsOf(schema),
    }];
  };

  /** Reads the parameters of a JSON-RPC method: the properties of its body. */
  const readProperties = (value: unknown): Item[] =>
    fieldsOf(contentOf(root, followReference(root, value)).schema, LEVELS + 1)
      .map((item) => ({ ...item, facts: ["body", ...item.facts] }));

  const readResponse = ([status, value]: [string, unknown]): Item => {
    const response = followReference(root, value);
    const { types, schema } = contentOf(root, response);
    const description = descriptionOf(root, value, response);
    const type = nameType(root, schema);
    const isProblem = types[0] === "application/problem+json";
    // If the schema of a JSON response has a type, only the type is shown, not the media type.
    const isPlain = type !== "" && types.join() === "application/json";
    return {
      name: status,
      facts: isProblem ? types : factsOf(type, ...isPlain ? [] : types),
      description: type !== "" && FILLERS.includes(description) ? "" : description,
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

function contentOf(root: Json, { content }: Json): { types: string[]; schema: unknown } {
  const types = Object.keys(objectOf(content));
  return { types, schema: followReference(root, objectOf(content)[types[0] ?? ""]).schema };
}

/** Returns the URL of the first server; only its path if the URL is relative or not HTTP. */
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
const text = (value: unknown): string => textOf(value) ?? "";
