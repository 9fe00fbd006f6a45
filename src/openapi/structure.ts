/**
 * The structure of an OpenAPI, Swagger or OpenRPC document: the shapes of its members, and its
 * references.
 *
 * @module
 */
import { mapMembersInSlices } from "../json/in-slices.ts";
import { isObject, type JsonObject, objectOf, type Path } from "../json/values.ts";
import { memoize } from "../lazy.ts";
import {
  MAPPED,
  OPENAPI_3_0,
  OPENAPI_3_1,
  OPENAPI_3_2,
  OPENRPC_1_3,
  OTHER_MEMBERS,
  type Rows,
  SWAGGER,
} from "./tables.ts";

/**
 * The shape of a value: an object such as `schema`, a list (`schema[]`), or a map with free keys
 * (`{schema}`).
 */
export type Shape = string;

export interface Rule {
  readonly type: string;
  /** `undefined` for plain data, which cannot contain references. */
  readonly shape: Shape | undefined;
  /**
   * A missing `required` member makes the object invalid. A missing `expected` member causes only a
   * note.
   */
  readonly needed?: "required" | "expected" | undefined;
  readonly also?: "boolean" | "list" | undefined;
}

interface ObjectRules {
  readonly members: ReadonlyMap<string, Rule>;
  readonly required: readonly (readonly [key: string, rule: Rule])[];
  /** The keys of the members that are `expected`. */
  readonly expected: readonly string[];
}

export interface Structure {
  readonly name: string;
  /** The rules of the objects that the version defines, such as `schema`. */
  readonly objects: Readonly<Record<string, ObjectRules>>;
  /**
   * For each shape, the path to its components in a document. References to path items are replaced
   * by their targets, so these have none.
   */
  readonly sections: Readonly<Record<Shape, Path>>;
  /** In OpenRPC, and since OpenAPI 3.1, `$ref` may have siblings and a schema may be a boolean. */
  readonly hasSiblings: boolean;
}

/** Matches a member in a row of `tables.ts`, such as `name!`, `in!:place` or `items:schema+`. */
const MEMBER = /^(\*|[^:!*]+)([!*]?)(?::([^?+]+)([?+]?))?$/;

function compile(rows: Rows): Structure["objects"] {
  const isDefined = (type: string) =>
    Object.hasOwn(rows, type.replaceAll(/[{}[\]]/g, "")) || nameIn(type) === MAPPED;
  const readMember = (member: string): [key: string, rule: Rule] => {
    const [, key, sign, named, more] = MEMBER.exec(member) as unknown as string[];
    const type = named ?? (sign === "!" ? "text" : "any");
    return [key!, {
      type,
      shape: isDefined(type) ? type : undefined,
      needed: sign === "!" ? "required" : sign === "*" ? "expected" : undefined,
      also: more === "?" ? "boolean" : more === "+" ? "list" : undefined,
    }];
  };
  const objects = Object.entries(rows).map(([name, row]): [string, ObjectRules] => {
    // A version repeats the members that it changes.
    const members = new Map(row.trim().split(" ").map(readMember));
    const required = [...members].filter(([, { needed }]) => needed === "required");
    const expected = [...members].filter(([, { needed }]) => needed === "expected");
    return [name, { members, required, expected: expected.map(([key]) => key) }];
  });
  return Object.fromEntries(objects);
}

const nameIn = (shape: Shape): string => shape.startsWith("{") ? shape.slice(1, -1) : shape;

const ROWS = {
  "Swagger 2.0": SWAGGER,
  "OpenAPI 3.0": OPENAPI_3_0,
  "OpenAPI 3.1": OPENAPI_3_1,
  "OpenAPI 3.2": OPENAPI_3_2,
  "OpenRPC 1.3": OPENRPC_1_3,
} as const;

function versionOf(document: unknown): keyof typeof ROWS {
  const { swagger, openapi, openrpc } = objectOf(document);
  const version = String(openapi ?? swagger ?? "");
  if (version === "" && openrpc !== undefined) return "OpenRPC 1.3";
  if (version.startsWith("2")) return "Swagger 2.0";
  if (/^3(?:\.0|$)/.test(version)) return "OpenAPI 3.0";
  return version.startsWith("3.1") ? "OpenAPI 3.1" : "OpenAPI 3.2";
}

