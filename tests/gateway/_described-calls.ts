/** Makes a call of each operation in an OpenAPI description or in one of Swagger 2.0. */
import { isObject, type JsonObject, listOf, objectOf } from "../../src/json/values.ts";

export interface Described {
  readonly method: string;
  /** The path template, below the path of the operation's server. */
  readonly path: string;
  /** The operation's own server, if it has one. */
  readonly server: string | undefined;
  /** The target of the request, with values in place of the template's parameters. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/**
 * OpenAPI ignores header parameters with the first three names. The others are a matter of each
 * connection.
 */
const NOT_PARAMETERS = new Set(
  ["accept", "content-type", "authorization", "accept-encoding", "content-length"],
);

/** How deep an example of a body may be, since schemas may be recursive. */
const DEPTH = 3;

/** Values of header fields that have a syntax of their own. */
const FIELDS: Readonly<Record<string, string>> = {
  "if-match": '"v1"',
  "if-none-match": '"v1"',
  "if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT",
  "if-unmodified-since": "Thu, 01 Jan 2026 00:00:00 GMT",
  range: "bytes=0-9",
  digest: "sha=fpRyg5eVQletdZqEKaFlqwBXJzM=",
};

export function callsOf(document: JsonObject): Described[] {
  return Object.entries(objectOf(document.paths)).flatMap(([path, part]) => {
    const item = resolve(document, part);
    return METHODS.filter((method) => isObject(item[method]))
      .map((method) => callOf(document, { path, item, method }));
  });
}

interface Place {
  readonly path: string;
  readonly item: JsonObject;
  readonly method: string;
}

function callOf(document: JsonObject, { path, item, method }: Place): Described {
  const operation = objectOf(item[method]);
  const parameters = parametersOf(document, [item.parameters, operation.parameters]);
  const at = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const body = bodyOf(document, operation, parameters);
  const headers = Object.fromEntries([
    ["accept", acceptedBy(document, operation)],
    ...at("header").filter(({ name }) => !NOT_PARAMETERS.has(String(name).toLowerCase()))
      .map((parameter) => fieldOf(document, parameter)),
    ...credentialsOf(document, operation),
    ...at("cookie").length > 0
      ? [["cookie", at("cookie").map(({ name }) => `${name}=a1`).join("; ")]]
      : [],
    ...body ? [["content-type", body.type]] : [],
  ]);
  const template = serverPathOf(document, item, operation) + path;
  const [name = "", query = ""] = template.replace(/#.*/, "").split("?");
  const values = new Map(at("path").map((parameter) => [String(parameter.name), parameter]));
  const target = name.replaceAll(/\{([^}]*)\}/g, (_, name) => {
    const value = String(valueOf(document, values.get(name) ?? {}));
    // A parameter is one segment, unless the description says more.
    return encodeURIComponent(value.replaceAll("/", ""));
  });
  const pairs = at("query").flatMap((parameter) => pairsOf(document, parameter));
  const search = [...query ? [query] : [], ...pairs].join("&");
  return {
    method: method.toUpperCase(),
    path: template,
    server: objectOf(listOf(operation.servers)[0]).url as string | undefined,
    target: search ? `${target}?${search}` : target,
    headers,
    body: body?.text ?? "",
  };
}

/** The parameters of an operation replace those of its path item. */
function parametersOf(document: JsonObject, lists: readonly unknown[]): JsonObject[] {
  const all = lists.flatMap(listOf).map((parameter) => resolve(document, parameter));
  return [...new Map(all.map((each) => [`${each.in} ${each.name}`, each])).values()];
}

function serverPathOf(document: JsonObject, item: JsonObject, operation: JsonObject): string {
  if (document.swagger !== undefined) return String(document.basePath ?? "").replace(/\/$/, "");
  const lists = [operation.servers, item.servers, document.servers].map(listOf);
  const server = objectOf(lists.find((list) => list.length > 0)?.[0]);
  const variables = objectOf(server.variables);
  const url = String(server.url ?? "/")
    .replaceAll(/\{([^}]*)\}/g, (_, name) => String(objectOf(variables[name]).default));
  return new URL(url, "http://node.example/").pathname.replace(/\/$/, "");
}

function acceptedBy(document: JsonObject, operation: JsonObject): string {
  if (document.swagger !== undefined) {
    return String(listOf(operation.produces ?? document.produces)[0] ?? "application/json");
  }
  const answers = Object.values(objectOf(operation.responses));
  const types = answers.flatMap((answer) =>
    Object.keys(objectOf(resolve(document, answer).content))
  );
  return types[0] ?? "*/*";
}

function fieldOf(document: JsonObject, parameter: JsonObject): [string, string] {
  const name = String(parameter.name).toLowerCase();
  const value = textOf(valueOf(document, parameter));
  // Clients differ in how they send other characters.
  return [name, FIELDS[name] ?? value.replaceAll(/[^ -~]/g, "")];
}

/** Returns the header fields of the first alternative of the operation's security requirements. */
function credentialsOf(document: JsonObject, operation: JsonObject): [string, string][] {
  const schemes = document.swagger === undefined
    ? objectOf(objectOf(document.components).securitySchemes)
    : objectOf(document.securityDefinitions);
  const [first] = listOf(operation.security ?? document.security);
  return Object.keys(objectOf(first)).flatMap((name): [string, string][] => {
    const scheme = resolve(document, schemes[name]);
    if (scheme.type === "apiKey") {
      return scheme.in === "header" ? [[String(scheme.name).toLowerCase(), "key-of-the-node"]] : [];
    }
    const isBasic = scheme.type === "basic" || scheme.scheme === "basic";
    return [["authorization", isBasic ? `Basic ${btoa("me:secret")}` : "Bearer key-of-the-node"]];
  });
}

