/**
 * Resolves a description: finds its files, its references, and what each of them leads to.
 *
 * @module
 */
import {
  isObject,
  type Json,
  objectOf,
  parseFragment,
  type Path,
  valueAt,
} from "../json/values.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { formatCount, LIMITS, type Severity } from "./diagnostics.ts";
import { createLoader, type Loader, type Member, type Reader } from "./files.ts";
import { withoutLogin } from "./server-url.ts";
import {
  isReference,
  pathOf,
  pathOfReference,
  type Place,
  REF_MAX,
  type Reference,
  referenceAt,
  type Seen,
  type Shape,
  siblingsOf,
  splitReference,
  type Structure,
  structureOf,
  walk,
} from "./structure.ts";
import { explainTarget, type MemberDiagnostics, validate } from "./validate.ts";

export interface Target {
  readonly member: Member;
  /** The keys from the root of the file. */
  readonly path: Path;
  readonly value: unknown;
  readonly shape: Shape;
}

export interface Link {
  readonly reference: Reference;
  /** The value that the walk to it began with. */
  readonly start: Target;
  /** The value that it names; `undefined` where that is nothing, or is not followed. */
  target?: Target;
  /** The value that it names in the end: a component of the root, or what is no reference itself. */
  end?: Target | undefined;
  isBroken?: boolean;
}

/** The value that takes the place of an example, which names a file. */
interface ExampleFile {
  readonly value: unknown;
  /** Says that the example stays as it is; the reason is the end of a sentence about it. */
  readonly refuse: (reason: string) => void;
}

export interface Files extends Pick<Loader, "members"> {
  readonly root: Member;
  readonly structure: Structure;
  /** In the order in which they were found. */
  readonly links: readonly Link[];
  /** The files that examples name, by the example. */
  readonly examples: ReadonlyMap<unknown, ExampleFile>;
  diagnosticsOf(value: unknown, shape: Shape): MemberDiagnostics | undefined;
  /** Gives the link of a reference by its value, or by the object and the key that it is a member of. */
  linkOf(holder: unknown, shape: Shape, key?: string): Link | undefined;
}

/**
 * Reads a description and what it refers to. What cannot be read is a diagnostic of the file that refers
 * to it, or of the root itself. Only what is referred to is looked at, as what the reference expects.
 */
export async function resolve(entry: URL, read: Reader): Promise<Files> {
  const loader = createLoader(entry, read);
  const { members } = loader;
  const root = await loader.loadRoot();
  const structure = structureOf(root.value);
  const links: Link[] = [];
  /** By what holds them, and what that is. */
  const held = new Map<unknown, Map<string, Link>>();
  const wrong = new Map<unknown, Map<Shape, MemberDiagnostics>>();
  const examples = new Map<unknown, ExampleFile>();
  const files: Files = {
    ...{ root, structure, members, links, examples },
    linkOf: (holder, shape, key = "") => held.get(holder)?.get(shape + key),
    diagnosticsOf: (value, shape) => wrong.get(value)?.get(shape),
  };
  const queue: Target[] = [{ value: root.value, path: [], member: root, shape: "document" }];
  const seen: Seen = new Map();
  const leadTo = (link: Link, member: Member, path: Path | undefined) => {
    const target = path &&
      { member, path, value: valueAt(member.value, path), shape: link.reference.expected };
    const failure = explainTarget(member.value, target, structure);
    // Of a file that cannot be understood, its own diagnostic is enough.
    if (failure !== undefined) return report(link, member.value === undefined ? "" : failure);
    link.target = target!;
    queue.push(target!);
  };

  for (const start of queue) {
    const { member } = start;
    const inspect = (place: Place) => {
      const found = validate(structure, place.shape, place.value);
      if (found.size === 0) return found;
      const shapes = wrong.get(place.value) ?? new Map<Shape, MemberDiagnostics>();
      wrong.set(place.value, shapes.set(place.shape, found));
      for (const [key, { severity, message }] of found) {
        member.diagnostics.add(severity, message, () => [...start.path, ...pathOf(place), key]);
      }
      return found;
    };
    const first = { shape: start.shape, value: start.value };
    for (const place of walk(first, structure, seen, inspect)) {
      if (place.shape === "securityRequirement") checkSchemes(place, start, root, structure);
      await takeExample(place, start, loader, examples);
      const reference = referenceAt(place);
      if (!reference) continue;
      if (links.length === LIMITS.references) {
        const message = `there are more than ${formatCount(LIMITS.references)} references`;
        root.diagnostics.add("fatal", message, () => []);
        return files;
      }
      const link: Link = { reference, start };
      links.push(link);
      hold(held, link);
      const [file, fragment] = splitReference(reference.ref);
      const loaded = file === "" ? { member } : await loader.load(file, member);
      if (loaded.member) leadTo(link, loaded.member, parseFragment(fragment));
      else report(link, loaded.failure);
    }
  }
  settle(files);
  return files;
}

