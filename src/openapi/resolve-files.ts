/**
 * Gathers a description: its files, its references, and what each of them leads to.
 *
 * @module
 */
import { type Json, objectOf, type Path } from "../json/values.ts";
import { formatCount, LIMITS } from "./limits.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { breathe, isDue } from "./yield-to-requests.ts";
import type { Reader } from "./read-file-or-url.ts";
import { createLoader, type Loader, type Member } from "./load-files.ts";
import { type ExampleFile, takeExample } from "./example-files.ts";
import {
  pathOfReference,
  REF_MAX,
  type Reference,
  referenceAt,
  splitReference,
} from "./references.ts";
import { baseAt, findFragment, knownShape, type Located } from "./resolve-reference.ts";
import {
  isReference,
  nameOfShape,
  pathOf,
  type Place,
  type Seen,
  type Shape,
  siblingsOf,
  type Structure,
  structureOf,
  walk,
} from "./document-structure.ts";
import { withoutLogin } from "./server-url.ts";
import { type Faults, faultsOf, NONE, refuse } from "./validity.ts";

/** What a reference leads to. */
export interface Target extends Located {
  readonly member: Member;
  readonly shape: Shape;
}

/** A reference and where it leads. */
export interface Link {
  readonly reference: Reference;
  /** The file that it stands in, and where the walk to it began. */
  readonly member: Member;
  readonly start: Located;
  /** What it names; `undefined` where that is nothing, or is not followed. */
  target?: Target;
  /** What it names in the end: a component of the root, or what is no reference itself. */
  end?: Target | undefined;
  /** Whether it leads to nothing in the end. */
  isBroken?: boolean;
}

/** A description with all that it refers to. */
export interface Files extends Pick<Loader, "members" | "stamps"> {
  readonly root: Member;
  readonly structure: Structure;
  /** In the order in which they were found. */
  readonly links: readonly Link[];
  /** The files that examples name, by the example. */
  readonly examples: ReadonlyMap<unknown, ExampleFile>;
  /** What is wrong with the members of a value. */
  faultsOf(value: unknown, shape: Shape): Faults;
  /** The link of a reference by its value, or by the object and the key that it is a member of. */
  linkOf(holder: unknown, shape: Shape, key?: string): Link | undefined;
}

/**
 * Reads a description and what it refers to. What cannot be read is a finding of the file that refers
 * to it, or of the root itself. Only what is referred to is looked at, as what the reference expects.
 *
 * @param entry where the root is
 * @param read reads a file
 */
