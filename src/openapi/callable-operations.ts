/**
 * Converts a description into the list of operations that the gateway uses.
 *
 * @module
 */
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../json/values.ts";
import { BY_NAME_TOO, multiSegmentOf, type SubscriptionMark } from "../kinds/interface.ts";
import { pause } from "../slices.ts";
import {
  accessOf,
  type DescribedBy,
  type DescribedHeaders,
  isParameterLocation,
  type NodeBody,
  type NodeOperation,
  type NodeParameter,
} from "./node-operation.ts";
import { type Home, homeOf, THIS_SERVICE } from "./home.ts";
import { findObstacles } from "./obstacles.ts";
import {
  followReference,
  operationsIn,
  type Parameter,
  parametersOf,
  serversFor,
} from "./operations.ts";
import { SchemaReader, typesIn } from "./parameter-schema.ts";

const NO_HEADERS: DescribedHeaders = {
  parameters: [],
  cookies: [],
  keyCookies: [],
  credentials: [],
};

export async function listNodeOperations(
  document: JsonObject,
  by: DescribedBy,
): Promise<NodeOperation[]> {
  const read = new OperationReader(document, by);
  const operations: NodeOperation[] = [];
  for (const { path, item, method, operation } of operationsIn(document)) {
    await pause();
    const home = homeOf(operation);
    if (home && !home.isMethod) {
      const isBase = path === "/" && home.path !== path;
      operations.push({ ...read.operation(home, method, operation, item), isBase });
    } else if (home && method === "POST") {
      operations.push(read.method(home, operation, isObject(item.get)));
    }
  }
  const obstacles = findObstacles(operations);
  return operations.map((operation) => ({ ...operation, ...obstacles.get(operation) }));
}

const ELSEWHERE_MAX = 20;

export function listServersElsewhere(document: JsonObject): string[] {
  const urls = new Set<string>();
  for (const { item, operation } of operationsIn(document)) {
    for (const { url } of serversFor([operation, item, document]).map(objectOf)) {
      if (urls.size === ELSEWHERE_MAX) return [...urls];
      if (typeof url === "string" && !url.startsWith(THIS_SERVICE)) urls.add(url);
    }
  }
  return [...urls];
}

class OperationReader {
  readonly #document: JsonObject;
  readonly #by: DescribedBy;
  readonly #schemas: SchemaReader;
  constructor(document: JsonObject, by: DescribedBy) {
    this.#document = document;
    this.#by = by;
    this.#schemas = new SchemaReader(document);
  }

  operation(home: Home, method: string, operation: JsonObject, item: JsonObject): NodeOperation {
    const { requestBody } = operation;
    const common = this.#common(operation);
    const found = parametersOf(this.#document, item, operation);
    return {
      ...common,
      ...home,
      method,
      parameters: found.flatMap((one) => this.#parameter(one, common.isChecked)),
      body: requestBody === undefined
        ? undefined
        : this.#body(this.#follow(requestBody), common.isChecked),
      headers: common.isUntrusted ? NO_HEADERS : this.#headers(found, operation),
    };
  }

  method(home: Home, post: JsonObject, isGettable: boolean): NodeOperation {
    const content = objectOf(objectOf(this.#follow(post.requestBody).content)["application/json"]);
    const schema = objectOf(content.schema);
    const properties = Object.entries(objectOf(schema.properties));
    const required = new Set(listOf(schema.required));
    const isKnown = post.requestBody === undefined || schema.properties !== undefined;
    const position = (value: unknown) => Number(objectOf(value)["x-position"]);
    const isByPosition = properties.some(([, value]) => position(value) >= 0);
    if (isByPosition) properties.sort(([, a], [, b]) => position(a) - position(b));
    const common = this.#common(post);
    const parameters = properties.map(([name, value]): NodeParameter => {
      const heavyFrom = objectOf(value)["x-heavy-from"] ?? this.#follow(value)["x-heavy-from"];
      return {
        name,
        in: "body",
        isRequired: required.has(name),
        schema: common.isChecked ? this.#schemas.read(value) : undefined,
        types: typesIn(this.#document, value),
        heavyFrom: /^(?:number|string)$/.test(typeof heavyFrom)
          ? heavyFrom as number | string
          : undefined,
      };
    });
    return {
      ...common,
      ...home,
      method: "POST",
      parameters: isKnown ? parameters : undefined,
      isByPosition,
      isByNameToo: post[BY_NAME_TOO] === true,
      isGettable,
      headers: NO_HEADERS,
    };
  }

  #common(operation: JsonObject) {
    const access = accessOf(operation);
    return {
      operationId: textOf(operation.operationId),
      access,
      // Methods that the node reports but the kind does not describe have no `x-access`.
      isUntrusted: this.#by === "network" || (this.#by === "kind" && access === undefined),
      isHeavy: operation["x-cost"] === "heavy",
      isStreaming: operation["x-streaming"] === true,
      subscription: operation["x-subscription"] as SubscriptionMark | undefined,
      isOfConnection: operation["x-connection"] === true,
      isLongPoll: operation["x-streaming"] === "waits",
      isChecked: operation["x-checked"] === true,
    } as const;
  }

  #parameter({ parameter, name, place }: Parameter, isChecked: boolean): NodeParameter[] {
    if (!isParameterLocation(place)) return [];
    const content = objectOf(Object.values(objectOf(parameter.content))[0]);
    const isForm = parameter.style === undefined || parameter.style === "form";
    const schema = parameter.schema ?? content.schema;
    return [{
      name,
      in: place,
      isRequired: parameter.required === true || place === "path",
      schema: isChecked ? this.#schemas.read(schema) : undefined,
      isExploded: place === "query" && isForm && parameter.explode !== false,
      // In a description from the network, a multi-segment parameter could match the paths of
      // other operations.
      multiSegment: this.#by === "network" ? undefined : multiSegmentOf(parameter),
    }];
  }

  #body(body: JsonObject, isChecked: boolean): NodeBody {
    const content = isChecked ? Object.entries(objectOf(body.content)) : [];
    const schemas = content.map(([type, media]) => [
      withoutParameters(type.toLowerCase()),
      this.#schemas.read(this.#follow(media).schema),
    ]);
    return { isRequired: body.required === true, schemas: Object.fromEntries(schemas) };
  }

  #headers(
    parameters: readonly Parameter[],
    { security = this.#document.security }: JsonObject,
  ): DescribedHeaders {
    const known = objectOf(objectOf(this.#document.components).securitySchemes);
    const schemes = listOf(security).flatMap((requirement) => Object.keys(objectOf(requirement)))
      .map((name) => this.#follow(known[name]));
    const keysIn = (place: string) =>
      schemes.filter((scheme) => scheme.type === "apiKey" && scheme.in === place)
        .map(({ name }) => String(name));
    const namesIn = (wanted: string) =>
      parameters.filter(({ place }) => place === wanted).map(({ name }) => name);
    const keyCookies = keysIn("cookie");
    const isAuthorized = schemes.some(({ type }) =>
      ["http", "oauth2", "openIdConnect"].includes(String(type))
    );
    return {
      parameters: namesIn("header").map(lowerCase),
      cookies: namesIn("cookie").filter((name) => !keyCookies.includes(name)),
      keyCookies,
      credentials: [...keysIn("header").map(lowerCase), ...isAuthorized ? ["authorization"] : []],
    };
  }

  #follow(value: unknown): JsonObject {
    return followReference(this.#document, value);
  }
}

const lowerCase = (name: string): string => name.toLowerCase();

export const withoutParameters = (type: string): string => type.split(";")[0]!.trim();
