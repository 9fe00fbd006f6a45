/**
 * Copies a resolved description without its invalid members, and turns the targets of references
 * into components, so that later conversions can move operations without breaking a reference.
 *
 * @module
 */
import {
  capital,
  createFreeName,
  estimateSize,
  formatPointer,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  type Path,
  setMember,
  valueAt,
} from "../json/values.ts";
import { mapMembersInSlices } from "../json/in-slices.ts";
import { pause } from "../slices.ts";
import { LIMITS } from "./diagnostics.ts";
import {
  isBareReference,
  isRenamed,
  type Link,
  nameOfComponent,
  type Resolved,
  type Target,
} from "./resolve.ts";
import {
  ByShape,
  isKeyword,
  isReference,
  type Shape,
  shapeOfMember,
  siblingsOf,
} from "./structure.ts";
import { MAPPED } from "./tables.ts";

const EMPTY: Readonly<Record<Shape, JsonObject>> = {
  schema: {},
  response: { description: "" },
  pathItem: {},
};

/** Extensions for viewers: people run code samples, and links and scripts may lead elsewhere. */
const FOR_VIEWERS = /^x-(?:scalar|stainless|readme|custom|code|badges)/i;

/** Viewers read addresses, client ids and secrets from the extensions of these objects. */
const SCHEMES = ["securityScheme", "flows", "flow"];

/** @param dropsViewerExtensions true if the extensions for viewers are omitted */
export async function normalize(
  resolved: Resolved,
  dropsViewerExtensions = false,
): Promise<JsonObject> {
  const { source, structure } = resolved;
  const plan = await planComponents(resolved);
  const copier = new Copier(resolved, plan, dropsViewerExtensions);
  let document = await copier.copy(source.value, "document") as JsonObject;
  for (const [shape, targets] of plan.added) {
    const [outer, inner] = structure.sections[shape]! as [string, string?];
    const holder = inner ? { ...objectOf(document[outer]) } : { ...document };
    const section: JsonObject = { ...objectOf(holder[inner ?? outer]) };
    for (const [name, target] of targets) {
      const value = await copier.copy(target, shape, true);
      if (value !== undefined) setMember(section, name, value);
    }
    holder[inner ?? outer] = section;
    document = inner ? { ...document, [outer]: holder } : holder;
  }
  return document;
}

interface Plan {
  readonly names: ByShape<string>;
  /** The objects that hold the components, with their paths. */
  readonly sections: ReadonlyMap<unknown, Path>;
  /** For each shape, the names and values of new components. */
  readonly added: ReadonlyMap<Shape, ReadonlyMap<string, unknown>>;
}

async function planComponents(resolved: Resolved): Promise<Plan> {
  const { source, structure, links } = resolved;
  const names = new ByShape<string>();
  const sections = new Map<unknown, Path>();
  const added = new Map<Shape, Map<string, unknown>>();
  const freeNames = new Map<Shape, (wanted: string) => string>();
  for (const [shape, path] of Object.entries(structure.sections)) {
    await pause();
    const section = objectOf(valueAt(source.value, path));
    const keys = Object.keys(section);
    freeNames.set(shape, createFreeName(new Set(keys)));
    sections.set(section, path);
    for (const key of keys) {
      await pause();
      if (isRenamed(path, key)) continue;
      const value = section[key];
      const isFirst = isObject(value) && names.get(value, shape) === undefined;
      if (isFirst && !isBareReference(structure, shape, value)) names.set(value, shape, key);
    }
  }
  for (const { end } of links) {
    await pause();
    const freeName = end && freeNames.get(end.shape);
    if (!freeName || !isObject(end.value)) continue;
    const isNamed = names.get(end.value, end.shape) !== undefined;
    if (isNamed || nameOfComponent(resolved, end) !== undefined) continue;
    const name = freeName(nameFor(end));
    names.set(end.value, end.shape, name);
    const ofShape = added.get(end.shape) ?? new Map<string, unknown>();
    added.set(end.shape, ofShape.set(name, end.value));
  }
  return { names, sections, added };
}

class Copier {
  readonly #resolved: Resolved;
  readonly #plan: Plan;
  readonly #dropsViewerExtensions: boolean;
  readonly #done = new ByShape<unknown>();
  /** The targets that are being put in the place of their references. */
  readonly #open = new Set<unknown>();
  /** The targets that have been put in the place of a reference. */
  readonly #placed = new Set<unknown>();
  readonly #sizes = new Map<unknown, number>();
  #copiedSize = 0;

  constructor(resolved: Resolved, plan: Plan, dropsViewerExtensions: boolean) {
    this.#resolved = resolved;
    this.#plan = plan;
    this.#dropsViewerExtensions = dropsViewerExtensions;
  }