export async function gather(entry: URL, read: Reader): Promise<Files> {
  const loader = createLoader(entry, read);
  const { members, stamps } = loader;
  const root = await loader.loadRoot();
  const structure = structureOf(root.source.value);
  const links: Link[] = [];
  /** By what holds them, and what that is. */
  const held = new Map<unknown, Map<string, Link>>();
  const linkOf: Files["linkOf"] = (holder, shape, key = "") => held.get(holder)?.get(shape + key);
  const wrong = new Map<unknown, Map<Shape, Faults>>();
  const examples = new Map<unknown, ExampleFile>();
  const files: Files = {
    ...{ root, structure, members, stamps, links, linkOf, examples },
    faultsOf: (value, shape) => wrong.get(value)?.get(shape) ?? NONE,
  };
  /** The schemas that have an `$id`, by that. */
  const named = new Map<string, { member: Member; located: Located }>();
  const late: Late[] = [];
  const queue: Target[] = [
    { value: root.source.value, path: [], base: root.base, member: root, shape: "document" },
  ];
  const seen: Seen = new Map();
  const leadTo = (link: Link, member: Member, located: Located | undefined) => {
    const failure = fail(link, member, located, structure);
    if (failure !== undefined) return complain(link, failure);
    const target = { ...located!, member, shape: link.reference.expected };
    link.target = target;
    if (link.reference.place.shape !== "linkedOperation") queue.push(target);
  };
  const leadToId = (link: Link, id: string, fragment: string): boolean => {
    const found = named.get(id);
    if (!found) return false;
    const { member, located } = found;
    leadTo(
      link,
      member,
      fragment === "" ? located : findFragment(member, located.base, fragment),
    );
    return true;
  };

  for (let i = 0; i < queue.length; i++) {
    const start = queue[i]!;
    const { member } = start;
    const inspect = (place: Place) => {
      const faults = faultsOf(structure, place.shape, place.value);
      if (faults.size === 0) return faults;
      const shapes = wrong.get(place.value) ?? new Map<Shape, Faults>();
      wrong.set(place.value, shapes.set(place.shape, faults));
      for (const [key, { message, isError }] of faults) {
        member.complaints.add(
          { message, isError },
          () => [...start.path, ...pathOf(place), key],
        );
      }
      return faults;
    };
    const first = { shape: start.shape, value: start.value };
    for (const place of walk(first, structure, seen, inspect)) {
      if (isDue()) await breathe();
      if (place.shape === "schema" && typeof objectOf(place.value).$id === "string") {
        const base = baseAt(place, start);
        named.set(base.url, { member, located: { ...base, base } });
      }
      if (place.shape === "securityRequirement") {
        for (const name of undeclaredIn(place.value, root, structure)) {
          const message = `the security scheme ${
            quote(shorten(name, REF_MAX))
          } is declared nowhere`;
          member.complaints.add({ message, isError: true }, () => [
            ...start.path,
            ...pathOf(place),
            name,
          ]);
        }
      }
      await takeExample(place, start, loader, examples);
      const reference = referenceAt(place);
      if (!reference) continue;
      if (links.length === LIMITS.references) {
        const message = `there are more than ${formatCount(LIMITS.references)} references`;
        root.complaints.add({ message, isFatal: true }, () => []);
        return files;
      }
      const link: Link = { reference, member, start };
      links.push(link);
      hold(held, link);
      if (reference.place.shape === "exampleFile") continue;
      const component = findByName(link, root);
      if (component) {
        leadTo(link, component.member, component);
        continue;
      }
      if (place.shape === "mappedSchema" && /^[\w-]+$/.test(reference.ref)) {
        complain(link, "names no schema");
        continue;
      }
      const [file, fragment] = splitReference(reference.ref);
      const base = baseAt(place, start);
      if (file === "") {
        leadTo(link, member, findFragment(member, base, fragment));
        continue;
      }
      const id = URL.canParse(file, base.url) ? new URL(file, base.url).href : "";
      if (leadToId(link, id, fragment)) continue;
      const loaded = await loader.load(file, member);
      if (!loaded.member) late.push({ link, id, fragment, failure: loaded.failure });
      else leadTo(link, loaded.member, findFragment(loaded.member, loaded.member.base, fragment));
    }
    if (i < queue.length - 1) continue;
    // A schema may be named by an "$id" that is found after the reference.
    for (const { link, id, fragment, failure } of late.splice(0)) {
      if (!leadToId(link, id, fragment)) complain(link, failure);
    }
  }
  settle(files);
  return files;
}

