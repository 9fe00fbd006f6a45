/**
 * The marks of a node's operations, which say what may be done with them: `kinds/marks.ts`. Whoever serves a
 * description over the network is not asked for them.
 *
 * @module
 */
import { type Json, listOf, objectOf, setMember, textOf } from "../json/values.ts";
import { MARKS } from "../kinds/marks.ts";
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
      marked.set(`${method} ${addressOf(kind!, item, operation, path)}`, operation);
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
    return remarked(objectOf(method), objectOf(objectOf(known[pathOfMethod(String(name))]).post));
  });
  return { ...openrpc, methods };
}

/** An operation or a method with the marks of another one, and without its own. */
function remarked(operation: Json, known: Json = {}): Json {
  const marks = Object.entries(known).filter(([key]) => OF_OPERATIONS.includes(key));
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
