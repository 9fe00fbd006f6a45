/**
 * Makes one document of a description: what references name is put into components, and each reference
 * leads to `#/components/<section>/<Name>`.
 *
 * @module
 */
import { isValidName, nameTargets, toValidName } from "./component-names.ts";
import { LIMITS } from "./limits.ts";
import { formatPointer } from "../json/pointer.ts";
import { isObject, type Json, objectOf, setMember } from "../json/values.ts";
import { weigh } from "../json/weigh.ts";
import { mapOperations } from "./operations-of-path-item.ts";
import {
  complain,
  type Files,
  isPure,
  type Link,
  nameOfComponent,
  type Target,
} from "./resolve-files.ts";
import { exampleReferenceIn } from "./example-files.ts";
import { withoutLogin } from "./server-url.ts";
import { NAMING } from "./shape-tables.ts";
import { isReference, type Shape, shapeOfMember, siblingsOf } from "./document-structure.ts";
import type { Fault } from "./validity.ts";

/** How deep copies may be nested in copies. */
const DEPTH_MAX = LIMITS.depth;

/** How much may be put in the place of references, in values or 32 characters of text. */
const COPIES_MAX = LIMITS.nodes;

/** What stands where a reference leads to nothing; anything else is left out. */
const EMPTY: Readonly<Record<Shape, Json>> = {
  schema: {},
  response: { description: "" },
  pathItem: {},
  mediaType: {},
  info: { title: "", version: "" },
  paths: {},
  responses: { default: { description: "" } },
  flows: {},
  "{mediaType}": {},
};

/** Members of a schema that mean nothing once every reference leads to components. */
const LEFT_OUT: ReadonlySet<string> = new Set(["$id"]);

/** Members of JSON Schema that a Schema Object has only since OpenAPI 3.1. */
const LEFT_OUT_BEFORE_3_1: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$dynamicAnchor"],
]);

/** By a value and what it is. */
type ByShape<T> = Map<unknown, Map<Shape, T>>;

/**
 * Makes one document. What is wrong is added to the complaints of the files; what was read stays as it is,
 * and the document is the root itself where nothing is to be changed.
 */
export function bundle(files: Files): Json {
  const root = files.root.source.value as Json;
  const plan = planComponents(files);
  const copier = createCopier(files, plan);
  let document = copier.copy(root, "document") as Json;
  for (const [shape, targets] of plan.added) {
    const [outer, inner] = files.structure.sections[shape]! as [string, string?];
    const holder = inner ? { ...objectOf(document[outer]) } : { ...document };
    const section: Json = { ...objectOf(holder[inner ?? outer]) };
    for (const [target, name] of targets) {
      const value = copier.copy(target.value, shape, true);
      if (value !== undefined) setMember(section, name, value);
    }
    holder[inner ?? outer] = section;
    document = inner ? { ...document, [outer]: holder } : holder;
  }
  return document;
}

/** Which components there will be. */
interface Plan {
  /** The names of values that are components or become some. */
  readonly names: ByShape<string>;
  /** The sections of the root, with the new name of each component. */
  readonly sections: ReadonlyMap<unknown, ReadonlyMap<string, string>>;
  /** The components of the root whose reference is replaced by what it names. */
  readonly hosts: ReadonlySet<unknown>;
  /** What is put into components, by what it is. */
  readonly added: ReadonlyMap<Shape, ReadonlyMap<Target, string>>;
}

