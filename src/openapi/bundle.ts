/**
 * Joins the files of a description into one document, and turns the targets of references into components. Component
 * names do not depend on the order of the files.
 *
 * @module
 */
import {
  capital,
  createFreeName,
  estimateSize,
  formatPointer,
  isObject,
  type Json,
  mapMembers,
  objectOf,
  setMember,
  valueAt,
} from "../json/values.ts";
import { decodePercent, quote, shorten } from "../untrusted-text.ts";
import { LIMITS } from "./diagnostics.ts";
import { type Files, isPure, type Link, nameOfComponent, report, type Target } from "./resolve.ts";
import {
  ByShape,
  isKeyword,
  isReference,
  isSample,
  SAMPLE,
  type Shape,
  shapeOfMember,
  siblingsOf,
} from "./structure.ts";
import { NAMING } from "./tables.ts";

const EMPTY: Readonly<Record<Shape, Json>> = {
  schema: {},
  response: { description: "" },
  pathItem: {},
};

export function bundle(files: Files): Json {
  const root = files.root.value as Json;
  const plan = planComponents(files);
  const copy = createCopier(files, plan);
  let document = copy(root, "document") as Json;
  for (const [shape, targets] of plan.added) {
    const [outer, inner] = files.structure.sections[shape]! as [string, string?];
    const holder = inner ? { ...objectOf(document[outer]) } : { ...document };
    const section: Json = { ...objectOf(holder[inner ?? outer]) };
    for (const [target, name] of targets) {
      const value = copy(target.value, shape, true);
      if (value !== undefined) setMember(section, name, value);
    }
    holder[inner ?? outer] = section;
    document = inner ? { ...document, [outer]: holder } : holder;
  }
  return document;
}

interface Plan {
  readonly names: ByShape<string>;
  readonly sections: ReadonlySet<unknown>;
  /** Components of the root file that are replaced by the target of their `$ref`. */
  readonly hosts: ReadonlySet<unknown>;
  readonly added: ReadonlyMap<Shape, ReadonlyMap<Target, string>>;
}

function planComponents(files: Files): Plan {
  const { root, structure, links, linkOf } = files;
  const names = new ByShape<string>();
  const sections = new Set<unknown>();
  const hosts = new Set<unknown>();
  const added = new Map<Shape, Map<Target, string>>();
  const taken = new Map<Shape, Set<unknown>>();
  for (const [shape, path] of Object.entries(structure.sections)) {
    const section = objectOf(valueAt(root.value, path));
    const keys = Object.keys(section);
    taken.set(shape, new Set(keys));
    sections.add(section);
    for (const key of keys) {
      if (!isComponentName(key) && !key.startsWith("x-")) {
        const allowed = `up to ${KEPT_LENGTH_MAX} letters, digits, ".", "-" and "_"`;
        const message = `${quote(shorten(key, 80))} is not a valid name: use ${allowed}`;
        root.diagnostics.add("note", message, () => [...path, key]);
      }
      const value = section[key];
      const isFirst = isObject(value) && names.get(value, shape) === undefined;
      if (isFirst && !isPure(structure, shape, value)) names.set(value, shape, key);
    }
    // If several components refer to the same target, the target replaces only one of them.
    const references = keys.flatMap((key) => {
      const { end, isBroken } = linkOf(section[key], shape) ?? {};
      const isReplaced = isPure(structure, shape, section[key]) && isComponentName(key);
      if (!isReplaced || !end || isBroken || !isObject(end.value)) return [];
      if (nameOfComponent(files, end) !== undefined) return [];
      return [{ key, value: end.value, rank: end.path.at(-1) === key ? 0 : 1 }];
    });
    references.sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1));
    for (const { key, value } of references) {
      if (names.get(value, shape) !== undefined) continue;
      names.set(value, shape, key);
      hosts.add(section[key]);
    }
  }
  const uses: Map<Target, number> = new Map();
  const firsts = new ByShape<Target>();
  for (const { end, isBroken } of links) {
    if (!end || isBroken || !taken.has(end.shape) || !isObject(end.value)) continue;
    const isNamed = names.get(end.value, end.shape) !== undefined;
    if (isNamed || nameOfComponent(files, end) !== undefined) continue;
    const first = firsts.get(end.value, end.shape) ?? end;
    firsts.set(end.value, end.shape, first);
    uses.set(first, (uses.get(first) ?? (end.member === root ? 1 : 0)) + 1);
  }
  for (const [shape, used] of taken) {
    const targets = [...uses.keys()].filter((target) =>
      target.shape === shape && (shape !== "pathItem" || uses.get(target)! > 1)
    );
    if (targets.length === 0) continue;
    const freeName = createFreeName(used);
    const named = new Map(targets.sort(compare).map((one) => [one, freeName(nameFor(one))]));
    for (const [{ value }, name] of named) names.set(value, shape, name);
    added.set(shape, named);
  }
  return { names, sections, hosts, added };
}

