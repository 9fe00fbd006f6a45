/**
 * The marks of a node's operations, which say what may be done with them: `kinds/marks.ts`. Whoever serves a
 * description over the network is not asked for them.
 *
 * @module
 */
import { type Json, listOf, objectOf, setMember, textOf } from "../json/values.ts";
import { MARKS, multiSegmentOf } from "../kinds/marks.ts";
import { followReference } from "./follow-reference.ts";
import { mapOperations, operationsOf } from "./operations-of-path-item.ts";
import { mergeComponents } from "./merge-components.ts";
import { pathOfMethod } from "./openrpc.ts";

/** The marks of operations. */
const OF_OPERATIONS = Object.entries(MARKS).filter(([, { on }]) => on === "operation")
  .map(([name]) => name);

/**
 * A node's own description with the marks of its kind, and with no others.
 *
 * @param document with its servers where they are served
 * @param kind the document of its kind, where there is one
 */
export function withMarks(document: Json, kind: Json | undefined): Json {
  const marked = new Map<string, Json>();
  for (const [path, item] of Object.entries(objectOf(kind?.paths))) {
    for (const { method, operation } of operationsOf(item)) {
      const known = isLimitedRead(kind!, operation)
        ? { ...operation, "x-access": undefined }
        : operation;
      marked.set(`${method} ${addressOf(kind!, item, operation, path)}`, known);
    }
  }
  const paths: Json = {};
  for (const [path, value] of Object.entries(objectOf(document.paths))) {
    const item = objectOf(value);
    const mapped = mapOperations(
      item,
      ({ method, operation }) =>
        remarked(operation, marked.get(`${method} ${addressOf(document, item, operation, path)}`)),
    );
    setMember(paths, path, mapped === item ? value : mapped);
  }
  return document.paths === undefined ? document : { ...document, paths };
}

/**
 * A node's own OpenRPC document with the marks of its kind, and with no others.
 *
 * @param kind the document of its kind, where there is one
 */
export function withMarksOfMethods(openrpc: Json, kind: Json | undefined): Json {
  const known = objectOf(kind?.paths);
  const methods = listOf(openrpc.methods).map((method) => {
    const { name } = objectOf(method);
    const post = objectOf(objectOf(known[pathOfMethod(String(name))]).post);
    return remarked(withLimits(objectOf(method), post), post);
  });
  return { ...openrpc, methods };
}

/** The marks of a parameter's schema without which an operation may do more than its own marks say. */
const LIMITS = ["x-excludes", "x-heavy-from"] as const;

/** A method with the limits that its kind sets for the values of its parameters. */
function withLimits(method: Json, post: Json): Json {
  const media = objectOf(objectOf(objectOf(post.requestBody).content)["application/json"]);
  const known = objectOf(objectOf(media.schema).properties);
  const params = listOf(method.params).map((value) => {
    const param = objectOf(value);
    const limits = Object.entries(objectOf(known[String(param.name)]))
      .filter(([key]) => (LIMITS as readonly string[]).includes(key));
    if (limits.length === 0) return value;
    const schema = { allOf: [objectOf(param.schema)], ...Object.fromEntries(limits) };
    return { ...param, schema };
  });
  return method.params === undefined ? method : { ...method, params };
}

/**
 * Whether an operation that a kind marks reads for some values of its parameters alone. What the kind says of these is
 * not known of the node's own description, so that such an operation has to be opened by name.
 */
function isLimitedRead(kind: Json, { parameters, "x-access": access }: Json): boolean {
  return access === "read" && listOf(parameters).some((value) => {
    const parameter = followReference(kind, value);
    const schema = objectOf(followReference(kind, parameter.schema));
    return multiSegmentOf(parameter) !== undefined || LIMITS.some((mark) => mark in schema);
  });
}

/** An operation or a method with the marks of another one, and without its own. */
function remarked(operation: Json, known: Json = {}): Json {
  const marks = Object.entries(known)
    .filter(([key, value]) => OF_OPERATIONS.includes(key) && value !== undefined);
  const isSame = marks.length === 0 &&
    !OF_OPERATIONS.some((mark) => operation[mark] !== undefined);
  if (isSame) return operation;
  const bare = Object.entries(operation).filter(([key]) => !OF_OPERATIONS.includes(key));
  return Object.fromEntries([...bare, ...marks]);
}

/** A description with the part of its kind, the paths or the methods, of which it says nothing. */
export function withOtherPart(document: Json, kind: Json): Json {
  const theirs = objectOf(document.paths);
  const lacks = [true, false].filter((isMethod) =>
    !Object.keys(theirs).some((path) => isMethodPath(path) === isMethod)
  );
  const others = Object.entries(objectOf(kind.paths))
    .filter(([path]) => lacks.includes(isMethodPath(path)) && !Object.hasOwn(theirs, path));
  if (others.length === 0) return document;
  const { components, rename } = mergeComponents(
    objectOf(document.components),
    objectOf(kind.components),
  );
  const paths: Json = { ...theirs };
  const used = new Set<unknown>();
  for (const [path, item] of others) {
    const { servers = kind.servers } = objectOf(item);
    setMember(paths, path, { ...objectOf(rename(item)), servers });
    for (const { operation } of operationsOf(item)) {
      listOf(operation.tags).forEach((tag) => used.add(tag));
    }
  }
  const tags = listOf(document.tags);
  const further = listOf(kind.tags).filter((tag) => {
    const { name } = objectOf(tag);
    return used.has(name) && !tags.some((other) => objectOf(other).name === name);
  });
  return {
    ...document,
    paths,
    components,
    ...tags.length > 0 && { tags: [...tags, ...further] },
  };
}

const isMethodPath = (path: string): boolean => path.startsWith(pathOfMethod(""));

/** Where an operation is below its service; names in its template do not matter. */
function addressOf(document: Json, item: unknown, operation: Json, path: string): string {
  const holder = [operation, objectOf(item), document]
    .find(({ servers }) => listOf(servers).length > 0);
  const url = textOf(objectOf(listOf(holder?.servers)[0]).url) ?? "";
  return url + path.replaceAll(/\{[^{}]*\}/g, "{}");
}
