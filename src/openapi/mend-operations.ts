/**
 * Mends what is wrong between operations: what is there twice, and parameters that do not go with their
 * path. What is wrong with a value by itself is known before: `validity.ts`.
 *
 * @module
 */
import type { Complaints } from "./gather-complaints.ts";
import { followReference } from "./follow-reference.ts";
import { LIMITS } from "./limits.ts";
import { mapOperations } from "./operations-of-path-item.ts";
import { isObject, type Json, listOf, objectOf, type Path, setMember } from "../json/values.ts";
import { quote, shorten } from "../untrusted-text.ts";

/** Where something is, and what it is in. */
interface Context {
  readonly document: Json;
  readonly complaints: Complaints;
  /** The names in the template of the path. */
  readonly variables: ReadonlySet<string>;
  readonly template: string;
  /** How many parameters have been added. */
  readonly added: { count: number };
}

/** How many parameters are added at the most: a path may have as many names as it has letters. */
const ADDED_MAX = LIMITS.findings;

/**
 * Mends a document.
 *
 * @param document of one piece; stays as it is
 * @param complaints what is wrong is added, with its place
 */
export function mendOperations(document: Json, complaints: Complaints): Json {
  const mended: Json = { ...document };
  const firsts = new Map<unknown, string>();
  const shapes = new Map<string, string>();
  const added = { count: 0 };
  for (const section of ["paths", "webhooks"]) {
    if (!isObject(document[section])) continue;
    const items: Json = {};
    for (const [name, value] of Object.entries(document[section])) {
      const path = [section, name];
      const item = isObject(value)
        ? withUniqueIds(withoutExcess(value, path, complaints), name, path, firsts, complaints)
        : value;
      const hasTemplate = section === "paths" && !name.startsWith("x-");
      if (hasTemplate) compareTemplates(name, path, shapes, complaints);
      const isOwn = hasTemplate && isObject(item) && item.$ref === undefined;
      const variables = variablesOf(name);
      const context = { document, complaints, variables, template: name, added };
      setMember(items, name, isOwn ? withParameters(item, path, context) : item);
    }
    mended[section] = items;
  }
  if (Array.isArray(document.tags)) mended.tags = uniqueTags(document.tags, complaints);
  if (schemesOf(document.security).length > LIMITS.inherited) {
    const message = `"security" of the whole names more than ${LIMITS.inherited} schemes; ${OUT}`;
    complaints.add({ message, isError: true }, () => ["security"]);
    delete mended.security;
  }
  return mended;
}

const schemesOf = (security: unknown): string[] =>
  listOf(security).flatMap((requirement) => Object.keys(objectOf(requirement)));

/** A path item with as many further operations as are taken: each has all that the path has. */
function withoutExcess(item: Json, path: Path, complaints: Complaints): Json {
  const { additionalOperations: further } = item;
  const all = isObject(further) ? Object.entries(further) : [];
  if (all.length <= LIMITS.inherited) return item;
  const message =
    `a path has more than ${LIMITS.inherited} further operations; the others are left out`;
  complaints.add({ message, isError: true }, () => [...path, "additionalOperations"]);
  return { ...item, additionalOperations: Object.fromEntries(all.slice(0, LIMITS.inherited)) };
}

/** The names in the template of a path. */
function variablesOf(template: string): Set<string> {
  return new Set([...template.matchAll(/\{([^{}?&#+;/]+)\}/g)].map(([, name]) => name!));
}

function withUniqueIds(
  item: Json,
  name: string,
  path: Path,
  firsts: Map<unknown, string>,
  complaints: Complaints,
): Json {
  return mapOperations(item, ({ operation, path: keys, method }) => {
    const { operationId, ...rest } = operation;
    if (operationId === undefined) return operation;
    const first = firsts.get(operationId);
    if (first === undefined) {
      firsts.set(operationId, `${method} ${shorten(name, NAME_MAX)}`);
      return operation;
    }
    const message = `the operationId ${nameOf(operationId)} is that of ${first} as well; ${OUT}`;
    complaints.add({ message }, () => [...path, ...keys, "operationId"]);
    return rest;
  });
}

function compareTemplates(
  template: string,
  path: Path,
  shapes: Map<string, string>,
  complaints: Complaints,
): void {
  const shape = template.replaceAll(/\{[^{}]*\}/g, "{}");
  const other = shapes.get(shape);
  if (other === undefined) shapes.set(shape, template);
  else {
    const message = `the path ${nameOf(template)} is to clients the same as ${nameOf(other)}`;
    complaints.add({ message }, () => path);
  }
}

/** A path item whose parameters are those of its template. */
function withParameters(item: Json, path: Path, context: Context): Json {
  const shared = mendList(item, path, context);
  const mended = shared.list === item.parameters ? item : { ...item, parameters: shared.list };
  const unshared = [...context.variables].filter((name) => !shared.inPath.has(name));
  return mapOperations(mended, ({ operation, path: keys }) => {
    const own = mendList(operation, [...path, ...keys], context);
    const missing = context.added.count > ADDED_MAX
      ? []
      : unshared.filter((name) => !own.inPath.has(name));
    context.added.count += missing.length;
    if (context.added.count > ADDED_MAX) {
      return { ...operation, ...own.list && { parameters: own.list } };
    }
    for (const name of missing) {
      const message = `the path ${nameOf(context.template)} has no parameter ${nameOf(name)}; ` +
        "a text is taken for it";
      context.complaints.add({ message }, () => [...path, ...keys]);
    }
    if (missing.length === 0 && own.list === operation.parameters) return operation;
    const isSwagger = context.document.swagger !== undefined;
    const added = missing.map((name) => ({
      name,
      in: "path",
      required: true,
      ...isSwagger ? { type: "string" } : { schema: { type: "string" } },
    }));
    return { ...operation, parameters: [...own.list ?? [], ...added] };
  });
}

/** A list of parameters without those that are there twice or have no place in the path. */
function mendList({ parameters }: Json, path: Path, context: Context) {
  const { document, complaints, variables, template } = context;
  const inPath = new Set<string>();
  if (!Array.isArray(parameters)) return { list: undefined, inPath };
  const seen = new Set<string>();
  const list = parameters.filter((value) => {
    const { name, in: place } = followReference(document, value);
    if (typeof name !== "string" || typeof place !== "string") return true;
    const complain = (why: string) => {
      const message = `the ${place} parameter ${nameOf(name)} ${why}; ${OUT}`;
      complaints.add({ message, isError: true }, () => [...path, "parameters"]);
      return false;
    };
    const key = `${place} ${place === "header" ? name.toLowerCase() : name}`;
    if (seen.has(key)) return complain("is there a second time");
    seen.add(key);
    if (place !== "path") return true;
    if (!variables.has(name)) return complain(`has no place in ${nameOf(template)}`);
    inPath.add(name);
    return true;
  });
  return { list: list.length === parameters.length ? parameters : list, inPath };
}

function uniqueTags(tags: readonly unknown[], complaints: Complaints): readonly unknown[] {
  const seen = new Set<unknown>();
  const unique = tags.filter((tag, i) => {
    const { name } = objectOf(tag);
    const isFirst = !seen.has(name);
    const message = `the tag ${nameOf(name)} is there a second time; ${OUT}`;
    if (!isFirst) complaints.add({ message }, () => ["tags", String(i), "name"]);
    seen.add(name);
    return isFirst;
  });
  return unique.length === tags.length ? tags : listOf(unique);
}

const OUT = "it is left out";

/** How much of a name is told, in characters. */
const NAME_MAX = 200;

const nameOf = (name: unknown): string => quote(shorten(String(name), NAME_MAX));
