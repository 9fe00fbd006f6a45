/**
 * Converts OpenRPC 1.3 to OpenAPI 3.1. Each method becomes `POST /v1/rpc/{method}` with an object
 * of named parameters. A `read` method with only scalar parameters, or whose notifications are
 * events, also becomes `GET`, with the parameters in the query.
 *
 * @module
 */
import {
  createFreeName,
  estimateSize,
  filled,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  onceFor,
  present,
  resolveFragment,
  setMember,
  textOf,
  valueAt,
} from "../json/values.ts";
import { LIMITS } from "./diagnostics.ts";
import { BY_NAME_TOO, ONE_METHOD } from "../kinds/interface.ts";
import { pause } from "../slices.ts";
import { pathOfMethod, THIS_SERVICE } from "./home.ts";
import { followReference } from "./operations.ts";
import { mapSchemas } from "./structure.ts";
import { typesIn } from "./parameter-schema.ts";

/** Types of values that a query can hold. */
const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean"]);

/** Converts a schema from draft 7 (OpenRPC) to 2020-12 (OpenAPI 3.1). */
function upgradeSchema(value: JsonObject): JsonObject {
  // The schemas of Lotus nodes contain `media`, a keyword of JSON Hyper-Schema draft 4.
  const { media, ...others } = value;
  const { binaryEncoding: contentEncoding } = objectOf(media);
  const schema = typeof contentEncoding === "string" ? { ...others, contentEncoding } : value;
  if (!Array.isArray(schema.items)) return schema;
  const { items: prefixItems, additionalItems: items, ...rest } = schema;
  return present({ ...rest, prefixItems: filled(prefixItems), items });
}

const PROBLEM = {
  description: "An error, as problem details (RFC 9457).",
  content: {
    "application/problem+json": {
      schema: {
        type: "object",
        properties: {
          type: { type: "string" },
          title: { type: "string" },
          status: { type: "integer" },
          detail: { type: "string" },
          code: { type: "integer", description: "The code of the node's own error." },
          message: { type: "string", description: "The message of the node's own error." },
          data: { description: "Further data of the node's own error." },
          errors: {
            type: "array",
            description: "The invalid parameters.",
            items: {
              type: "object",
              properties: {
                in: { type: "string" },
                name: { type: "string" },
                rule: { type: "string" },
              },
            },
          },
        },
      },
    },
  },
};

const ANY_PARAMS = {
  requestBody: {
    description: "The parameters by name or by position.",
    content: { "application/json": { schema: { anyOf: [{ type: "object" }, { type: "array" }] } } },
  },
};

/**
 * @param openrpc a document, or a part of a document; invalid parts are omitted
 * @throws {RangeError} if the total size of parameters and results is too large
 */
export async function openApiOfMethods(
  openrpc: unknown,
): Promise<{ paths: JsonObject; components: JsonObject; tags: readonly JsonObject[] }> {
  const document = objectOf(await mapSchemas(openrpc, { openrpc: "1.3" }, upgradeSchema));
  const follow = followerOf(document);
  const methods = new Map<string, JsonObject>();
  for (const method of listOf(document.methods).map(follow)) {
    const name = textOf(method.name);
    if (name && !methods.has(name)) methods.set(name, method);
  }
  // Many methods may share an example with many parameters.
  const readExample = onceFor((example: JsonObject): JsonObject => ({
    ...example,
    params: listOf(example.params).map(follow),
    result: follow(example.result),
  }));
  const freeId = createFreeName(new FilesOfOperations(), "_");
  const ids = new Map([...methods.keys()].map((name) => [name, freeId(name)]));
  const paths: JsonObject = {};
  const tags = new Map<string, JsonObject>();
  const sizes = new Map<unknown, number>();
  let left: number = LIMITS.added;
  for (const [name, method] of methods) {
    await pause();
    const parts = partsOfMethod(method, follow, readExample);
    for (const part of sizedIn(parts)) left -= estimateSize(part, sizes);
    if (left < 0) throw new RangeError("the converted document would be many times larger");
    for (const tag of parts.tags) addTag(tags, tag);
    const takesScalars = parts.isKnown &&
      parts.params.every(({ schema }) =>
        typesIn(document, schema).some((type) => SCALARS.has(type))
      );
    // Browsers read events by GET only.
    const isGettable = method["x-access"] === "read" && (takesScalars || isSubscription(method));
    const id = ids.get(name)!;
    setMember(paths, pathOfMethod(name), {
      ...isGettable &&
        { [ONE_METHOD]: true, get: operationOf(parts, id, byQuery(document, parts)) },
      post: {
        ...operationOf(parts, isGettable ? freeId(`${id}_post`) : id, byBody(parts)),
        ...isEither(method) && parts.params.length > 0 && { [BY_NAME_TOO]: true },
      },
    });
  }
  return {
    paths,
    components: {
      schemas: objectOf(objectOf(document.components).schemas),
      responses: { RpcProblem: PROBLEM },
    },
    tags: [...tags.values()],
  };
}