interface Body {
  readonly type: string;
  readonly text: string;
}

function bodyOf(
  document: JsonObject,
  operation: JsonObject,
  parameters: readonly JsonObject[],
): Body | undefined {
  if (document.swagger !== undefined) return oldBodyOf(document, operation, parameters);
  if (operation.requestBody === undefined) return undefined;
  const content = objectOf(resolve(document, operation.requestBody).content);
  const [type, media] = Object.entries(content)[0] ?? [];
  if (type === undefined) return undefined;
  return write(type, exampleOf(document, objectOf(media).schema));
}

/** Swagger 2.0 has bodies among the parameters. */
function oldBodyOf(
  document: JsonObject,
  operation: JsonObject,
  parameters: readonly JsonObject[],
): Body | undefined {
  const [consumed = ""] = listOf(operation.consumes ?? document.consumes).map(String);
  const whole = parameters.find((parameter) => parameter.in === "body");
  if (whole) return write(consumed || "application/json", exampleOf(document, whole.schema));
  const fields = parameters.filter((parameter) => parameter.in === "formData");
  if (fields.length === 0) return undefined;
  const values = Object.fromEntries(
    fields.map((field) => [String(field.name), valueOf(document, field)]),
  );
  const isForm = /form/.test(consumed);
  return write(isForm ? consumed : "application/x-www-form-urlencoded", values);
}

const BOUNDARY = "a-boundary";

function write(described: string, value: unknown): Body {
  // A client has to choose a type where the description has a pattern.
  const type = described.startsWith("*/*") ? "application/json" : described.replace("/*", "/x-a");
  if (type.includes("x-www-form-urlencoded")) {
    const text = Object.entries(objectOf(value))
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value))}`);
    return { type, text: text.join("&") };
  }
  if (type.includes("multipart")) {
    const parts = Object.entries(objectOf(value)).map(([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${textOf(value)}\r\n`
    );
    const text = `${parts.join("")}--${BOUNDARY}--\r\n`;
    return { type: `${type}; boundary=${BOUNDARY}`, text };
  }
  if (type.includes("ndjson")) return { type, text: `${JSON.stringify(value)}\n{}\n` };
  if (type.includes("json")) return { type, text: JSON.stringify(value) };
  return { type, text: textOf(value) };
}

const textOf = (value: unknown) => typeof value === "object" ? JSON.stringify(value) : `${value}`;

/** Writes a query parameter in its style. */
function pairsOf(document: JsonObject, parameter: JsonObject): string[] {
  const name = encodeURIComponent(String(parameter.name));
  const value = valueOf(document, parameter);
  if (parameter.content !== undefined) {
    return [`${name}=${encodeURIComponent(JSON.stringify(value))}`];
  }
  const style = String(parameter.style ?? parameter.collectionFormat ?? "form");
  const isExploded = parameter.explode ??
    (parameter.collectionFormat === undefined
      ? document.swagger === undefined && style === "form"
      : style === "multi");
  if (Array.isArray(value)) {
    if (isExploded) return value.map((item) => `${name}=${encodeURIComponent(textOf(item))}`);
    const between = { pipeDelimited: "|", pipes: "|", spaceDelimited: "%20", ssv: "%20" }[style];
    return [
      `${name}=${value.map((item) => encodeURIComponent(textOf(item))).join(between ?? ",")}`,
    ];
  }
  if (isObject(value)) {
    const members = Object.entries(value);
    const pair = ([key, value]: [string, unknown]) => `${key}=${encodeURIComponent(textOf(value))}`;
    if (style === "deepObject") {
      return members.map(([key, value]) => pair([`${name}[${key}]`, value]));
    }
    if (isExploded) return members.map(pair);
    return [`${name}=${members.flat().map((part) => encodeURIComponent(textOf(part))).join(",")}`];
  }
  return [`${name}=${encodeURIComponent(String(value))}`];
}

function valueOf(document: JsonObject, parameter: JsonObject): unknown {
  const [media] = Object.values(objectOf(parameter.content));
  return exampleOf(document, parameter.schema ?? objectOf(media).schema ?? parameter);
}

function exampleOf(document: JsonObject, part: unknown, depth = 0): unknown {
  const schema = resolve(document, part);
  const [first] = listOf(schema.enum);
  if (first !== undefined) return first;
  if (schema.const !== undefined) return schema.const;
  const [alternative] = [schema.oneOf, schema.anyOf, schema.allOf].flatMap(listOf);
  if (alternative !== undefined && depth < 2 * DEPTH) {
    return exampleOf(document, alternative, depth + 1);
  }
  switch ([schema.type].flat()[0]) {
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return depth < DEPTH
        ? [
          exampleOf(document, schema.items, depth + 1),
          exampleOf(document, schema.items, depth + 1),
        ]
        : [];
    case "string":
    case "file":
      return "a1 é/+";
  }
  const members = Object.entries(objectOf(schema.properties));
  if (members.length === 0) return schema.type === "object" ? { a: "b" } : "a1";
  if (depth >= DEPTH) return {};
  return Object.fromEntries(
    members.slice(0, 8).map(([name, member]) => [name, exampleOf(document, member, depth + 1)]),
  );
}

/** Follows references within the document. */
function resolve(document: JsonObject, part: unknown): JsonObject {
  let found = objectOf(part);
  for (let steps = 0; typeof found.$ref === "string" && steps < 10; steps++) {
    const keys = found.$ref.replace(/^#\/?/, "").split("/").map(unescape);
    found = objectOf(keys.reduce<unknown>((value, key) => objectOf(value)[key], document));
  }
  return found;
}

const unescape = (key: string) =>
  decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
