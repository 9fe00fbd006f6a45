/**
 * The operations of a description that are called at the node: what the gateway looks up.
 *
 * @module
 */
import { type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { type MultiSegment, multiSegmentOf } from "../kinds/interface.ts";
import { parsePercent } from "../untrusted-text.ts";
import { pathOfMethod } from "./openrpc.ts";
import { followReference, type LocatedOperation, operationsOf, serversFor } from "./operations.ts";
import { NODE, THIS_SERVICE } from "./server-url.ts";
import { findObstacles } from "./unreachable-paths.ts";

/** The rule for a value, as far as it is checked: a part of a JSON Schema without its patterns. */
export interface ValueRule {
  readonly types?: readonly string[] | undefined;
  readonly values?: readonly unknown[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  /** What a number has to be more than, and less than. */
  readonly above?: number | bigint | undefined;
  readonly below?: number | bigint | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** What a text must not hold, as patterns of parts of a path. */
  readonly excludes?: readonly string[] | undefined;
  /** From which number on a call of a method is heavy. */
  readonly heavyFrom?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items?: ValueRule | undefined;
  readonly anyOf?: readonly ValueRule[] | undefined;
  readonly properties?: Readonly<Record<string, ValueRule>> | undefined;
  readonly required?: readonly string[] | undefined;
  /** True if an object may have no others. */
  readonly isClosed?: boolean | undefined;
}

export interface NodeParameter {
  readonly name: string;
  readonly in: Place | "body";
  readonly isRequired: boolean;
  readonly rule: ValueRule;
  /** True if a list is given by the name again for each item, or else by commas. */
  readonly isExploded: boolean;
  /** How it holds slashes, if it may hold any. */
  readonly multiSegment?: MultiSegment | undefined;
}

interface NodeBody {
  readonly isRequired: boolean;
  /** By media type, in lower case and without parameters. */
  readonly rules: Readonly<Record<string, ValueRule>>;
}

/** An operation that is called at the node. */
export interface NodeOperation {
  /** Its name in settings and in the log: `getblock`, or `GET /blocks/{height}`. */
  readonly name: string;
  readonly operationId: string | undefined;
  /** Of JSON-RPC, by the method's name; otherwise of REST. */
  readonly isMethod: boolean;
  /** `GET`, …; of JSON-RPC `POST`, and `GET` where `isGettable`. */
  readonly method: string;
  /** The template below the node's URL, with the base path; of JSON-RPC the name of the method. */
  readonly path: string;
  readonly access: "read" | "write" | "secret" | undefined;
  /** True if the network describes it: whoever serves that gives operationIds and makes paths as he likes. */
  readonly isForeign: boolean;
  readonly isHeavy: boolean;
  readonly isStreaming: boolean;
  readonly isAnonymous: boolean;
  /** Of JSON-RPC in the order of their positions; `undefined` where nobody knows them. */
  readonly parameters: readonly NodeParameter[] | undefined;
  readonly isByPosition: boolean;
  readonly isGettable: boolean;
  readonly body: NodeBody | undefined;
  /** The headers of its responses that are passed on, in lower case. */
  readonly answerHeaders: readonly string[];
  /** The media types of its responses, in lower case and without parameters. */
  readonly answerTypes: readonly string[];
  /** Why it cannot be called by its path, as a clause. */
  readonly obstacle?: string | undefined;
}

/** The author of a description: the node's operator, on disk or in a text; its kind; or whoever serves it over the network. */
export type DescribedBy = "operator" | "kind" | "network";

export function describedBy(entry: string): DescribedBy {
  if (entry.startsWith("file:")) return "operator";
  return entry.startsWith("kind:") ? "kind" : "network";
}

const DEPTH_MAX = 3;

/** Lists the operations that are called at the node, by their servers. */
export function listNodeOperations(document: Json, by: DescribedBy): NodeOperation[] {
  const read = createReader(document, by);
  const operations = Object.entries(objectOf(document.paths)).flatMap(([path, value]) => {
    const item = objectOf(value);
    const located = operationsOf(item);
    const method = methodOf(path);
    if (method !== undefined) {
      const post = located.find(({ method }) => method === "POST")?.operation;
      const isOurs = post && serverOf([post, item, document]) === THIS_SERVICE;
      const isGettable = located.some(({ method }) => method === "GET");
      return isOurs ? [read.method(method, post, isGettable)] : [];
    }
    return located.flatMap(({ method, operation }) => {
      const below = pathAtNode(path, serverOf([operation, item, document]));
      return below === undefined ? [] : [read.operation(method, below, operation, item)];
    });
  });
  const obstacles = findObstacles(operations);
  return operations.map((operation) => {
    const obstacle = obstacles.get(operation);
    return obstacle === undefined ? operation : { ...operation, obstacle };
  });
}

const ELSEWHERE_MAX = 20;

/** The servers of the operations that are called neither at the node nor here. */
export function listServersElsewhere(document: Json): string[] {
  const urls = new Set<string>();
  for (const item of Object.values(objectOf(document.paths)).map(objectOf)) {
    for (const { operation } of operationsOf(item)) {
      for (const { url } of serversFor([operation, item, document]).map(objectOf)) {
        if (urls.size === ELSEWHERE_MAX) return [...urls];
        if (typeof url === "string" && !url.startsWith(THIS_SERVICE)) urls.add(url);
      }
    }
  }
  return [...urls];
}

/** The name of an operation in settings and the log; `undefined` where it is not called at the node. */
export function nameOfNodeOperation(
  document: Json,
  path: string,
  item: Json,
  { method, operation }: Pick<LocatedOperation, "method" | "operation">,
): string | undefined {
  const server = serverOf([operation, item, document]);
  const name = methodOf(path);
  if (name !== undefined) return server === THIS_SERVICE ? name : undefined;
  const below = pathAtNode(path, server);
  return below === undefined ? undefined : `${method} ${below}`;
}

/** A path below the node's URL; `undefined` where its server is not the node. */
function pathAtNode(path: string, server: string | undefined): string | undefined {
  const isNode = server !== undefined && (server + "/").startsWith(`${NODE}/`);
  return isNode ? server.slice(NODE.length) + path : undefined;
}

function methodOf(path: string): string | undefined {
  const prefix = pathOfMethod("");
  return path.startsWith(prefix) ? parsePercent(path.slice(prefix.length)) : undefined;
}

/** The one server of the first holder that has any. */
function serverOf(holders: readonly Json[]): string | undefined {
  const servers = serversFor(holders);
  return servers.length === 1 ? textOf(objectOf(servers[0]).url) : undefined;
}

function createReader(document: Json, by: DescribedBy) {
  const follow = (value: unknown) => followReference(document, value);

  /** By depth: what many schemas refer to is read once for each. */
  const rules: ((schema: Json) => ValueRule)[] = Array.from(
    { length: DEPTH_MAX + 1 },
    (_, depth) =>
      onceFor((schema: Json) =>
        readRule(schema, (value) => depth === DEPTH_MAX ? {} : rules[depth + 1]!(follow(value)))
      ),
  );
  const ruleOf = (value: unknown): ValueRule => rules[0]!(follow(value));

  const readRule = (schema: Json, inner: (value: unknown) => ValueRule): ValueRule => {
    const { type, properties, required, items, additionalProperties } = schema;
    const options = listOf(schema.anyOf ?? schema.oneOf);
    // All of several hold; what each says of its members is added.
    const all = listOf(schema.allOf).map(inner);
    const rule: ValueRule = {
      types: type === undefined ? undefined : [type].flat().map(String),
      values: schema.const === undefined
        ? Array.isArray(schema.enum) ? schema.enum : undefined
        : [schema.const],
      ...boundsOf(schema),
      excludes: Array.isArray(schema["x-excludes"]) ? schema["x-excludes"].map(String) : undefined,
      heavyFrom: typeof schema["x-heavy-from"] === "number" ? schema["x-heavy-from"] : undefined,
      items: items === undefined ? undefined : inner(items),
      anyOf: options.length > 0 ? options.map(inner) : undefined,
      properties: properties === undefined ? undefined : Object.fromEntries(
        Object.entries(objectOf(properties)).map(([name, value]) => [name, inner(value)]),
      ),
      required: Array.isArray(required) ? required.map(String) : undefined,
      // What stands in one of several says nothing of the members of the others.
      isClosed: (additionalProperties === false && all.length === 0 && options.length === 0) ||
        undefined,
    };
    return all.length === 0 ? withNull(schema, rule) : together([
      withNull(schema, rule),
      ...all.map((one) => ({ ...one, isClosed: undefined })),
    ]);
  };

  const parametersOf = (item: Json, operation: Json): NodeParameter[] => {
    const all = new Map<string, NodeParameter>();
    for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
      const parameter = follow(value);
      const [name, place] = [textOf(parameter.name), textOf(parameter.in)];
      if (name === undefined || !isPlace(place)) continue;
      const content = objectOf(Object.values(objectOf(parameter.content))[0]);
      const isForm = parameter.style === undefined || parameter.style === "form";
      all.set(`${place} ${place === "header" ? name.toLowerCase() : name}`, {
        name,
        in: place,
        isRequired: parameter.required === true || place === "path",
        rule: ruleOf(parameter.schema ?? content.schema),
        isExploded: place === "query" && isForm && parameter.explode !== false,
        // Whoever serves a description could let a name take in the paths of other operations.
        multiSegment: by === "network" ? undefined : multiSegmentOf(parameter),
      });
    }
    return [...all.values()];
  };

  const readBody = onceFor((body: Json): NodeBody => {
    const rules = Object.entries(objectOf(body.content)).map(([type, media]) => [
      withoutParameters(type.toLowerCase()),
      ruleOf(follow(media).schema),
    ]);
    return { isRequired: body.required === true, rules: Object.fromEntries(rules) };
  });

  const namesOfHeaders = onceFor(({ headers }: Json) =>
    Object.keys(objectOf(headers)).map((name) => name.toLowerCase())
  );
  const typesOfContent = onceFor(({ content }: Json) =>
    Object.keys(objectOf(content)).map((type) => withoutParameters(type.toLowerCase()))
  );
  /** What is in any of some lists; one of them where there are no others, as in most operations. */
  const distinct = (lists: readonly (readonly string[])[]): readonly string[] => {
    const [first, ...others] = lists.filter(({ length }) => length > 0);
    return others.length > 0 ? [...new Set([first!, ...others].flat())] : first ?? [];
  };

  const common = (operation: Json) => {
    const mark = operation["x-access"];
    const access = mark === "read" || mark === "write" || mark === "secret" ? mark : undefined;
    const responses = Object.values(objectOf(operation.responses)).map(follow);
    return {
      operationId: textOf(operation.operationId),
      access,
      // What a node lists and its kind does not know has no mark.
      isForeign: by === "network" || (by === "kind" && access === undefined),
      isHeavy: operation["x-cost"] === "heavy",
      isStreaming: operation["x-streaming"] === true,
      isAnonymous: operation["x-auth"] === "none",
      answerHeaders: distinct(responses.map(namesOfHeaders)),
      answerTypes: distinct(responses.map(typesOfContent)),
    } as const;
  };

  return {
    operation(method: string, path: string, operation: Json, item: Json): NodeOperation {
      const { requestBody } = operation;
      return {
        ...common(operation),
        name: `${method} ${path}`,
        isMethod: false,
        method,
        path,
        parameters: parametersOf(item, operation),
        isByPosition: false,
        isGettable: method === "GET",
        body: requestBody === undefined ? undefined : readBody(follow(requestBody)),
      };
    },
    method(name: string, post: Json, isGettable: boolean): NodeOperation {
      const content = objectOf(objectOf(follow(post.requestBody).content)["application/json"]);
      const schema = objectOf(content.schema);
      const properties = Object.entries(objectOf(schema.properties));
      const required = new Set(listOf(schema.required));
      const isKnown = post.requestBody === undefined || schema.properties !== undefined;
      const position = (value: unknown) => Number(objectOf(value)["x-position"]);
      const isByPosition = properties.some(([, value]) => position(value) >= 0);
      if (isByPosition) properties.sort(([, a], [, b]) => position(a) - position(b));
      return {
        ...common(post),
        name,
        isMethod: true,
        method: "POST",
        path: name,
        parameters: isKnown
          ? properties.map(([name, value]) => ({
            name,
            in: "body",
            isRequired: required.has(name),
            rule: ruleOf(value),
            isExploded: false,
          }))
          : undefined,
        isByPosition,
        isGettable,
        body: undefined,
      };
    },
  };
}

/** A media type without its parameters. */
export const withoutParameters = (type: string): string => type.split(";")[0]!.trim();

/** The place of a parameter that a page can send. */
export type Place = "path" | "query" | "header";

export const isPlace = (place: unknown): place is Place =>
  place === "path" || place === "query" || place === "header";

const BOUNDS = {
  minimum: "minimum",
  maximum: "maximum",
  exclusiveMinimum: "above",
  exclusiveMaximum: "below",
  minLength: "minLength",
  maxLength: "maxLength",
  minItems: "minItems",
  maxItems: "maxItems",
} as const;

/** The bounds of a schema; those of OpenAPI 3.0 that exclude their limit are taken with it. */
function boundsOf(schema: Json): Pick<ValueRule, typeof BOUNDS[keyof typeof BOUNDS]> {
  const bounds = Object.entries(BOUNDS).flatMap(([keyword, name]) => {
    const bound = schema[keyword];
    return typeof bound === "number" || typeof bound === "bigint" ? [[name, bound] as const] : [];
  });
  return Object.fromEntries(bounds);
}

/** OpenAPI 3.0 says of any type that it may be null as well. */
function withNull(schema: Json, rule: ValueRule): ValueRule {
  if (schema.nullable !== true || !rule.types) return rule;
  return { ...rule, types: [...rule.types, "null"] };
}

/** What all of some say; of the same, the last one that says something of it. */
function together(rules: readonly ValueRule[]): ValueRule {
  const said = rules.flatMap((rule) =>
    Object.entries(rule).filter(([, value]) => value !== undefined)
  );
  const properties = rules.flatMap((rule) => Object.entries(rule.properties ?? {}));
  const required = rules.flatMap((rule) => rule.required ?? []);
  return {
    ...Object.fromEntries(said),
    ...properties.length > 0 && { properties: Object.fromEntries(properties) },
    ...required.length > 0 && { required },
  };
}