type Follow = (value: unknown) => JsonObject;

/** Returns a function that reads each reference once: many places may lead to a long one. */
function followerOf(document: JsonObject): Follow {
  const targets = new Map<string, unknown>();
  const resolve = (ref: string) => {
    if (!targets.has(ref)) targets.set(ref, resolveFragment(document, ref.slice(1)));
    return targets.get(ref);
  };
  return (value) => followReference(document, value, resolve);
}

/** Follows the references of a method. */
function partsOfMethod(
  method: JsonObject,
  follow: Follow,
  readExample: (example: JsonObject) => JsonObject,
): Parts {
  const params = listOf(method.params).map(follow);
  const isByPosition = method.paramStructure !== "by-name";
  const isKnown = method.params !== undefined && !(isByPosition && hasRepeatedName(params));
  const withPosition = (param: JsonObject, at: number) => ({ ...param, "x-position": at });
  return {
    method,
    isKnown,
    params: !isKnown ? [] : isByPosition ? params.map(withPosition) : params,
    result: follow(method.result),
    errors: listOf(method.errors).map(follow),
    examples: listOf(method.examples).map(follow).map(readExample),
    tags: listOf(method.tags).map(follow).filter((tag) => textOf(tag.name) !== undefined),
  };
}

const sizedIn = (
  { params, result, errors, examples, tags }: Parts,
): JsonObject[] => [...params, result, ...errors, ...examples, ...tags];

/** A tag keeps the description that an earlier method gives it. */
function addTag(tags: Map<string, JsonObject>, { name, description, summary }: JsonObject): void {
  const tag = textOf(name)!;
  const known = textOf(description ?? summary) ?? tags.get(tag)?.description;
  tags.set(tag, present({ name: tag, description: known }));
}

const isEither = ({ paramStructure = "either" }: JsonObject): boolean =>
  paramStructure === "either";

/** A name is the place of a parameter, so two parameters cannot share it. */
const hasRepeatedName = (params: readonly JsonObject[]): boolean =>
  new Set(params.map(({ name }) => name)).size < params.length;

export async function openApiOfOpenRpc(openrpc: JsonObject): Promise<JsonObject> {
  return present({
    openapi: "3.1.1",
    info: openrpc.info ?? { title: "", version: "" },
    externalDocs: openrpc.externalDocs,
    servers: [{ url: THIS_SERVICE }],
    ...await openApiOfMethods(openrpc),
  });
}

interface Parts {
  readonly method: JsonObject;
  /** False if any parameters may be sent. */
  readonly isKnown: boolean;
  readonly params: readonly JsonObject[];
  readonly result: JsonObject;
  readonly errors: readonly JsonObject[];
  readonly examples: readonly JsonObject[];
  /** The tags that have a name. */
  readonly tags: readonly JsonObject[];
}

/**
 * The names of operations. Generators of clients, such as kubb, make files of them that some disks
 * cannot tell apart if only case or underscores differ, as in `get_block` and `getblock`.
 */
class FilesOfOperations {
  readonly #files = new Set<string>();

  has(name: string): boolean {
    return this.#files.has(fileOf(name));
  }

  add(name: string): void {
    this.#files.add(fileOf(name));
  }
}

const fileOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Tells whether the notifications are available as events. */
const isSubscription = (method: JsonObject): boolean =>
  method["x-subscription"] !== undefined && method["x-connection"] === undefined;

const EVENTS = {
  description: "Each notification as an event, whose data is JSON.",
  content: { "text/event-stream": { schema: { type: "string" } } },
};