function planComponents(files: Files): Plan {
  const { root, structure, links, linkOf } = files;
  const names: ByShape<string> = new Map();
  const sections = new Map<unknown, Map<string, string>>();
  const hosts = new Set<unknown>();
  const added = new Map<Shape, Map<Target, string>>();
  const taken = new Map<Shape, Set<string>>();
  for (const shape of Object.keys(structure.sections)) {
    const section = sectionOf(files, shape);
    const keys = Object.keys(section);
    const used = new Set(keys.filter(isValidName));
    const renamed = new Map(keys.map((key) => [key, key]));
    taken.set(shape, used);
    const invalid = new Map<Target, string>();
    for (const key of keys.filter((key) => !isValidName(key) && !key.startsWith("x-"))) {
      const path = [toValidName(key, shape)];
      invalid.set({ member: root, base: root.base, shape, value: undefined, path }, key);
    }
    // All at once, as many may get the same name.
    const valid = nameTargets([...invalid.keys()], used);
    for (const [target, key] of invalid) renamed.set(key, valid.get(target)!);
    sections.set(section, renamed);
    for (const key of keys) {
      const value = section[key];
      if (!isPure(structure, shape, value)) setName(names, value, shape, renamed.get(key)!);
    }
    // A component that only refers to something elsewhere is where that is put.
    const references = keys.map((key) => ({ key, link: linkOf(section[key], shape) }))
      .filter(({ key, link }) =>
        link?.end && !link.isBroken && isPure(structure, shape, section[key])
      )
      .sort((a, b) => rankOf(a) - rankOf(b) || (a.key < b.key ? -1 : 1));
    for (const { key, link } of references) {
      const { value } = link!.end!;
      const isElsewhere = isObject(value) && nameOfComponent(files, link!.end!) === undefined;
      if (!isElsewhere || names.get(value)?.has(shape)) continue;
      setName(names, value, shape, renamed.get(key)!);
      hosts.add(section[key]);
    }
  }
  const uses: Map<Target, number> = new Map();
  const firsts: ByShape<Target> = new Map();
  for (const { end, isBroken, reference } of links) {
    if (!end || isBroken || !taken.has(end.shape) || !isObject(end.value)) continue;
    if (reference.expected !== end.shape || nameOfComponent(files, end) !== undefined) continue;
    if (names.get(end.value)?.has(end.shape)) continue;
    const shapes = firsts.get(end.value) ?? new Map<Shape, Target>();
    const first = shapes.get(end.shape) ?? end;
    firsts.set(end.value, shapes.set(end.shape, first));
    uses.set(first, (uses.get(first) ?? (end.member === root ? 1 : 0)) + 1);
  }
  for (const [shape, used] of taken) {
    // A path item is more useful in its place, unless its operations would be there twice.
    const targets = [...uses.keys()].filter((target) =>
      target.shape === shape && (shape !== "pathItem" || uses.get(target)! > 1)
    );
    if (targets.length === 0) continue;
    const named = nameTargets(targets, used);
    for (const [{ value }, name] of named) setName(names, value, shape, name);
    added.set(shape, named);
  }
  return { names, sections, hosts, added };
}

/** The components of a shape that the root has. */
function sectionOf({ root, structure }: Files, shape: Shape): Json {
  const path = structure.sections[shape] ?? [];
  return path.reduce<Json>((value, key) => objectOf(value[key]), root.source.value as Json);
}

/** A component with the name of what it refers to comes first. */
const rankOf = ({ key, link }: { key: string; link: Link | undefined }): number =>
  link?.end?.path.at(-1) === key ? 0 : 1;

function setName(names: ByShape<string>, value: unknown, shape: Shape, name: string): void {
  if (!isObject(value)) return;
  const shapes = names.get(value) ?? new Map<Shape, string>();
  if (!shapes.has(shape)) shapes.set(shape, name);
  names.set(value, shapes);
}

