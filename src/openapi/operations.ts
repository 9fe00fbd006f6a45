/**
 * Lists, changes and checks the operations of a document.
 *
 * @module
 */
import {
  estimateSize,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  type Path,
  resolveFragment,
  setMember,
  textOf,
} from "../json/values.ts";
import type { Work } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import { type Diagnostics, LIMITS, OMITTED, quoteName, type Severity } from "./diagnostics.ts";

/** The HTTP methods that every version of OpenAPI allows in a path item. */
export const COMMON_METHODS = ["get", "put", "post", "delete", "options", "head", "patch"] as const;

/** The tag of the service's own operations. */
export const SERVICE_TAG = "About this service";

/**
 * The security scheme of clients' tokens. If the node's description already has a scheme with this
 * name, a number is appended to the name.
 */
export const TOKEN_SCHEME = "NodefaceToken";

const METHODS: ReadonlySet<string> = new Set([...COMMON_METHODS, "trace", "query"]);
const CHAIN_MAX = 16;

/**
 * Returns an empty object if the chain of references is broken or too long.
 *
 * @param resolve returns what a reference such as `#/components/schemas/A` leads to
 */
export function followReference(
  document: JsonObject,
  value: unknown,
  resolve: (ref: string) => unknown = (ref) => resolveFragment(document, ref.slice(1)),
): JsonObject {
  let found = objectOf(value);
  for (let i = 0; typeof found.$ref === "string"; i++) {
    if (i === CHAIN_MAX || !found.$ref.startsWith("#/")) return {};
    found = objectOf(resolve(found.$ref));
  }
  return found;
}

/**
 * Matches HTTP method names that are safe in HTML and in a shell. All methods in the IANA registry
 * match, except `*`.
 */
const OTHER_METHOD = /^[A-Za-z][A-Za-z-]{0,40}$/;
const FURTHER = "additionalOperations";

export interface LocatedOperation {
  readonly method: string;
  readonly keys: Path;
  readonly operation: JsonObject;
}

export function operationsOf(item: unknown): LocatedOperation[] {
  const all: LocatedOperation[] = [];
  const members = objectOf(item);
  for (const key of Object.keys(members)) {
    const operation = members[key];
    if (!isObject(operation)) continue;
    if (METHODS.has(key)) all.push({ method: key.toUpperCase(), keys: [key], operation });
    if (key !== FURTHER) continue;
    for (const method of Object.keys(operation)) {
      const further = operation[method];
      if (!isObject(further) || !OTHER_METHOD.test(method)) continue;
      all.push({ method, keys: [key, method], operation: further });
    }
  }
  return all;
}

/** Omits an operation if `change` returns `undefined`. Returns the same item if nothing changes. */
export function mapOperations(
  item: JsonObject,
  change: (located: LocatedOperation) => JsonObject | undefined,
): JsonObject {
  let mapped = item;
  for (const located of operationsOf(item)) {
    const changed = change(located);
    if (changed !== located.operation) mapped = withMember(mapped, located.keys, changed);
  }
  return mapped;
}

/** Omits the member if the value is `undefined`. */
function withMember(object: JsonObject, [key = "", ...inner]: Path, value: unknown): JsonObject {
  const changed = inner.length > 0 ? withMember(objectOf(object[key]), inner, value) : value;
  return mapMembers(object, (member, name) => name === key ? changed : member);
}

/**
 * Tests whether an OpenAPI document has more operations than `most`, or an OpenRPC document has
 * more methods. A path without operations counts as one.
 */
export function hasMoreOperations({ paths, webhooks, methods }: JsonObject, most: number): boolean {
  let count = listOf(methods).length;
  for (const items of [paths, webhooks].map(objectOf)) {
    // With many members, `Object.values` would take much longer.
    for (const key of Object.keys(items)) {
      if (count > most) return true;
      count += Math.max(1, operationsOf(items[key]).length);
    }
  }
  return count > most;
}

export interface PathOperation extends LocatedOperation {
  readonly path: string;
  readonly item: JsonObject;
}

export function operationsIn(document: JsonObject): PathOperation[] {
  const operations: PathOperation[] = [];
  const paths = objectOf(document.paths);
  for (const path of Object.keys(paths)) {
    const item = objectOf(paths[path]);
    for (const { method, keys, operation } of operationsOf(item)) {
      operations.push({ method, keys, operation, path, item });
    }
  }
  return operations;
}

export interface Parameter {
  /** The parameter itself, or a reference to it. */
  readonly value: unknown;
  readonly parameter: JsonObject;
  readonly name: string;
  readonly place: string;
}

export function parametersOf(
  document: JsonObject,
  item: JsonObject,
  operation: JsonObject,
): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const value of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const parameter = followReference(document, value);
    const [name = "", place = ""] = [textOf(parameter.name), textOf(parameter.in)];
    if (name) parameters.set(parameterKey(name, place), { value, parameter, name, place });
  }
  return [...parameters.values()];
}

/**
 * @param holders the objects with servers, in order of precedence: an operation, its path item and
 * the document
 */
export function serversFor(holders: readonly JsonObject[]): readonly unknown[] {
  return holders.map(({ servers }) => listOf(servers)).find(({ length }) => length > 0) ?? [];
}

type ItemChange = (item: JsonObject, name: string) => JsonObject;

/**
 * Changes the path items of a document. A normalized document has them in `paths` and `webhooks`
 * alone.
 */