function operationOf(parts: Parts, operationId: string, input: JsonObject): JsonObject {
  const { method, result, tags } = parts;
  const { summary, description, externalDocs, deprecated } = method;
  const examples = examplesOf(parts, (example) => objectOf(example.result).value);
  return present({
    operationId,
    summary,
    description,
    externalDocs,
    deprecated,
    tags: filled(tags.map(({ name }) => textOf(name)!)),
    ...input,
    responses: {
      200: isSubscription(method) ? EVENTS : {
        description: textOf(result.description ?? result.summary) ?? "",
        content: {
          "application/json": present({ schema: result.schema ?? {}, examples }),
        },
      },
      default: present({
        $ref: "#/components/responses/RpcProblem",
        description: describeErrors(parts),
      }),
    },
    ...marksOf(method),
  });
}

/** Lists the errors of a method, such as `- 24: Block not found`. */
function describeErrors({ errors }: Parts): string | undefined {
  const lines = errors.flatMap(({ code, message }) => {
    const texts = [textOf(code), textOf(message)].filter((text) => text !== undefined);
    return texts.length > 0 ? `- ${texts.join(": ")}` : [];
  });
  return filled(lines) && [PROBLEM.description, "The node's own errors:", lines.join("\n")]
    .join("\n\n");
}

function byQuery(document: JsonObject, { params, examples: [example = {}] }: Parts): JsonObject {
  if (params.length === 0) return {};
  const values = paramsOfExample(params, example);
  const parameters = params.map((param) => {
    const media = present({
      schema: param.schema ?? {},
      example: valueAt(values, [String(param.name)]),
    });
    return present({
      name: textOf(param.name) ?? "",
      in: "query",
      ...aboutParam(param),
      required: param.required === true || undefined,
      ...isJsonInQuery(document, param.schema) ? { content: { "application/json": media } } : media,
      ...marksOf(param),
    });
  });
  return { parameters };
}

/** The service takes a list or an object as one JSON text, unlike any style of OpenAPI. */
function isJsonInQuery(document: JsonObject, schema: unknown): boolean {
  const types = typesIn(document, schema);
  return !types.includes("string") && types.some((type) => type === "array" || type === "object");
}

function byBody(parts: Parts): JsonObject {
  const { isKnown, params } = parts;
  if (!isKnown) return ANY_PARAMS;
  if (params.length === 0) return {};
  const properties = Object.fromEntries(params.map((param) => {
    const known = param.schema === false ? { not: {} } : objectOf(param.schema);
    return [textOf(param.name) ?? "", { ...known, ...aboutParam(param), ...marksOf(param) }];
  }));
  const required = params.filter((param) => param.required === true).map(({ name }) => name);
  const schema = present({
    type: "object",
    properties,
    required: filled(required),
    additionalProperties: false,
  });
  const examples = examplesOf(parts, (example) => paramsOfExample(params, example));
  return {
    requestBody: present({
      required: required.length > 0 || undefined,
      content: { "application/json": present({ schema, examples }) },
    }),
  };
}

function aboutParam(param: JsonObject): JsonObject {
  return present({
    description: textOf(param.description ?? param.summary),
    deprecated: param.deprecated === true || undefined,
  });
}

/**
 * OpenRPC pairs the values of an example with the parameters by position. The name of a value names
 * the example, but many documents write the name of a parameter there, and omit other parameters.
 */
function paramsOfExample(params: readonly JsonObject[], example: JsonObject): JsonObject {
  const given = listOf(example.params).map(objectOf);
  const known = new Set(params.map(({ name }) => textOf(name)));
  const named = new Set(given.map(({ name }) => textOf(name)).filter((name) => known.has(name)));
  const isByName = named.size === given.length;
  const pairs = given.flatMap(({ name, value }, at) => {
    const target = textOf(isByName ? name : params[at]?.name);
    return target === undefined || value === undefined ? [] : [[target, value] as const];
  });
  return Object.fromEntries(pairs);
}

function examplesOf(
  { examples }: Parts,
  partOf: (example: JsonObject) => unknown,
): JsonObject | undefined {
  const all: JsonObject = {};
  const freeName = createFreeName(new Set());
  for (const example of examples) {
    const value = partOf(example);
    if (value === undefined) continue;
    const [summary, description] = [textOf(example.summary), textOf(example.description)];
    const name = freeName(textOf(example.name) ?? "example");
    setMember(all, name, present({ summary, description, value }));
  }
  return filled(all);
}

const marksOf = (object: JsonObject): JsonObject =>
  mapMembers(object, (member, key) => key.startsWith("x-") ? member : undefined);
