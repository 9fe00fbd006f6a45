/**
 * Converts a description into the list of operations that the gateway uses.
 *
 * @module
 */
import { byRank, PathTemplate } from "../http/path-template.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { type MultiSegment, multiSegmentOf, type SubscriptionMark } from "../kinds/interface.ts";
import { pause } from "../slices.ts";
import { parsePercent } from "../untrusted-text.ts";
import { pathOfMethod } from "./openrpc.ts";
import {
  followReference,
  operationsIn,
  type Parameter,
  parametersOf,
  type PathOperation,
  serversFor,
} from "./operations.ts";
import { baseAtNode, onlyUrl, THIS_SERVICE } from "./servers.ts";
import { SchemaReader, typesIn } from "./parameter-schema.ts";

export interface NodeParameter {
  readonly name: string;
  readonly in: ParameterPlace | "body";
  readonly isRequired: boolean;
  /** The schema without references, present only if the operation is marked `x-checked`. */
  readonly schema?: Json | undefined;
  /** The types that the schema allows: see {@linkcode typesIn}. Present only for methods. */
  readonly types?: readonly string[] | undefined;
  /** From this number on, or with this text, a call of the method is heavy. */
  readonly heavyFrom?: number | string | undefined;
  /**
   * True if a list is sent as a repeated parameter, false if it is sent as one comma-separated
   * value.
   */
  readonly isExploded?: boolean;
  readonly multiSegment?: MultiSegment | undefined;
}

/** The request headers that an operation describes, with names in lower case. */
export interface DescribedHeaders {
  readonly parameters: readonly string[];
  /** The names of cookies that are parameters. */
  readonly cookies: readonly string[];
  /** The names of cookies of security schemes. */
  readonly keyCookies: readonly string[];
  /** The headers of security schemes, which carry a client's own credentials for the node. */
  readonly credentials: readonly string[];
}

const NO_HEADERS: DescribedHeaders = {
  parameters: [],
  cookies: [],
  keyCookies: [],
  credentials: [],
};

interface NodeBody {
  readonly isRequired: boolean;
  /** The schemas by media type, empty unless the operation is marked `x-checked`. */
  readonly schemas: Readonly<Record<string, Json>>;
}

export interface NodeOperation {
  /**
   * The operation's name in settings and in the log, such as `getblock` or `GET /blocks/{height}`.
   */
  readonly name: string;
  readonly operationId: string | undefined;
  /** True for JSON-RPC, false for REST. */
  readonly isMethod: boolean;
  readonly method: string;
  /** The path template below the node's URL, including the base path. Empty for JSON-RPC. */
  readonly path: string;
  /** True for `/` below a base path: the node also has the base path without a slash. */
  readonly isBase?: boolean;
  readonly access: "read" | "write" | "secret" | undefined;
  /**
   * True if the description comes from the network, or if the kind does not describe the operation.
   * For an untrusted operation, the gateway trusts neither the `operationId` nor the path.
   */
  readonly isUntrusted: boolean;
  readonly isHeavy: boolean;
  readonly isStreaming: boolean;
  /** Present for a method that is called over WebSocket, or for events. */
  readonly subscription?: SubscriptionMark | undefined;
  /** True for a method whose effect belongs to the connection that calls it. */
  readonly isOfConnection?: boolean;
  /** True if the node responds once, but only after an event or after a time. */
  readonly isLongPoll?: boolean;
  /**
   * `undefined` if the parameters are unknown. If `isByPosition` is true, the parameters are sorted
   * by position.
   */
  readonly parameters: readonly NodeParameter[] | undefined;
  /** True if a JSON-RPC call sends its parameters as a list. */
  readonly isByPosition?: boolean;
  /** True if a JSON-RPC method can also be called with GET. */
  readonly isGettable?: boolean;
  readonly body?: NodeBody | undefined;
  /** True if a call must be as described, since its safety depends on a parameter. */
  readonly isChecked: boolean;
  /** Empty if the operation is untrusted: its description could ask for credentials. */
  readonly headers: DescribedHeaders;
  readonly obstacle?: string | undefined;
  /**
   * The name of an operation with an equal path template: calls of this operation are calls of that
   * one.
   */
  readonly twin?: string | undefined;
}

/**
 * The source of a description. `operator` means that the description was given as a file or as
 * text.
 */
export type DescribedBy = "operator" | "kind" | "network";

export async function listNodeOperations(
  document: Json,
  by: DescribedBy,
): Promise<NodeOperation[]> {
  const read = new OperationReader(document, by);
  const operations: NodeOperation[] = [];
  for (const located of operationsIn(document)) {
    await pause();
    const { path, item, method, operation } = located;
    const name = nameOfNodeOperation(document, located);
    if (name === undefined) continue;
    if (methodOf(path) === undefined) {
      const isBase = path === "/" && name !== `${method} /`;
      operations.push({ ...read.operation(name, method, operation, item), isBase });
    } else if (method === "POST") operations.push(read.method(name, operation, isObject(item.get)));
  }
  const obstacles = findObstacles(operations);
  return operations.map((operation) => ({ ...operation, ...obstacles.get(operation) }));
}

const ELSEWHERE_MAX = 20;

export function listServersElsewhere(document: Json): string[] {
  const urls = new Set<string>();
  for (const { item, operation } of operationsIn(document)) {
    for (const { url } of serversFor([operation, item, document]).map(objectOf)) {
      if (urls.size === ELSEWHERE_MAX) return [...urls];
      if (typeof url === "string" && !url.startsWith(THIS_SERVICE)) urls.add(url);
    }
  }
  return [...urls];
}