export const structureOf = (document: unknown): Structure => structureIn(versionOf(document));

/** The tables are compiled on demand, so that the command starts fast. */
const structureIn = memoize((name): Structure => {
  const objects = compile(ROWS[name as keyof typeof ROWS]);
  // Swagger 2.0 has no `components`: maps such as `definitions` are top-level members of the
  // document.
  const { components, document } = objects;
  const sections = Object.fromEntries(
    [...(components ?? document)!.members]
      .filter(([, { type }]) => type.startsWith("{") && type !== "{pathItem}")
      .map(([key, { type }]) => [nameIn(type), components ? ["components", key] : [key]]),
  );
  return { name, objects, sections, hasSiblings: !/2\.0|3\.0/.test(name) };
});

/**
 * Tests whether any version of OpenAPI or Swagger has a member of this name that may contain
 * references.
 */
export function isKeyword(key: string): boolean {
  keywords ??= new Set(
    Object.keys(ROWS).filter((name) => name !== "OpenRPC 1.3")
      .flatMap((name) => Object.values(structureIn(name).objects))
      .flatMap(({ members }) => [...members].flatMap(([key, { shape }]) => shape ? key : [])),
  );
  return keywords.has(key);
}

let keywords: ReadonlySet<string> | undefined;

export interface Place {
  readonly shape: Shape;
  readonly value: unknown;
  readonly key?: string;
  readonly parent?: Place;
}

export function pathOf(place: Place): Path {
  const path: string[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) path.push(at.key);
  return path.reverse();
}

export function ruleOf({ objects }: Structure, shape: Shape, key: string): Rule | undefined {
  const inner = itemOf(shape, key);
  if (inner !== undefined) return { type: inner, shape: inner };
  const { members } = objects[shape] ?? {};
  const rule = members?.get(key);
  if (rule) return rule;
  const isExtension = key.startsWith("x-") && shape !== "securityRequirement";
  return isExtension ? undefined : members?.get(OTHER_MEMBERS);
}

function itemOf(shape: Shape, key: string): Shape | undefined {
  if (shape.endsWith("[]")) return shape.slice(0, -2);
  if (shape.startsWith("{")) return shape.slice(1, -1);
  // In old drafts of JSON Schema, "items" may be a list of schemas.
  return shape === "schema" && /^\d{1,9}$/.test(key) ? shape : undefined;
}

export const shapeOfMember = (structure: Structure, shape: Shape, key: string): Shape | undefined =>
  ruleOf(structure, shape, key)?.shape;

export function shapeAt(structure: Structure, path: Path): Shape | undefined {
  const next = (shape: Shape | undefined, key: string) =>
    shape && shapeOfMember(structure, shape, key);
  return path.reduce(next, "document");
}

export function nameOfShape(shape: Shape): string {
  const name = shape.replaceAll(/[^A-Za-z]/g, "").replaceAll(/[A-Z]/g, " $&").toLowerCase();
  if (shape.endsWith("[]")) return `list (${name})`;
  return shape.startsWith("{") ? `map (${name})` : name;
}

/** In a discriminator's `mapping`, a key named `$ref` is not a reference. */
export function isReference(shape: Shape, value: unknown): value is JsonObject & { $ref: string } {
  return isObject(value) && Object.hasOwn(value, "$ref") && typeof value.$ref === "string" &&
    shape !== `{${MAPPED}}`;
}

export function siblingsOf(
  { hasSiblings }: Structure,
  shape: Shape,
  reference: JsonObject,
): string[] {
  return Object.keys(reference).filter((key) =>
    key !== "$ref" &&
    (shape === "pathItem" || shape.startsWith("{") ||
      (hasSiblings && (shape === "schema" || key === "summary" || key === "description")))
  );
}