  async copy(value: unknown, shape: Shape, isComponent = false, depth = 0): Promise<unknown> {
    if (typeof value !== "object" || value === null) return value;
    const name = this.#plan.names.get(value, shape);
    if (name !== undefined && !isComponent) return { $ref: this.#pointerTo(shape, name) };
    if (isReference(shape, value)) return await this.#copyReference(value, shape, depth);
    const known = this.#done.get(value, shape);
    if (known !== undefined) return known;
    const copied = await mapMembersInSlices(
      value as JsonObject,
      (_, key) => this.#copyMember(value as JsonObject, shape, key, depth),
    );
    this.#done.set(value, shape, copied);
    return copied;
  }

  #isForViewers(shape: Shape, key: string): boolean {
    // The keys of a map are names.
    if (!this.#dropsViewerExtensions || shape.startsWith("{")) return false;
    return FOR_VIEWERS.test(key) || (key.startsWith("x-") && SCHEMES.includes(shape));
  }

  #copyMember(object: JsonObject, shape: Shape, key: string, depth: number): unknown {
    const { structure } = this.#resolved;
    if (this.#isForViewers(shape, key)) return undefined;
    const section = this.#plan.sections.get(object);
    // What refers to such a component of Swagger refers to its copy with another name.
    if (section && section[0] !== "components" && isRenamed(section, key)) return undefined;
    const diagnostic = this.#resolved.diagnosticsOf(object, shape)?.get(key);
    if (diagnostic?.isOmitted) return undefined;
    if (diagnostic?.value !== undefined) return diagnostic.value;
    // `$id` is omitted, since it would change the base URI of references.
    if (shape === "schema" && key === "$id") return undefined;
    // The path items stand in the place of the references to them.
    if (shape === "components" && key === "pathItems") return undefined;
    // Viewers, and this service, would take an extension among the paths for a path.
    if (shape === "paths" && key.startsWith("x-")) return undefined;
    const member = object[key];
    const inner = shapeOfMember(structure, shape, key);
    if (!inner) return member;
    if (shape === "method" && key === "params" && object.paramStructure !== "by-name") {
      return this.#copyPositions(member, inner, depth);
    }
    if (inner !== MAPPED) {
      return this.copy(member, inner, this.#plan.sections.has(object), depth + 1);
    }
    const link = this.#resolved.linkOf(object, inner, key);
    return link ? this.#pointerOf(link) : member;
  }

  async #copyReference(
    value: JsonObject & { $ref: string },
    shape: Shape,
    depth: number,
  ): Promise<unknown> {
    const { structure } = this.#resolved;
    const link = this.#resolved.linkOf(value, shape);
    if (!link) return value;
    const siblings: JsonObject = {};
    for (const key of siblingsOf(structure, shape, value)) {
      const member = await this.#copyMember(value, shape, key, depth);
      if (member !== undefined) setMember(siblings, key, member);
    }
    const { end } = link;
    if (!end) return emptyOf(shape, siblings);
    const pointer = this.#pointerOf(link);
    if (pointer !== undefined) return this.#redirect(value, pointer, shape, siblings);
    if (typeof end.value === "boolean") {
      if (Object.keys(siblings).length === 0) return end.value;
      return end.value ? siblings : { ...siblings, not: {} };
    }
    return await this.#putInPlace(link, end, siblings, depth);
  }

  /**
   * Omits the siblings of `$ref` that OpenAPI ignores, since several tools reject such siblings.
   */
  #redirect(value: JsonObject, $ref: string, shape: Shape, siblings: JsonObject): JsonObject {
    const hasSiblings = $ref === value.$ref || shape === "schema";
    return mapMembers(value, (member, key) => {
      if (key === "$ref") return $ref;
      if (this.#isForViewers(shape, key)) return undefined;
      if (!hasSiblings && !/^(?:summary|description|x-.*)$/.test(key)) return undefined;
      const isPlain = !shapeOfMember(this.#resolved.structure, shape, key) && key !== "$id";
      return siblings[key] ?? (isPlain ? member : undefined);
    });
  }

  async #putInPlace(
    link: Link,
    end: Target,
    siblings: JsonObject,
    depth: number,
  ): Promise<unknown> {
    const { shape, value } = end;
    if (shape !== "pathItem") {
      this.#resolved.report(
        link,
        "is not allowed here, so its target is shown in its place",
        "note",
      );
    }
    const refuse = (failure: string) => {
      this.#resolved.report(link, failure);
      return emptyOf(shape, siblings);
    };
    if (this.#open.has(value)) return refuse("leads in a circle");
    if (depth > LIMITS.depth) return refuse("is nested too deep");
    this.#open.add(value);
    const copied = await this.copy(value, shape, true, depth + 1);
    this.#open.delete(value);
    // Only a target that stands in several places makes the document larger than it was.
    if (this.#placed.has(value)) this.#copiedSize += estimateSize(copied, this.#sizes);
    this.#placed.add(value);
    if (this.#copiedSize > LIMITS.added) return refuse("would make the document too large");
    return Array.isArray(copied) ? copied : { ...copied as JsonObject, ...siblings };
  }

  /** Resolves to `undefined` if one of the items is omitted: the others would move. */
  async #copyPositions(items: unknown, shape: Shape, depth: number): Promise<unknown> {
    const copied = await this.copy(items, shape, false, depth + 1);
    return listOf(copied).length < listOf(items).length ? undefined : copied;
  }

  /** Returns `undefined` if the link is broken or leads to a value that is not a component. */
  #pointerOf({ end }: Link): string | undefined {
    if (!end) return undefined;
    const name = nameOfComponent(this.#resolved, end) ??
      this.#plan.names.get(end.value, end.shape);
    return name === undefined ? undefined : this.#pointerTo(end.shape, name);
  }

  #pointerTo(shape: Shape, name: string): string {
    return `#${encodeURI(formatPointer([...this.#resolved.structure.sections[shape]!, name]))}`;
  }
}

function emptyOf(shape: Shape, siblings: JsonObject): JsonObject | undefined {
  const empty = EMPTY[shape];
  const isNothing = !empty && Object.keys(siblings).length === 0;
  return isNothing ? undefined : { ...empty, ...siblings };
}

/** Every reference contains the name of a component, so long names would make a large document. */
const LENGTH_MAX = 120;

/**
 * For example, the schema at `/components/schemas/Pet/properties/owner` gets the name `PetOwner`.
 */
function nameFor({ path, shape, value }: Target): string {
  const keys = path.filter((key) => !isKeyword(key) && !/^[^/]+\/[^/]+$/.test(key));
  const [above, last] = [keys.at(-2) ?? "", keys.at(-1) ?? ""];
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