/** The security schemes of a requirement that the root does not declare. */
function undeclaredIn(requirement: unknown, root: Member, structure: Structure): string[] {
  const declared = structure.sections.securityScheme!.reduce<Json>(
    (value, key) => objectOf(value[key]),
    objectOf(root.source.value),
  );
  // Since OpenAPI 3.2 it may be the URI of one.
  const isUri = (name: string) => structure.name === "OpenAPI 3.2" && /[/#:]/.test(name);
  return Object.keys(objectOf(requirement)).filter((name) =>
    !Object.hasOwn(declared, name) && !Object.hasOwn(declared, "$ref") && !isUri(name)
  );
}

/** A reference whose file cannot be had. */
interface Late {
  readonly link: Link;
  readonly id: string;
  readonly fragment: string;
  readonly failure: string;
}

/** The name of the component that a path of the root leads to; `undefined` if it leads to none. */
export function nameOfComponent({ root, structure }: Files, target: Target): string | undefined {
  const { member, shape, path } = target;
  const section = structure.sections[shape];
  if (member !== root || path.length !== (section?.length ?? NaN) + 1) return undefined;
  return section!.every((key, i) => key === path[i]) ? path.at(-1) : undefined;
}

/** Whether an object is a reference and nothing else. */
export function isPure(structure: Structure, shape: Shape, value: unknown): boolean {
  return isReference(shape, value) && siblingsOf(structure, shape, value).length === 0;
}

function hold(held: Map<unknown, Map<string, Link>>, link: Link): void {
  const { place: { shape, value, key = "", parent }, isPlain } = link.reference;
  const holder = isPlain ? value : parent!.value;
  const links = held.get(holder) ?? new Map<string, Link>();
  held.set(holder, links.set(isPlain ? shape : shape + key, link));
}

/** The schema that a value of `mapping` names: those names are the names of components. */
function findByName({ reference, member }: Link, root: Member): Target | undefined {
  const { ref, place: { shape } } = reference;
  if (shape !== "mappedSchema" || !/^[\w.-]+$/.test(ref)) return undefined;
  for (const file of [member, root]) {
    const path = ["components", "schemas", ref];
    const located = { value: file.source.value, path: [] as Path };
    const value = path.reduce<unknown>(
      (value, key) => Object.hasOwn(objectOf(value), key) ? (value as Json)[key] : undefined,
      located.value,
    );
    if (value !== undefined) return { value, path, base: file.base, member: file, shape: "schema" };
  }
  return undefined;
}

/** Why something is not what a reference must lead to, as the end of a sentence; nothing if it is. */
function fail(
  { reference }: Link,
  member: Member,
  located: Located | undefined,
  structure: Structure,
): string | undefined {
  const { expected } = reference;
  // Of a file that cannot be understood, its own finding is enough.
  if (!located) return member.source.value === undefined ? "" : "leads nowhere";
  const { value, path } = located;
  const found = knownShape(member.source, path);
  if (found !== undefined && found !== expected) {
    return `leads to a ${nameOfShape(found)} where a ${nameOfShape(expected)} belongs`;
  }
  const refusal = refuse(structure, expected, value);
  if (refusal === undefined) return undefined;
  const reason = refusal.startsWith("needs") ? `: it ${refusal}` : "";
  return `leads to something that is no ${nameOfShape(expected)}${reason}`;
}

/** Adds what is wrong with a reference to the findings of its file. */
export function complain(
  { reference, member, start }: Link,
  failure: string,
  isError = true,
): void {
  if (failure === "") return;
  const reason = failure.startsWith("cannot be read") ? "" : "the reference to ";
  const message = `${reason}${quote(shorten(withoutLogin(reference.ref), REF_MAX))} ${failure}`;
  member.complaints.add(
    { message, isError },
    () => [...start.path, ...pathOfReference(reference)],
  );
}

/** Finds the end of each link. Each is followed once, however long the chain. */
function settle(files: Files): void {
  const { structure, links, linkOf } = files;
  const nextOf = ({ target }: Link): Link | undefined =>
    target && isPure(structure, target.shape, target.value)
      ? linkOf(target.value, target.shape)
      : undefined;
  for (const start of links) {
    const trail = new Set<Link>();
    let link: Link | undefined = start;
    for (; link && link.isBroken === undefined && !trail.has(link); link = nextOf(link)) {
      trail.add(link);
    }
    const [last, isCircle] = [[...trail].at(-1), link && trail.has(link)];
    const isBroken = isCircle || (link ? link.isBroken! : last?.target === undefined);
    const reversed = [...trail].reverse();
    for (const each of reversed) {
      const { target } = each;
      each.isBroken = isBroken;
      if (!target) continue;
      const next = nextOf(each);
      each.end = next && nameOfComponent(files, target) === undefined ? next.end : target;
    }
    if (!isCircle) continue;
    // Once for all of them, at the first.
    complain(link!, "leads in a circle");
  }
}