/**
 * A map whose keys are pairs of an object and a shape. Through YAML aliases, one object can stand
 * in places of different shapes.
 */
export class ByShape<T> {
  readonly #items = new Map<Shape, Map<unknown, T>>();

  get(value: unknown, shape: Shape): T | undefined {
    return this.#items.get(shape)?.get(value);
  }

  set(value: unknown, shape: Shape, item: T): void {
    const items = this.#items.get(shape);
    if (items) items.set(value, item);
    else this.#items.set(shape, new Map([[value, item]]));
  }
}

export type Seen = ByShape<true>;

/**
 * Visits the objects and lists that may contain references, and the strings that are references
 * ({@linkcode MAPPED}), in document order. Visits each object only once per shape.
 *
 * @param isSkipped tells whether a member is not visited; it is called when its object has been
 * visited
 */
export function* walk(
  start: Place,
  structure: Structure,
  seen: Seen = new ByShape(),
  isSkipped?: (place: Place, key: string) => boolean,
): Generator<Place> {
  // Uses a stack instead of recursion, since nested generators take quadratic time in a deep
  // document.
  const stack: Iterator<Place>[] = [[start].values()];
  for (let places = stack.at(-1); places; places = stack.at(-1)) {
    const next = places.next();
    if (next.done) {
      stack.pop();
      continue;
    }
    const place = next.value;
    const { shape, value } = place;
    if (typeof value === "string" && shape === MAPPED) yield place;
    if (typeof value !== "object" || value === null || seen.get(value, shape)) continue;
    seen.set(value, shape, true);
    yield place;
    stack.push(membersOf(place, structure, isSkipped));
  }
}

function* membersOf(
  parent: Place,
  structure: Structure,
  isSkipped?: (place: Place, key: string) => boolean,
): Generator<Place> {
  const { shape, value } = parent;
  const keys = isReference(shape, value)
    ? siblingsOf(structure, shape, value)
    : Object.keys(value as JsonObject);
  for (const key of keys) {
    const inner = isSkipped?.(parent, key) ? undefined : shapeOfMember(structure, shape, key);
    if (inner) yield { shape: inner, value: (value as JsonObject)[key], key, parent };
  }
}

/**
 * Converts the schemas of a document to another version of JSON Schema.
 *
 * @param document a document, or a part of one
 * @param version an object with the version of the document, such as `{ swagger: "2.0" }`
 * @param change converts a schema whose inner schemas have been converted
 */
export async function mapSchemas<T>(
  document: T,
  version: JsonObject,
  change: (schema: JsonObject) => JsonObject,
): Promise<T> {
  const structure = structureOf(version);
  const known = new Map<unknown, unknown>();
  const map = async (value: unknown, shape: Shape): Promise<unknown> => {
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    const mapMember = (member: unknown, key: string) => {
      const inner = shapeOfMember(structure, shape, key);
      return inner === undefined ? member : map(member, inner);
    };
    const members = await mapMembersInSlices(value, mapMember);
    const mapped = shape === "schema" && isObject(members) ? change(members) : members;
    known.set(value, mapped);
    return mapped;
  };
  return await map(document, "document") as T;
}

export interface JsonReference {
  /** The object with the `$ref`, or a string that is a reference ({@linkcode MAPPED}). */
  readonly place: Place;
  readonly ref: string;
  readonly expected: Shape;
  readonly isPlain: boolean;
}

export const REF_MAX = 400;

export function referenceAt(place: Place): JsonReference | undefined {
  const { shape, value } = place;
  if (typeof value === "string") {
    // A string without a slash or a file extension is the name of a component, not a reference.
    if (/^[\w.-]+$/.test(value) && !/\.(?:json|ya?ml)$/i.test(value)) return undefined;
    return { place, ref: value, expected: "schema", isPlain: false };
  }
  if (!isReference(shape, value)) return undefined;
  return { place, ref: value.$ref, expected: shape, isPlain: true };
}

export function pathOfReference({ place, isPlain }: JsonReference): Path {
  return isPlain ? [...pathOf(place), "$ref"] : pathOf(place);
}