function createCopier(files: Files, { names, sections, hosts }: Plan) {
  const { structure, linkOf } = files;
  const done = new ByShape<unknown>();
  const open = new Set<unknown>();
  const sizes = new Map<unknown, number>();
  let copiedSize = 0;
  const isTooMuch = (copied: unknown): boolean => {
    copiedSize += estimateSize(copied, sizes);
    return copiedSize > LIMITS.added;
  };

  function copy(value: unknown, shape: Shape, isComponent = false, depth = 0): unknown {
    if (typeof value !== "object" || value === null) return value;
    const name = names.get(value, shape);
    if (name !== undefined && !isComponent) return { $ref: pointerTo(shape, name) };
    if (isReference(shape, value)) return copyReference(value, shape, isComponent, depth);
    const known = done.get(value, shape);
    if (known !== undefined) return known;
    const object = value as Json;
    const copied = Array.isArray(value)
      ? copyList(value, shape, depth)
      : mapMembers(object, (_, key) => copyMember(object, shape, key, depth));
    done.set(value, shape, copied);
    return copied;
  }

  function copyList(list: unknown[], shape: Shape, depth: number): unknown[] {
    const items = list.map((_, i) => copyMember(list as unknown as Json, shape, String(i), depth));
    const isSame = items.every((item, i) => item === list[i]);
    return isSame ? list : items.filter((item) => item !== undefined);
  }

  function copyMember(object: Json, shape: Shape, key: string, depth: number): unknown {
    const diagnostic = files.diagnosticsOf(object, shape)?.get(key);
    if (diagnostic?.isOmitted) return undefined;
    if (diagnostic?.value !== undefined) return diagnostic.value;
    // `$id` is omitted, since it would change the base URI of references.
    if (shape === "schema" && key === "$id") return undefined;
    const member = object[key];
    const inner = shapeOfMember(structure, shape, key);
    if (!inner) return isSample(structure, shape, key, member) ? copySample(member) : member;
    if (!Object.hasOwn(NAMING, inner)) return copy(member, inner, sections.has(object), depth + 1);
    const link = linkOf(object, inner, key);
    if (!link) return member;
    const name = link.end && !link.isBroken ? nameOf(link.end) : undefined;
    return name && pointerTo(link.end!.shape, name);
  }

  function copySample(example: unknown): unknown {
    const link = linkOf(example, SAMPLE);
    if (!link?.end) return example;
    if (!isTooMuch(link.end.value)) return link.end.value;
    report(link, "would make the document too large");
    return example;
  }

  const nameOf = (target: Target): string | undefined =>
    nameOfComponent(files, target) ?? names.get(target.value, target.shape);

  function copyReference(
    value: Json & { $ref: string },
    shape: Shape,
    isComponent: boolean,
    depth: number,
  ): unknown {
    const link = linkOf(value, shape);
    if (!link) return value;
    const siblings: Json = {};
    for (const key of siblingsOf(structure, shape, value)) {
      const member = copyMember(value, shape, key, depth);
      if (member !== undefined) setMember(siblings, key, member);
    }
    const { end, isBroken } = link;
    if (!end || isBroken) return emptyOf(shape, siblings);
    if (isComponent && hosts.has(value)) return copy(end.value, shape, true, depth);
    const name = nameOf(end);
    if (name !== undefined && (isObject(end.value) || nameOfComponent(files, end) !== undefined)) {
      return redirect(value, pointerTo(shape, name), shape, siblings);
    }
    if (typeof end.value === "boolean") {
      if (Object.keys(siblings).length === 0) return end.value;
      return end.value ? siblings : { ...siblings, not: {} };
    }
    return putInPlace(link, end, siblings, depth);
  }

  /** Omits the siblings of `$ref` that OpenAPI ignores, since several tools reject such siblings. */
  function redirect(value: Json, $ref: string, shape: Shape, siblings: Json): Json {
    const hasSiblings = $ref === value.$ref || shape === "schema" || shape === "pathItem";
    return mapMembers(value, (member, key) => {
      if (key === "$ref") return $ref;
      if (!hasSiblings && !/^(?:summary|description|x-.*)$/.test(key)) return undefined;
      const isPlain = !shapeOfMember(structure, shape, key) && key !== "$id";
      return siblings[key] ?? (isPlain ? member : undefined);
    });
  }

  function putInPlace(link: Link, end: Target, siblings: Json, depth: number): unknown {
    const { shape, value } = end;
    if (shape !== "pathItem") {
      report(link, "is not allowed here, so its target is shown in its place", "note");
    }
    const refuse = (failure: string) => {
      report(link, failure);
      return emptyOf(shape, siblings);
    };
    if (open.has(value)) return refuse("leads in a circle");
    if (depth > LIMITS.depth) return refuse("is nested too deep");
    open.add(value);
    const copied = copy(value, shape, true, depth + 1);
    open.delete(value);
    if (isTooMuch(copied)) return refuse("would make the document too large");
    return Array.isArray(copied) ? copied : { ...copied as Json, ...siblings };
  }

  const pointerTo = (shape: Shape, name: string): string =>
    `#${encodeURI(formatPointer([...structure.sections[shape]!, name]))}`;
  return copy;
}