export function nameOfNodeOperation(
  document: Json,
  { path, item, method, operation }: Omit<PathOperation, "keys">,
): string | undefined {
  const url = onlyUrl([operation, item, document]);
  const name = methodOf(path);
  if (name !== undefined) return url === THIS_SERVICE ? name : undefined;
  const base = baseAtNode(url);
  return base === undefined ? undefined : `${method} ${base}${path}`;
}

/** Returns the names of the JSON-RPC methods that are called through this service. */
export function listMethodNames(document: Json): string[] {
  return operationsIn(document).flatMap((located) => nameOfMethod(document, located) ?? []);
}

/**
 * Returns `undefined` for an operation that is not a JSON-RPC method, or is not called through this
 * service.
 */
export function nameOfMethod(document: Json, located: PathOperation): string | undefined {
  return methodOf(located.path) === undefined ? undefined : nameOfNodeOperation(document, located);
}

function methodOf(path: string): string | undefined {
  const prefix = pathOfMethod("");
  return path.startsWith(prefix) ? parsePercent(path.slice(prefix.length)) : undefined;
}

class OperationReader {
  readonly #document: Json;
  readonly #by: DescribedBy;
  readonly #schemas: SchemaReader;
  constructor(document: Json, by: DescribedBy) {
    this.#document = document;
    this.#by = by;
    this.#schemas = new SchemaReader(document);
  }

  operation(name: string, method: string, operation: Json, item: Json): NodeOperation {
    const { requestBody } = operation;
    const common = this.#common(operation);
    const found = parametersOf(this.#document, item, operation);
    return {
      ...common,
      name,
      isMethod: false,
      method,
      path: name.slice(method.length + 1),
      parameters: found.flatMap((one) => this.#parameter(one, common.isChecked)),
      body: requestBody === undefined
        ? undefined
        : this.#body(this.#follow(requestBody), common.isChecked),
      headers: common.isUntrusted ? NO_HEADERS : this.#headers(found, operation),
    };
  }

  method(name: string, post: Json, isGettable: boolean): NodeOperation {
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
      const heavyFrom = objectOf(value)["x-heavy-from"];
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
      name,
      isMethod: true,
      method: "POST",
      path: "",
      parameters: isKnown ? parameters : undefined,
      isByPosition,
      isGettable,
      headers: NO_HEADERS,
    };
  }

  #common(operation: Json) {
    const mark = operation["x-access"];
    const access = mark === "read" || mark === "write" || mark === "secret" ? mark : undefined;
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
    if (!isParameterPlace(place)) return [];
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

  #body(body: Json, isChecked: boolean): NodeBody {
    const content = isChecked ? Object.entries(objectOf(body.content)) : [];
    const schemas = content.map(([type, media]) => [
      withoutParameters(type.toLowerCase()),
      this.#schemas.read(this.#follow(media).schema),
    ]);
    return { isRequired: body.required === true, schemas: Object.fromEntries(schemas) };
  }

  #headers(
    parameters: readonly Parameter[],
    { security = this.#document.security }: Json,
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

  #follow(value: unknown): Json {
    return followReference(this.#document, value);
  }
}

const lowerCase = (name: string): string => name.toLowerCase();

export const withoutParameters = (type: string): string => type.split(";")[0]!.trim();

export type ParameterPlace = "path" | "query" | "header";

export const isParameterPlace = (place: unknown): place is ParameterPlace =>
  place === "path" || place === "query" || place === "header";

interface Templated {
  readonly operation: NodeOperation;
  readonly template: PathTemplate;
  readonly rank: string;
}

function templateOf(operation: NodeOperation): Templated {
  const spanning = (operation.parameters ?? [])
    .filter((one) => one.in === "path" && one.multiSegment === true).map(({ name }) => name);
  const template = new PathTemplate(operation.path, (name) => spanning.includes(name));
  return { operation, template, rank: `${operation.method} ${template.rank}` };
}

type Obstacle = Pick<NodeOperation, "obstacle" | "twin">;

function findObstacles(operations: readonly NodeOperation[]): Map<NodeOperation, Obstacle> {
  const obstacles = new Map<NodeOperation, Obstacle>();
  const reachable: Templated[] = [];
  // More specific templates come first.
  const all = operations.filter(({ isMethod }) => !isMethod).map(templateOf).sort(byRank);
  for (const own of all) {
    const mistake = mistakeIn(own);
    const taker = mistake === undefined ? takerOf(own, reachable) : undefined;
    if (mistake !== undefined) obstacles.set(own.operation, { obstacle: mistake });
    else if (taker) obstacles.set(own.operation, obstacleBy(taker, own));
    else reachable.push(own);
  }
  return obstacles;
}

function mistakeIn({ operation, template: { names, spanning } }: Templated): string | undefined {
  const [separator] = /[?#]/.exec(operation.path) ?? [];
  if (separator) return `its path has a ${separator === "?" ? "query" : "fragment"}`;
  if (operation.path.includes("}{")) return "its path has two parameters side by side";
  if (new Set(names).size < names.length) return "its path has two parameters with the same name";
  return spanning > 1 ? "its path has two parameters that span several segments" : undefined;
}

function takerOf(own: Templated, before: readonly Templated[]): Templated | undefined {
  // Without multi-segment parameters, only an equal template takes all paths, and it is the last.
  const takers = own.template.spanning > 0 ? before : before.slice(-1);
  return takers.find(({ operation, template }) =>
    operation.method === own.operation.method && template.covers(own.template)
  );
}

function obstacleBy({ operation, rank }: Templated, own: Templated): Obstacle {
  return {
    obstacle: `${operation.name} matches the same paths`,
    twin: rank === own.rank ? operation.name : undefined,
  };
}
