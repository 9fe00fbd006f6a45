/**
 * Arranges a description for Scalar as the plain page has it: `src/explorer/read-outline.ts` does the same
 * for that. What is served and downloaded stays as it is.
 */

/** What the paths of methods of JSON-RPC begin with. */
const RPC = "/v1/rpc/";

/** The tag of this service's own operations beside those of a node. */
const SERVICE = "About this service";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** The name of the token's security scheme begins with this. */
const TOKEN_SCHEME = "NodefaceToken";

/** By this Scalar's requests say that they have the token of this service. */
export const TOKEN_FORMAT = "the token of this service";

/** The marks that are shown: the name, its value, and the word for it. */
const marks = JSON.parse(document.getElementById("plain").dataset.marks);

/** Arranges a description, which is changed. */
export function arrange(description) {
  const paths = Object.entries(description.paths ?? {});
  for (const [path, item] of paths) {
    if (path.startsWith(RPC)) nameMethod(path, item);
    for (const operation of operationsOf(item)) showMarks(operation);
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