function checkSchemes(place: Place, start: Target, root: Member, structure: Structure): void {
  const declared = objectOf(valueAt(root.value, structure.sections.securityScheme ?? []));
  // Since OpenAPI 3.2 it may be the URI of one.
  const isUri = (name: string) => structure.name === "OpenAPI 3.2" && /[/#:]/.test(name);
  for (const name of Object.keys(objectOf(place.value))) {
    if (Object.hasOwn(declared, name) || Object.hasOwn(declared, "$ref") || isUri(name)) continue;
    const message = `the security scheme ${quote(shorten(name, REF_MAX))} is declared nowhere`;
    start.member.diagnostics.add(
      "error",
      message,
      () => [...start.path, ...pathOf(place), name],
    );
  }
}

/** The name of the component that a path of the root leads to; `undefined` if it leads to none. */
export function nameOfComponent({ root, structure }: Files, target: Target): string | undefined {
  const { member, shape, path } = target;
  const section = structure.sections[shape];
  if (member !== root || path.length !== (section?.length ?? NaN) + 1) return undefined;
  return section!.every((key, i) => key === path[i]) ? path.at(-1) : undefined;
}

export function isPure(structure: Structure, shape: Shape, value: unknown): boolean {
  return isReference(shape, value) && siblingsOf(structure, shape, value).length === 0;
}

function hold(held: Map<unknown, Map<string, Link>>, link: Link): void {
  const { place: { shape, value, key = "", parent }, isPlain } = link.reference;
  const holder = isPlain ? value : parent!.value;
  const links = held.get(holder) ?? new Map<string, Link>();
  held.set(holder, links.set(isPlain ? shape : shape + key, link));
}

export function report(
  { reference, start }: Link,
  failure: string,
  severity: Severity = "error",
): void {
  if (failure === "") return;
  const reason = failure.startsWith("cannot be read") ? "" : "the reference to ";
  const message = `${reason}${quote(shorten(withoutLogin(reference.ref), REF_MAX))} ${failure}`;
  start.member.diagnostics.add(
    severity,
    message,
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
    report(link!, "leads in a circle");
  }
}

/** The members that are examples, by what they are members of. */
const EXAMPLES: Readonly<Record<Shape, string>> = {
  schema: "example",
  parameter: "example",
  header: "example",
  mediaType: "example",
  example: "value",
};

/**
 * The example of a value that is nothing but a `$ref`, with its key. By OpenAPI an example is data, in which nothing is
 * a reference; but `example: { $ref: ./block.json }` is meant as one, and bundlers follow it.
 */
export function exampleReferenceIn(
  shape: Shape,
  value: unknown,
): { readonly key: string; readonly example: Json & { $ref: string } } | undefined {
  const key = EXAMPLES[shape];
  const example = key === undefined ? undefined : objectOf(value)[key];
  if (!isObject(example) || typeof example.$ref !== "string") return undefined;
  if (Object.keys(example).length > 1) return undefined;
  return { key: key!, example: example as Json & { $ref: string } };
}

/** Takes the file that an example names, where it is one of the description's folder. */
async function takeExample(
  place: Place,
  { member, path }: Target,
  { load, members }: Loader,
  examples: Map<unknown, ExampleFile>,
): Promise<void> {
  const found = exampleReferenceIn(place.shape, place.value);
  if (!found || examples.has(found.example)) return;
  const { key, example } = found;
  const refuse = (reason: string) => {
    const ref = quote(shorten(withoutLogin(example.$ref), REF_MAX));
    member.diagnostics.add(
      "note",
      `${ref} stands in an example, which is data; it stays as it is, since it ${reason}`,
      () => [...path, ...pathOf(place), key, "$ref"],
    );
  };
  const [file, fragment] = splitReference(example.$ref);
  const [root] = members.keys();
  const isBeside = (url: string) =>
    url.startsWith(new URL(".", root).href) && !/%2f|%5c/i.test(url);
  const isRelative = file !== "" && !URL.canParse(file) && URL.canParse(file, member.url);
  if (!isRelative || !isBeside(new URL(file, member.url).href)) {
    return refuse("names no file of the description's folder");
  }
  const loaded = await load(file, member);
  if (!loaded.member) return refuse(loaded.failure);
  if (!isBeside(loaded.member.url)) return refuse("names no file of the description's folder");
  const keys = parseFragment(fragment);
  const value = keys && valueAt(loaded.member.value, keys);
  if (value === undefined) return refuse("leads nowhere");
  examples.set(example, { value, refuse });
}
