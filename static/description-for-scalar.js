/**
 * Arranges a description for Scalar as the plain page has it: `src/explorer/read-outline.ts` does the same
 * for that. What is served and downloaded stays as it is.
 */
import { TOKEN_FORMAT } from "./try.ts";

/** What the paths of methods of JSON-RPC begin with. */
const RPC = "/v1/rpc/";

/** The tag of this service's own operations beside those of a node. */
const SERVICE = "About this service";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** The name of the token's security scheme begins with this. */
const TOKEN_SCHEME = "NodefaceToken";

/** The marks that are shown: the name, its value, and the word for it. */
const marks = JSON.parse(document.getElementById("plain").dataset.marks);

/** Arranges a description, which is changed. */
export function arrange(description) {
  const paths = Object.entries(description.paths ?? {});
  for (const [path, item] of paths) {
    if (path.startsWith(RPC)) nameMethod(path, item);
    for (const operation of operationsOf(item)) {
      showMarks(operation);
      quoteExamples(description, operation);
    }
  }
  const isCommon = ([, item]) =>
    operationsOf(item).some((operation) => operation["x-common"] === true);
  const [common, others] = [paths.filter(isCommon), paths.filter((entry) => !isCommon(entry))];
  if (common.length > 0) description.paths = Object.fromEntries([...common, ...others]);
  declareTags(description);
  sayCalls(description);
  markToken(description);
  return description;
}

const operationsOf = (item) =>
  [...METHODS.map((method) => item?.[method]), ...Object.values(item?.additionalOperations ?? {})]
    .filter((operation) => typeof operation === "object" && operation !== null);

/** A method is called by its name, and is shown once. */
function nameMethod(path, item) {
  const isBoth = item?.get?.summary && item.get.summary === item.post?.summary;
  if (isBoth) delete item.post;
  for (const operation of operationsOf(item)) {
    const also = isBoth ? "Also as `POST`, with an object of the parameters." : "";
    const texts = [operation.summary, operation.description, also];
    operation.description = texts.filter((text) => typeof text === "string" && text).join("\n\n");
    operation.summary = decode(path.slice(RPC.length));
  }
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function showMarks(operation) {
  const words = marks.filter(([name, value]) => operation[name] === value).map(([, , word]) =>
    word
  );
  const since = operation["x-since"];
  if (["string", "number"].includes(typeof since) && since !== "") {
    words.push(`since ${String(since).slice(0, 20)}`);
  }
  if (words.length > 0) operation["x-badges"] ??= words.map((name) => ({ name }));
}

/** Scalar takes an example that is a text for the JSON that is sent, and complains where it is none. */
function quoteExamples(description, { requestBody }) {
  const { content } = follow(description, requestBody);
  for (const [type, media] of Object.entries(content ?? {})) {
    if (!/json/i.test(type) || typeof media !== "object" || media === null) continue;
    const { example } = follow(description, media.schema);
    const known = media.example ?? (media.examples ? undefined : example);
    if (isBareText(known)) media.example = JSON.stringify(known);
    for (const named of Object.values(media.examples ?? {})) {
      if (isBareText(named?.value)) named.value = JSON.stringify(named.value);
    }
  }
}

function isBareText(value) {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}

function markToken({ components }) {
  for (const [name, scheme] of Object.entries(components?.securitySchemes ?? {})) {
    if (name.startsWith(TOKEN_SCHEME)) scheme.bearerFormat = TOKEN_FORMAT;
  }
}

/** What the plain page says of calls at its head, where it does. */
function sayCalls(description) {
  const said = document.querySelector("#plain #calls")?.textContent;
  if (!said) return;
  const { description: text, ...info } = description.info ?? {};
  description.info = { ...info, description: text ? `${said}\n\n${text}` : said };
}

/** Scalar shows tags that are not declared after the others: the service's own tag is to be the last. */
function declareTags(description) {
  const declared = Array.isArray(description.tags) ? description.tags : [];
  const own = declared.filter((tag) => tag?.name === SERVICE);
  if (own.length === 0) return;
  const names = new Set(declared.map((tag) => tag?.name));
  const used = Object.values(description.paths ?? {}).flatMap(operationsOf)
    .flatMap(({ tags }) => Array.isArray(tags) ? tags : []);
  const missing = [...new Set(used)].filter((name) => typeof name === "string" && !names.has(name));
  const others = declared.filter((tag) => tag?.name !== SERVICE);
  description.tags = [...others, ...missing.map((name) => ({ name })), ...own];
}

/**
 * Puts what has been filled in and answered at an operation into a description, which is changed: Scalar fills its
 * own form with examples, and shows the example of an answer.
 */
export function fillIn(description, { method, address, values, body, answer }) {
  const [path, item] = Object.entries(description.paths ?? {})
    .filter(([path, item]) => address.endsWith(path) && operationAt(item, method))
    .sort(([a], [b]) => b.length - a.length)[0] ?? [];
  if (path === undefined) return;
  const operation = operationAt(item, method);
  const parameters = [...item.parameters ?? [], ...operation.parameters ?? []];
  operation.parameters = parameters.map((parameter) => {
    const { examples: _, ...known } = follow(description, parameter);
    const given = values.find(({ name, place }) => name === known.name && place === known.in);
    return given ? { ...known, example: given.value, "x-disabled": false } : parameter;
  });
  if (body !== undefined) {
    const request = follow(description, operation.requestBody);
    operation.requestBody = { ...request, content: withExample(request.content, body) };
  }
  if (answer?.text) {
    const { responses = {} } = operation;
    const known = follow(description, responses[answer.status] ?? responses.default);
    const content = { [answer.type.split(";")[0]]: { example: valueOf(answer.text) } };
    const said = { description: "The answer to what you have tried", ...known, content };
    operation.responses = { [answer.status]: said, ...responses, [answer.status]: said };
  }
}

/** The token that has been typed, as Scalar's configuration has it. */
export function loginOf({ scheme, token }) {
  if (!token) return {};
  return { authentication: { securitySchemes: { [scheme]: { token } } } };
}

function operationAt(item, method) {
  const operation = item?.[method.toLowerCase()] ?? item?.additionalOperations?.[method];
  return typeof operation === "object" ? operation : undefined;
}

/** The first content with an example of its own. */
function withExample(content, text) {
  const [[type, media] = ["application/json", {}]] = Object.entries(content ?? {});
  const { examples: _, ...others } = media ?? {};
  return { ...content, [type]: { ...others, example: valueOf(text) } };
}

/** What a text of JSON says; the text itself where a number would lose digits. */
function valueOf(text) {
  try {
    const value = JSON.parse(text);
    return /\d{16}|\d[eE]|\.\d*0\b/.test(text) ? text : value;
  } catch {
    return text;
  }
}

/** What a reference within the description leads to. */
function follow(description, value) {
  let found = value;
  for (let i = 0; typeof found?.$ref === "string" && i < 8; i++) {
    const keys = found.$ref.replace(/^#\//, "").split("/");
    found = keys.map((key) => decode(key).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce((holder, key) => holder?.[key], description);
  }
  return typeof found === "object" && found !== null ? found : {};
}
