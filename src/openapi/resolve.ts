/**
 * Resolves a description: loads its files and finds the target of each reference.
 *
 * @module
 */
import { objectOf, parseFragment, type Path, valueAt } from "../json/values.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { formatCount, LIMITS, type Severity } from "./diagnostics.ts";
import { createLoader, type Loader, type Member, type Reader } from "./files.ts";
import { withoutLogin } from "./servers.ts";
import {
  ByShape,
  isReference,
  pathOf,
  pathOfReference,
  type Place,
  REF_MAX,
  type Reference,
  referenceAt,
  SAMPLE,
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
  readonly path: Path;
  readonly value: unknown;
  readonly shape: Shape;
}

export interface Link {
  readonly reference: Reference;
  /** The object in which this reference was found: the root document, or the target of another reference. */
  readonly start: Target;
  target?: Target;
  /** The end of a chain of references: a component of the root file, or a value that is not a reference. */
  end?: Target | undefined;
  isBroken?: boolean;
}

export interface Files {
  readonly root: Member;
  readonly members: ReadonlyMap<string, Member>;
  readonly structure: Structure;
  readonly links: readonly Link[];
  diagnosticsOf(value: unknown, shape: Shape): MemberDiagnostics | undefined;
  linkOf(holder: unknown, shape: Shape, key?: string): Link | undefined;
}

/** In files other than the root file, only the targets of references are validated. */
export async function resolve(entry: URL, read: Reader): Promise<Files> {
  const { members, loadRoot, load } = createLoader(entry, read);
  const root = await loadRoot();
  const structure = structureOf(root.value);
  const links: Link[] = [];
  const held = new ByShape<Link>();
  const wrong = new ByShape<MemberDiagnostics>();
  const files: Files = {
    ...{ root, structure, members, links },
    linkOf: (holder, shape, key = "") => held.get(holder, shape + key),
    diagnosticsOf: (value, shape) => wrong.get(value, shape),
  };
  const queue: Target[] = [{ value: root.value, path: [], member: root, shape: "document" }];
  const seen: Seen = new ByShape();
  const follow = (link: Link, member: Member, path: Path | undefined) => {
    const target = path &&
      { member, path, value: valueAt(member.value, path), shape: link.reference.expected };
    const failure = explainTarget(member.value, target, structure);
    if (failure !== undefined) {
      // If the file could not be parsed, it already has a diagnostic.
      if (member.value !== undefined) report(link, failure);
      return;
    }
    link.target = target!;
    if (target!.shape !== SAMPLE) queue.push(target!);
  };
  for (const start of queue) {
    const { member } = start;
    const inspect = (place: Place) => {
      const found = validate(structure, place.shape, place.value);
      if (found.size > 0) wrong.set(place.value, place.shape, found);
      for (const [key, { severity, message }] of found) {
        member.diagnostics.add(severity, message, () => [...start.path, ...pathOf(place), key]);
      }
      return found;
    };
    const first = { shape: start.shape, value: start.value };
    for (const place of walk(first, structure, seen, inspect)) {
      if (place.shape === "securityRequirement") checkSchemes(place, start, root, structure);
      const reference = referenceAt(place);
      if (!reference) continue;
      if (links.length === LIMITS.references) {
        const message = `there are more than ${formatCount(LIMITS.references)} references`;
        root.diagnostics.add("fatal", message, () => []);
        return files;
      }
      const link: Link = { reference, start };
      links.push(link);
      const { isPlain, ref, expected } = reference;
      if (isPlain) held.set(place.value, place.shape, link);
      else held.set(place.parent!.value, place.shape + place.key, link);
      const [file, fragment] = splitReference(ref);
      const loaded = expected === SAMPLE
        ? await loadSample(file, member, root, load)
        : file === ""
        ? { member }
        : await load(file, member);
      if (loaded.member) follow(link, loaded.member, parseFragment(fragment));
      else report(link, loaded.failure);
    }
  }
  settle(files);
  return files;
}

function checkSchemes(place: Place, start: Target, root: Member, structure: Structure): void {
  const declared = objectOf(valueAt(root.value, structure.sections.securityScheme ?? []));
  // Since OpenAPI 3.2, a URI may identify a security scheme.
  const isUri = (name: string) => structure.name === "OpenAPI 3.2" && /[/#:]/.test(name);
  for (const name of Object.keys(objectOf(place.value))) {
    if (Object.hasOwn(declared, name) || Object.hasOwn(declared, "$ref") || isUri(name)) continue;
    const message = `the security scheme ${quote(shorten(name, REF_MAX))} is not declared`;
    const { member, path } = start;
    member.diagnostics.add("error", message, () => [...path, ...pathOf(place), name]);
  }
}

export function nameOfComponent({ root, structure }: Files, target: Target): string | undefined {
  const { member, shape, path } = target;
  const section = structure.sections[shape];
  if (member !== root || path.length !== (section?.length ?? NaN) + 1) return undefined;
  return section!.every((key, i) => key === path[i]) ? path.at(-1) : undefined;
}

export function isPure(structure: Structure, shape: Shape, value: unknown): boolean {
  return isReference(shape, value) && siblingsOf(structure, shape, value).length === 0;
}

/** A reference in an example must be relative, and must not leave the root file's folder. */
async function loadSample(file: string, from: Member, root: Member, load: Loader["load"]) {
  const isBeside = (url: string) =>
    url.startsWith(new URL(".", root.url).href) && !/%2f|%5c/i.test(url);
  const isRelative = file !== "" && !URL.canParse(file) && URL.canParse(file, from.url);
  const elsewhere = { member: undefined, failure: "is not a file in the description's folder" };
  if (!isRelative || !isBeside(new URL(file, from.url).href)) return elsewhere;
  const loaded = await load(file, from);
  return loaded.member && !isBeside(loaded.member.url) ? elsewhere : loaded;
}

/** @param failure the words that follow the reference in the message, such as `leads nowhere` */
export function report({ reference, start }: Link, failure: string, severity?: Severity): void {
  const isSample = reference.expected === SAMPLE;
  const ref = quote(shorten(withoutLogin(reference.ref), REF_MAX));
  const message = isSample
    ? `${ref} in an example stays unchanged: it ${failure}`
    : `${failure.startsWith("cannot be read") ? "" : "the reference to "}${ref} ${failure}`;
  start.member.diagnostics.add(
    severity ?? (isSample ? "note" : "error"),
    message,
    () => [...start.path, ...pathOfReference(reference)],
  );
}

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
    const isCircle = link !== undefined && trail.has(link);
    if (isCircle) report(link!, "leads in a circle");
    for (const each of [...trail].reverse()) {
      const { target } = each;
      const next = nextOf(each);
      each.isBroken = isCircle || (next ? next.isBroken! : target === undefined);
      if (!target) continue;
      each.end = next && nameOfComponent(files, target) === undefined ? next.end : target;
    }
  }
}
