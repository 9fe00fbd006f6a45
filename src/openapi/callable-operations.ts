/**
 * The operations of a description that are called at the node: what the gateway looks up.
 *
 * @module
 */
import { parsePathTemplate, type PathTemplate } from "../http/path-template.ts";
import { type Json, listOf, objectOf, onceFor, textOf } from "../json/values.ts";
import { type MultiSegment, multiSegmentOf } from "../kinds/interface.ts";
import { parsePercent } from "../untrusted-text.ts";
import { pathOfMethod } from "./openrpc.ts";
import { followReference, type LocatedOperation, operationsOf, serversFor } from "./operations.ts";
import { NODE, THIS_SERVICE } from "./servers.ts";

/** The rule for a value, as far as it is checked: a part of a JSON Schema without its patterns. */
export interface ValueRule {
  readonly types?: readonly string[] | undefined;
  readonly values?: readonly unknown[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly above?: number | bigint | undefined;
  readonly below?: number | bigint | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** Patterns of path segments that a text must not contain. */
  readonly excludes?: readonly string[] | undefined;
  readonly heavyFrom?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items?: ValueRule | undefined;
  readonly anyOf?: readonly ValueRule[] | undefined;
  readonly properties?: Readonly<Record<string, ValueRule>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly isClosed?: boolean | undefined;
}

export interface NodeParameter {
  readonly name: string;
  readonly in: Place | "body";
  readonly isRequired: boolean;
  readonly rule: ValueRule;
  /** True if a list is given by the name again for each item, or else by commas. */
  readonly isExploded: boolean;
  readonly multiSegment?: MultiSegment | undefined;
}

interface NodeBody {
  readonly isRequired: boolean;
  readonly rules: Readonly<Record<string, ValueRule>>;
}

export interface NodeOperation {
  /** Its name in settings and in the log: `getblock`, or `GET /blocks/{height}`. */
  readonly name: string;
  readonly operationId: string | undefined;
  /** Of JSON-RPC, by the method's name; otherwise of REST. */
  readonly isMethod: boolean;
  readonly method: string;
  /** The template below the node's URL, with the base path; of JSON-RPC the name of the method. */
  readonly path: string;
  readonly access: "read" | "write" | "secret" | undefined;
  /** True if the network describes it: its operationIds and paths are not trusted. */
  readonly isForeign: boolean;
  readonly isHeavy: boolean;
  readonly isStreaming: boolean;
  readonly isAnonymous: boolean;
  /** Of JSON-RPC in the order of their positions; `undefined` where nobody knows them. */
  readonly parameters: readonly NodeParameter[] | undefined;
  readonly isByPosition: boolean;
  readonly isGettable: boolean;
  readonly body: NodeBody | undefined;
  readonly responseHeaders: readonly string[];
  readonly responseTypes: readonly string[];
  readonly obstacle?: string | undefined;
}

/** The author of a description: the node's operator, on disk or in a text; its kind; or whoever serves it over the network. */
export type DescribedBy = "operator" | "kind" | "network";

export function describedBy(entry: string): DescribedBy {
  if (entry.startsWith("file:")) return "operator";
  return entry.startsWith("kind:") ? "kind" : "network";
}

const DEPTH_MAX = 3;

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

function serverOf(holders: readonly Json[]): string | undefined {
  const servers = serversFor(holders);
  return servers.length === 1 ? textOf(objectOf(servers[0]).url) : undefined;
}

function createReader(document: Json, by: DescribedBy) {
  const follow = (value: unknown) => followReference(document, value);

  /** By depth: a schema with many references to it is read once for each depth. */
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
    // All schemas of `allOf` hold, so their members add up.
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
      // One schema of several does not know the members of the others.
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
        // A description from the network could let a name match the paths of other operations.
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
  /** Joins lists; most operations have one, which is shared. */
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
      // A method that the node lists and its kind does not know has no mark.
      isForeign: by === "network" || (by === "kind" && access === undefined),
      isHeavy: operation["x-cost"] === "heavy",
      isStreaming: operation["x-streaming"] === true,
      isAnonymous: operation["x-auth"] === "none",
      responseHeaders: distinct(responses.map(namesOfHeaders)),
      responseTypes: distinct(responses.map(typesOfContent)),
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

export const withoutParameters = (type: string): string => type.split(";")[0]!.trim();

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

/** The bounds of a schema; `exclusiveMinimum: true` of OpenAPI 3.0 is ignored. */
function boundsOf(schema: Json): Pick<ValueRule, typeof BOUNDS[keyof typeof BOUNDS]> {
  const bounds = Object.entries(BOUNDS).flatMap(([keyword, name]) => {
    const bound = schema[keyword];
    return typeof bound === "number" || typeof bound === "bigint" ? [[name, bound] as const] : [];
  });
  return Object.fromEntries(bounds);
}

/** Adds `null` to the types, as `nullable` of OpenAPI 3.0 means. */
function withNull(schema: Json, rule: ValueRule): ValueRule {
  if (schema.nullable !== true || !rule.types) return rule;
  return { ...rule, types: [...rule.types, "null"] };
}

/** Joins rules that all hold; the last one wins where several have the same keyword. */
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

interface Templated {
  readonly operation: NodeOperation;
  readonly template: PathTemplate;
  readonly spans: (name: string) => boolean;
}

/** Stands for the value of a name: a character that no encoded literal has. */
const ANY = "\uf8ff";

/** Numbers of segments in samples of a spanning name: a template that matches all of these matches any number. */
const SPANNED = [1, 2, 50];

/**
 * Finds operations that no path reaches, or whose paths are ambiguous, and says why. They are shown, and cannot be
 * called.
 */
function findObstacles(operations: readonly NodeOperation[]): Map<NodeOperation, string> {
  const obstacles = new Map<NodeOperation, string>();
  const byMethod = new Map<string, Templated[]>();
  for (const operation of operations.filter(({ isMethod }) => !isMethod)) {
    const { parameters = [], path, method } = operation;
    const spanning = new Set(
      parameters.filter((one) => one.in === "path" && one.multiSegment === true)
        .map(({ name }) => name),
    );
    const spans = (name: string) => spanning.has(name);
    const template = parsePathTemplate(path, spans);
    const obstacle = ambiguityOf(path, template.names, spans);
    if (obstacle !== undefined) obstacles.set(operation, obstacle);
    else {
      if (!byMethod.has(method)) byMethod.set(method, []);
      byMethod.get(method)!.push({ operation, template, spans });
    }
  }
  for (const all of byMethod.values()) {
    const rankOf = ({ template: { rank } }: Templated) => rank;
    all.sort((a, b) => rankOf(a) < rankOf(b) ? -1 : rankOf(a) > rankOf(b) ? 1 : 0);
    for (const [at, own] of all.entries()) {
      // Literals match less than names, so a template without spanning names loses to an equal one alone.
      const last = all[at - 1];
      const isTwin = last && rankOf(last) === rankOf(own) &&
        last.template.source === own.template.source;
      const others = own.template.names.some(own.spans) ? all.slice(0, at) : [];
      const samples = others.length > 0 ? samplesOf(own) : [];
      const taker = isTwin
        ? last
        : others.find(({ template }) => samples.every((path) => template.match(path)));
      if (taker) obstacles.set(own.operation, `${taker.operation.name} takes all of its paths`);
    }
  }
  return obstacles;
}

/** Explains why the paths of a template can be read in two ways; `undefined` if they cannot. */
function ambiguityOf(
  path: string,
  names: readonly string[],
  spans: (name: string) => boolean,
): string | undefined {
  if (path.includes("}{")) return "two names stand side by side in its path";
  if (new Set(names).size < names.length) return "its path has a name twice";
  if (names.filter(spans).length > 1) return "two names of its path span segments";
  return undefined;
}

/** Sample paths of a template, with spanning names over several numbers of segments. */
function samplesOf({ template: { names, source }, spans }: Templated): string[] {
  return SPANNED.map((count) => {
    let at = 0;
    const several = Array(count).fill(ANY).join("/");
    return source.replaceAll("{}", () => spans(names[at++]!) ? several : ANY);
  });
}
