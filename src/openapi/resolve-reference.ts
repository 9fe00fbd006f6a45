/**
 * Finds what a reference names within a file: by JSON Pointer, by anchor, or by the name of a schema.
 *
 * @module
 */
import { parseFragment } from "../json/pointer.ts";
import { isObject, type Path } from "../json/values.ts";
import type { Source } from "./parse.ts";
import {
  pathOf,
  type Place,
  type Shape,
  shapeAt,
  structureOf,
  walk,
} from "./document-structure.ts";

/** What relative references and fragments are relative to: a file, or a schema with an `$id`. */
export interface Base {
  readonly url: string;
  readonly value: unknown;
  /** The keys from the root of the file to `value`. */
  readonly path: Path;
  /** Whether `url` is the `$id` of `value` and not that of the file. */
  readonly isNamed: boolean;
}

/** A value in a file. */
export interface Located {
  readonly value: unknown;
  /** The keys from the root of the file. */
  readonly path: Path;
  /** What the value stands in. Its own `$id` comes on top of that. */
  readonly base: Base;
}

/** What there is to be found in a file. */
export interface Findable {
  readonly source: Pick<Source, "value">;
  /** The file as a whole. */
  readonly base: Base;
  /** By the URL of what they are in and their name; made when the first one is looked for. */
  anchors?: Map<string, Located>;
}

/**
 * What references at a place are relative to.
 *
 * @param start where the walk to the place began
 */
export function baseAt(place: Place, start: Located): Base {
  const named: Place[] = [];
  for (let at: Place | undefined = place; at; at = at.parent) {
    if (at.shape === "schema" && idOf(at.value) !== undefined) named.push(at);
  }
  return named.reverse().reduce(
    (base, at) => within(base, at.value, [...start.path, ...pathOf(at)]),
    start.base,
  );
}

/** Finds what a fragment names: from the base on, or else in the whole file. */
export function findFragment(file: Findable, base: Base, fragment: string): Located | undefined {
  if (fragment !== "" && !fragment.startsWith("/")) return findAnchor(file, base, fragment);
  const keys = parseFragment(fragment);
  return keys && (follow(base, keys) ?? follow(file.base, keys));
}

/** The shape of what stands at a path, where the file is a whole document and says so. */
export function knownShape({ value }: Pick<Source, "value">, path: Path): Shape | undefined {
  return isDocument(value) ? shapeAt(structureOf(value), path) : undefined;
}

const isDocument = (value: unknown) =>
  isObject(value) && ("openapi" in value || "swagger" in value);

function idOf(value: unknown): string | undefined {
  return isObject(value) && typeof value.$id === "string" ? value.$id : undefined;
}

/** What has been found of schemas with an `$id`: many references may be in one. */
const BASES = new WeakMap<object, { readonly outer: Base; readonly base: Base }>();

/** The longest `$id`, in characters. */
const ID_MAX = 2000;

/** The base of what is in a value, which may have an `$id`. */
function within(outer: Base, value: unknown, path: Path): Base {
  const id = idOf(value);
  if (id === undefined || (outer.isNamed && value === outer.value)) return outer;
  const known = BASES.get(value as object);
  if (known?.outer === outer) return known.base;
  if (id.length > ID_MAX || !URL.canParse(id, outer.url)) return outer;
  const url = new URL(id, outer.url);
  url.hash = "";
  const base = { url: url.href, value, path, isNamed: true };
  BASES.set(value as object, { outer, base });
  return base;
}

function follow(start: Base, keys: Path): Located | undefined {
  let { value, path } = start;
  let base = start;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    // "length" is a property of a list, not an item.
    if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined;
    base = within(base, value, path);
    value = (value as Record<string, unknown>)[key];
    path = [...path, key];
  }
  return value === undefined ? undefined : { value, path, base };
}

function findAnchor(file: Findable, base: Base, name: string): Located | undefined {
  file.anchors ??= anchorsOf(file);
  return file.anchors.get(`${base.url}#${name}`) ?? file.anchors.get(name);
}

/** The anchors of a file: a document, a schema, or a map of schemas. */
function anchorsOf({ source: { value }, base }: Findable): Map<string, Located> {
  const anchors = new Map<string, Located>();
  const seen = new Map();
  const starts: Located[] = [{ value, path: [], base }];
  const shape = isDocument(value) ? "document" : "schema";
  if (shape === "schema" && isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      starts.push({ value: member, path: [key], base });
    }
  }
  for (const start of starts) {
    for (const place of walk({ shape, value: start.value }, structureOf(value), seen)) {
      if (place.shape !== "schema" || !isObject(place.value)) continue;
      for (const key of ["$anchor", "$dynamicAnchor"]) {
        const name = place.value[key];
        if (typeof name !== "string") continue;
        const found = { value: place.value, path: [...start.path, ...pathOf(place)], base };
        anchors.set(`${baseAt(place, start).url}#${name}`, found);
        if (!anchors.has(name)) anchors.set(name, found);
      }
    }
  }
  return anchors;
}