function createCopier(files: Files, { names, sections, hosts }: Plan) {
  const { structure, linkOf } = files;
  const schemes = sections.get(sectionOf(files, "securityScheme"));
  const leftOut = structure.hasSiblings ? LEFT_OUT : LEFT_OUT_BEFORE_3_1;
  const done: ByShape<unknown> = new Map();
  /** What is being put in the place of a reference. */
  const open = new Set<unknown>();
  const placed = new Set<unknown>();
  const weights = new Map<unknown, number>();
  let copies = 0;

  /** A copy with its references changed, or the value itself where none is; `undefined`: leave it out. */
  function copy(value: unknown, shape: Shape, isComponent = false, depth = 0): unknown {
    if (typeof value !== "object" || value === null) return value;
    const name = names.get(value)?.get(shape);
    if (name !== undefined && !isComponent) return { $ref: pointerTo(shape, name) };
    if (isReference(shape, value)) return copyReference(value, shape, isComponent, depth);
    const known = done.get(value)?.get(shape);
    if (known !== undefined) return known;
    const copied = Array.isArray(value)
      ? copyList(value, shape, depth)
      : copyObject(value as Json, shape, depth);
    done.set(value, (done.get(value) ?? new Map()).set(shape, copied));
    return copied;
  }

  function copyList(list: unknown[], shape: Shape, depth: number): unknown[] {
    const inner = shapeOfMember(structure, shape, "0");
    if (!inner) return list;
    const faults = files.faultsOf(list, shape);
    const items = list.map((item, i) =>
      faults.has(String(i)) ? undefined : copy(item, inner, false, depth + 1)
    );
    const isSame = items.every((item, i) => item === list[i]);
    return isSame ? list : items.filter((item, i) => item !== undefined || list[i] === undefined);
  }

  function copyObject(value: Json, shape: Shape, depth: number): Json | undefined {
    const renamed = shape === "securityRequirement" ? schemes : sections.get(value);
    const faults = files.faultsOf(value, shape);
    const copied: Json = {};
    let isSame = true;
    for (const key of Object.keys(value)) {
      const [to, member] = copyMember(value, shape, key, renamed, depth, faults.get(key));
      isSame &&= to === key && member === value[key];
      if (member !== undefined) setMember(copied, to, member);
    }
    for (const [key, fault] of faults) {
      if (fault.value === undefined || Object.hasOwn(value, key)) continue;
      isSame = false;
      setMember(copied, key, fault.value);
    }
    if (isSame) return value;
    const isAimless = shape === "link" && "operationRef" in value &&
      !("operationRef" in copied || "operationId" in copied);
    return isAimless ? undefined : copied;
  }

  function copyMember(
    value: Json,
    shape: Shape,
    key: string,
    renamed: ReadonlyMap<string, string> | undefined,
    depth: number,
    fault: Fault | undefined,
  ): [key: string, value: unknown] {
    const member = value[key];
    if (fault) return [renamed?.get(key) ?? key, fault.value];
    if (shape === "schema" && leftOut.has(key)) return [key, undefined];
    const inner = shapeOfMember(structure, shape, key);
    if (!inner) return [renamed?.get(key) ?? key, copyExample(value, shape, key)];
    if (!Object.hasOwn(NAMING, inner)) {
      return [renamed?.get(key) ?? key, copy(member, inner, renamed !== undefined, depth + 1)];
    }
    const link = linkOf(value, inner, key);
    if (inner !== "linkedOperation" || !link) return [key, link ? copyName(link) : member];
    const { end, isBroken } = link;
    if (!end || isBroken) return [key, undefined];
    if (end.member === files.root) return [key, `#${encodeURI(formatPointer(end.path))}`];
    const { operationId } = objectOf(end.value);
    if (typeof operationId === "string") return ["operationId", operationId];
    complain(
      link,
      "leads to an operation of another file that has no operationId; it is left out",
      false,
    );
    return [key, undefined];
  }

  /** Data as it is; of an example that names a file, what that holds. */
  function copyExample(value: Json, shape: Shape, key: string): unknown {
    const found = exampleReferenceIn(shape, value);
    const file = found?.key === key ? files.examples.get(found.example) : undefined;
    if (!file) return value[key];
    copies += weigh(file.value, weights);
    if (copies <= COPIES_MAX) return file.value;
    file.refuse("names more than can be put in its place");
    return value[key];
  }

  /** What names a schema or a file without being a reference. */
  function copyName(link: Link): string | undefined {
    const { reference: { ref, place: { shape } }, member, end, isBroken } = link;
    if (shape === "exampleFile") {
      if (URL.canParse(ref)) return withoutLogin(ref);
      if (/^http/.test(member.url) && URL.canParse(ref, member.url)) {
        return withoutLogin(new URL(ref, member.url).href);
      }
      complain(link, "is a file that is not served, so this example has no value", false);
      return undefined;
    }
    if (!end || isBroken) return undefined;
    const fragment = ref.slice(ref.indexOf("#"));
    if (shape === "dynamicSchema" && !fragment.startsWith("#/")) return fragment;
    const name = nameOf(end);
    return name === undefined || name === ref ? name : pointerTo("schema", name);
  }

  function nameOf(target: Target): string | undefined {
    const slot = nameOfComponent(files, target);
    if (slot === undefined) return names.get(target.value)?.get(target.shape);
    const section = sectionOf(files, target.shape);
    return sections.get(section)?.get(slot) ?? slot;
  }

  function copyReference(
    value: Json & { $ref: string },
    shape: Shape,
    isComponent: boolean,
    depth: number,
  ): unknown {
    const link = linkOf(value, shape);
    if (!link) return value;
    const siblings: Json = {};
    const faults = files.faultsOf(value, shape);
    const renamed = sections.get(value);
    for (const key of siblingsOf(structure, shape, value)) {
      const [to, member] = copyMember(value, shape, key, renamed, depth, faults.get(key));
      if (member !== undefined) setMember(siblings, to, member);
    }
    const { end, isBroken } = link;
    const isAlone = Object.keys(siblings).length === 0;
    if (!end || isBroken) return emptyOf(shape, siblings);
    if (isComponent && hosts.has(value) && !names.get(value)?.has(shape)) {
      return copy(end.value, shape, true, depth);
    }
    const name = nameOf(end);
    if (name !== undefined && (isObject(end.value) || nameOfComponent(files, end) !== undefined)) {
      return redirect(value, pointerTo(shape, name), shape, siblings);
    }
    if (typeof end.value === "boolean") {
      return isAlone ? end.value : end.value ? siblings : { ...siblings, not: {} };
    }
    return putInPlace(link, end, siblings, depth);
  }

  /** A reference that leads elsewhere. What stands beside it stays, where it refers to nothing itself. */
  function redirect(value: Json, $ref: string, shape: Shape, siblings: Json): Json {
    const copied: Json = {};
    for (const key of Object.keys(value)) {
      const isPlain = !shapeOfMember(structure, shape, key) && !leftOut.has(key);
      const member = key === "$ref" ? $ref : siblings[key] ?? (isPlain ? value[key] : undefined);
      if (member !== undefined) setMember(copied, key, member);
    }
    const isSame = Object.keys(value).every((key) => copied[key] === value[key]);
    return isSame ? value : copied;
  }

  /** What a reference names, in its place: no component can hold it. */
  function putInPlace(link: Link, end: Target, siblings: Json, depth: number): unknown {
    const { shape, value } = end;
    if (shape !== "pathItem") {
      complain(link, "may not stand here; what it names is put in its place", false);
    }
    const refuse = (failure: string) => {
      complain(link, failure);
      return emptyOf(shape, siblings);
    };
    if (open.has(value)) return refuse("leads in a circle");
    if (depth > DEPTH_MAX) return refuse("is nested too deep");
    open.add(value);
    const copied = copy(value, shape, true, depth + 1);
    open.delete(value);
    copies += weigh(copied, weights);
    if (copies > COPIES_MAX) return refuse("names more than can be put in its place");
    if (Array.isArray(copied)) return copied;
    const isSecond = shape === "pathItem" && (placed.has(value) || end.member === files.root);
    placed.add(value);
    return { ...isSecond ? withoutIds(copied as Json) : copied as Json, ...siblings };
  }

  const pointerTo = (shape: Shape, name: string): string =>
    `#${formatPointer([...structure.sections[shape]!, name])}`;

  return { copy };
}

/** What stands where there is nothing to be had; `undefined`: it is left out. */
function emptyOf(shape: Shape, siblings: Json): Json | undefined {
  const empty = EMPTY[shape];
  const isNothing = !empty && Object.keys(siblings).length === 0;
  return isNothing ? undefined : { ...empty, ...siblings };
}

/** A path item whose operations have no `operationId`, as that is the one of another. */
function withoutIds(item: Json): Json {
  return mapOperations(item, ({ operation: { operationId: _, ...rest } }) => rest);
}