export function* mapPathItems(
  document: JsonObject,
  changes: { readonly paths: ItemChange; readonly webhooks?: ItemChange },
): Work<JsonObject> {
  const mapped: JsonObject = { ...document };
  for (const [section, change] of Object.entries(changes)) {
    const items = document[section];
    if (!isObject(items)) continue;
    const changed: JsonObject = mapped[section] = {};
    for (const name of Object.keys(items)) {
      yield;
      const item = items[name];
      setMember(changed, name, isObject(item) ? change(item, name) : item);
    }
  }
  return mapped;
}

/** Returns the document without duplicate operationIds and an overlong `security` list. */
export function withValidOperations(
  document: JsonObject,
  diagnostics: Diagnostics,
): Work<JsonObject> {
  return new OperationCheck(document, diagnostics).checked();
}

class OperationCheck {
  readonly #document: JsonObject;
  readonly #diagnostics: Diagnostics;
  /** For each operationId, the operation that uses it first. */
  readonly #firsts = new Map<unknown, string>();

  constructor(document: JsonObject, diagnostics: Diagnostics) {
    this.#document = document;
    this.#diagnostics = diagnostics;
  }

  *checked(): Work<JsonObject> {
    const checked = yield* mapPathItems(this.#document, {
      paths: (item, name) => {
        this.#checkPath(item, name);
        return this.#checkItem(item, ["paths", name]);
      },
      webhooks: (item, name) => this.#checkItem(item, ["webhooks", name]),
    });
    const { security, ...others } = checked;
    const schemes = listOf(security).flatMap((one) => Object.keys(objectOf(one)));
    const isSmall = schemes.length <= LIMITS.inherited && estimateSize(security) <= SECURITY_MAX;
    if (isSmall) return checked;
    const fault = `"security" has more than ${LIMITS.inherited} schemes, or long names`;
    this.#diagnostics.add("error", fault, () => ["security"], OMITTED);
    return others;
  }

  #checkPath(item: JsonObject, template: string): void {
    this.#checkParameters(item, template);
    const [separator] = /[?#]/.exec(template) ?? [];
    if (separator === undefined) return;
    const part = separator === "?" ? "query" : "fragment";
    const message = `the path ${quoteName(template, NAME_MAX)} has a ${part}, which OpenAPI does ` +
      "not allow; its operations cannot be called here";
    this.#diagnostics.add("note", message, () => ["paths", template]);
  }

  #checkItem(item: JsonObject, path: Path): JsonObject {
    return mapOperations(item, ({ operation, keys, method }) => {
      const at = [...path, ...keys];
      const user = `${method} ${shorten(path.at(-1)!, NAME_MAX)}`;
      return this.#withUniqueId(operation, at, user);
    });
  }

  #withUniqueId(operation: JsonObject, path: Path, user: string): JsonObject {
    const { operationId, ...rest } = operation;
    if (operationId === undefined) return operation;
    const first = this.#firsts.get(operationId);
    if (first === undefined) {
      this.#firsts.set(operationId, user);
      return operation;
    }
    const id = quoteName(operationId, NAME_MAX);
    const fault = `the operationId ${id} is already used by ${first}`;
    const consequence = "it is omitted here";
    this.#diagnostics.add("note", fault, () => [...path, "operationId"], { consequence });
    return rest;
  }

  #checkParameters(item: JsonObject, template: string): void {
    const path = ["paths", template];
    const names = new Set([...template.matchAll(/\{([^{}?&#+;/]+)\}/g)].map(([, name]) => name!));
    const shared = this.#checkList(item, path, template, names);
    for (const { operation, keys } of operationsOf(item)) {
      const at = [...path, ...keys];
      const own = this.#checkList(operation, at, template, names);
      for (const name of names) {
        // A long path may have thousands of parameters, so the check ends when the limit of
        // diagnostics is exceeded.
        if (this.#diagnostics.omittedCount > 0) return;
        if (shared.has(name) || own.has(name)) continue;
        const ends = `${quoteName(name, NAME_MAX)} of the path ${quoteName(template, NAME_MAX)}`;
        this.#diagnostics.add("note", `the parameters do not include ${ends}`, () => at);
      }
    }
  }

  /** Returns the names of the path parameters. */
  #checkList(holder: JsonObject, path: Path, template: string, names: Set<string>): Set<string> {
    const inPath = new Set<string>();
    const seen = new Set<string>();
    for (const [i, value] of listOf(holder.parameters).entries()) {
      const { name, in: place, required } = followReference(this.#document, value);
      if (typeof name !== "string" || typeof place !== "string") continue;
      const report = (severity: Severity, fault: string) => {
        const message = `the ${place} parameter ${quoteName(name, NAME_MAX)} ${fault}`;
        this.#diagnostics.add(severity, message, () => [...path, "parameters", String(i)]);
      };
      const key = parameterKey(name, place);
      if (seen.has(key)) report("error", "is a duplicate");
      seen.add(key);
      if (place !== "path") continue;
      inPath.add(name);
      if (!names.has(name) && !template.includes(`{${name}}`)) {
        report("error", `is not in the path ${quoteName(template, NAME_MAX)}`);
      } else if (required !== true) report("note", 'needs "required: true"');
    }
    return inPath;
  }
}

/** The names of headers are not case-sensitive. */
function parameterKey(name: string, place: string): string {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

const NAME_MAX = 200;

/** The maximum size (`estimateSize`) of a document's `security`, which operations may repeat. */
const SECURITY_MAX = 1000;
