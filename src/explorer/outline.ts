/**
 * What a reader wants to know of an OpenAPI description, taken out of a document that may hold
 * anything anywhere: what is not of the expected shape is passed over. Nothing is copied and no
 * depth is followed, so the cost is that of the operations alone.
 *
 * @module
 */
import { operationsOf } from "../http/openapi-operations.ts";
import { resolveFragment } from "../json/pointer.ts";
import { type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { shorten } from "../text.ts";

/** A description in the order it is read. */
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
  operations: Operation[];
}

/** One operation. */
export interface Operation {
  /** The fragment by which Scalar links to it as well. */
  id: string;
  /** In upper case. */
  method: string;
  path: string;
  /**
   * Its first server without a slash at the end: a URL, or a path where it is answered here.
   */
  server: string;
  summary: string;
  description: string;
  deprecated: boolean;
  parameters: Item[];
  answers: Item[];
}

/** A parameter, a content of the request or an answer. */
export interface Item {
  /** The name of a parameter, the status of an answer. */
  name: string;
  /** Where it goes, whether it must be there, its types: a few words. */
  facts: string[];
  description: string;
}

/** Scalar's name for the operations that have no tag. */
const UNTAGGED = "default";

/** Stands for this service, which does not know its own address. */
const HERE = "http://here.invalid";

/** Characters of a fragment. */
const ID_MAX = 400;

/** How far a chain of references is followed, which a cycle would make endless. */
const REFERENCES_MAX = 8;

/**
 * Reads the outline of a description.
 *
 * @param document an OpenAPI document as JSON values, whoever wrote it
 */
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

/** The operations by tag: first the tags in the order they are declared, then the others. */
function readSections(root: Json): Section[] {
  const sections = new Map<string, Section>();
  const hidden = new Set<string>();
  const unique = createUniqueId();
  const section = (name: string, description = "") => {
    const id = unique(`tag/${slug(name)}`);
    sections.set(name, { id, name, description, operations: [] });
  };
  for (const tag of listOf(root.tags).map(objectOf)) {
    const name = text(tag.name);
    if (isHidden(tag)) hidden.add(name);
    else if (name && !sections.has(name)) section(name, text(tag.description));
  }
  for (const [path, value] of Object.entries(objectOf(root.paths))) {
    const item = readPathItem(root, value);
    for (const { method, operation } of operationsOf(item)) {
      if (isHidden(operation)) continue;
      const read = readOperation(root, item, operation, method, path);
      const tags = listOf(operation.tags).map(text).filter(Boolean);
      for (const tag of new Set(tags.length > 0 ? tags : [UNTAGGED])) {
        if (hidden.has(tag)) continue;
        if (!sections.has(tag)) section(tag);
        const { id, operations } = sections.get(tag)!;
        operations.push({ ...read, id: unique(`${id}/${read.method}${path}`) });
      }
    }
  }
  return [...sections.values()].filter(({ operations }) => operations.length > 0);
}

/** A path item, whose own members come before those that its reference leads to. */
function readPathItem(root: Json, value: unknown): Json {
  const own = objectOf(value);
  return own.$ref === undefined ? own : { ...resolve(root, own), ...own };
}

function readOperation(
  root: Json,
  item: Json,
  operation: Json,
  method: string,
  path: string,
): Omit<Operation, "id"> {
  return {
    method,
    path,
    server: serverOf([operation, item, root]),
    summary: text(operation.summary) || text(operation.operationId) || path,
    description: text(operation.description),
    deprecated: operation.deprecated === true,
    parameters: [...readParameters(root, item, operation), ...readBody(root, operation)],
    answers: Object.entries(objectOf(operation.responses)).map(([status, value]) => {
      const answer = resolve(root, value);
      return {
        name: status,
        facts: Object.keys(objectOf(answer.content)),
        description: descriptionOf(root, value, answer),
      };
    }),
  };
}

/** The parameters of a path and of its operation, which replace those of the same name and place. */
function readParameters(root: Json, item: Json, operation: Json): Iterable<Item> {
  const parameters = new Map<string, Item>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = resolve(root, value);
    const [name, place] = [text(parameter.name), text(parameter.in)];
    if (!name) continue;
    const required = parameter.required === true ? ["required"] : [];
    const type = typeOf(resolve(root, parameter.schema));
    parameters.set(`${place} ${name}`, {
      name,
      facts: [place, ...type, ...required].filter(Boolean),
      description: descriptionOf(root, value, parameter),
    });
  }
  return parameters.values();
}

function readBody(root: Json, operation: Json): Item[] {
  const body = resolve(root, operation.requestBody);
  const types = Object.keys(objectOf(body.content));
  if (types.length === 0) return [];
  const required = body.required === true ? ["required"] : [];
  const description = descriptionOf(root, operation.requestBody, body);
  return [{ name: "body", facts: [...types, ...required], description }];
}

/** The type a schema names, with its format. */
function typeOf(schema: Json): string[] {
  const types = Array.isArray(schema.type) ? schema.type.map(text) : [text(schema.type)];
  return [types.filter(Boolean).slice(0, 4).join(" or "), text(schema.format)].filter(Boolean);
}

/** Follows references within the document (RFC 6901); one that leads nowhere gives no members. */
function resolve(root: Json, value: unknown): Json {
  let found = objectOf(value);
  for (let i = 0; typeof found.$ref === "string"; i++) {
    if (i === REFERENCES_MAX || !found.$ref.startsWith("#/")) return {};
    found = objectOf(resolveFragment(root, found.$ref.slice(1)));
  }
  return found;
}

/**
 * The description of something that may be a reference. What stands beside the reference comes
 * before what stands where it leads, but in OpenAPI 3.0 (3.1.1, section 4.8.23).
 */
function descriptionOf(root: Json, value: unknown, resolved: Json): string {
  const own = text(root.openapi).startsWith("3.0") ? "" : text(objectOf(value).description);
  return own || text(resolved.description);
}

/**
 * The first server of the nearest that has any. Its variables have their defaults; a URL that no
 * page could ask says nothing of where the operation is.
 */
function serverOf(holders: Json[]): string {
  const [server] = holders.map(({ servers }) => listOf(servers)).find(({ length }) => length > 0) ??
    [];
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

/** Whether Scalar passes over a tag or an operation. */
const isHidden = (value: Json) => Boolean(value["x-internal"] || value["x-scalar-ignore"]);

/**
 * Makes the function that gives each part of the page an `id` of its own, without white space, which
 * HTML does not allow there.
 */
function createUniqueId(): (id: string) => string {
  /** For each id that is taken, the number that was last put behind it. */
  const taken = new Map<string, number>();
  return (wanted) => {
    const id = shorten(wanted, ID_MAX).replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent);
    let unique = id;
    for (let i = taken.get(id) ?? 1; taken.has(unique); taken.set(id, i)) unique = `${id}-${++i}`;
    taken.set(unique, 1);
    return unique;
  };
}

/** A name as Scalar puts it in a fragment. */
function slug(name: string): string {
  return name.slice(0, 200).replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "").trim()
    .replace(/[\s_-]+/g, "-").toLowerCase();
}

const text = (value: unknown): string => textOf(value) ?? "";