function emptyOf(shape: Shape, siblings: Json): Json | undefined {
  const empty = EMPTY[shape];
  const isNothing = !empty && Object.keys(siblings).length === 0;
  return isNothing ? undefined : { ...empty, ...siblings };
}

/**
 * The maximum lengths of new names and of existing names that are kept. Every reference contains the name of a
 * component, so long names would make the document much larger.
 */
const LENGTH_MAX = 120, KEPT_LENGTH_MAX = 400;

function isComponentName(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name) && name.length <= KEPT_LENGTH_MAX;
}

/** For example, the schema at `/components/schemas/Pet/properties/owner` gets the name `PetOwner`. */
function nameFor({ member, path, shape, value }: Target): string {
  const chosen = path.filter((key) => !isKeyword(key) && !/^[^/]+\/[^/]+$/.test(key));
  const keys = [stemOf(member.url), ...chosen];
  const [above, last] = [keys.at(-2) ?? "", keys.at(-1)!];
  const isMember = path.at(-2) === "properties" || /^(?:\d.*|default)$/.test(last);
  const own = isMember && objectOf(value).name;
  const name = typeof own === "string"
    ? valid(own)
    : isMember
    ? valid(above) + capital(valid(last))
    : valid(last);
  return /[A-Za-z]/.test(name) ? name : capital(shape) + name;
}

const valid = (name: string): string =>
  name.slice(0, LENGTH_MAX).replaceAll(/[^A-Za-z0-9._-]+/g, "_").replaceAll(/^_+|_+$/g, "");

function stemOf(url: string): string {
  const name = decodePercent(new URL(url).pathname.split("/").at(-1)!);
  return name.replace(/(?:\.(?:schema|response|parameter|example))?\.\w+$/, "");
}

function compare(a: Target, b: Target): number {
  if (a.member !== b.member) return a.member.url < b.member.url ? -1 : 1;
  const i = a.path.findIndex((key, i) => key !== b.path[i]);
  if (i === -1) return a.path.length - b.path.length;
  return i >= b.path.length || a.path[i]! > b.path[i]! ? 1 : -1;
}
