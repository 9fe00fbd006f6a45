/**
 * Resolves a description: finds the target of each reference, and validates everything that can be
 * reached.
 *
 * @module
 */
import { objectOf, parseFragment, type Path, valueAt } from "../json/values.ts";
import { inSlices, pause } from "../slices.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { formatCount, LIMITS, type Severity } from "./diagnostics.ts";
import { spell } from "./files.ts";
import type { Source } from "./parse.ts";
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
  readonly path: Path;
  readonly value: unknown;
  readonly shape: Shape;
}

export interface Link {
  readonly reference: Reference;
  /**
   * The object in which this reference was found: the document, or the target of another reference.
   */
  readonly start: Target;
  target?: Target;
  /** The end of a chain of references: a component, or a value that is not a reference. */
  end?: Target | undefined;
  isBroken?: boolean;
}

export interface Resolved {
  readonly source: Source;
  readonly structure: Structure;
  readonly links: readonly Link[];
  diagnosticsOf(value: unknown, shape: Shape): MemberDiagnostics | undefined;
  linkOf(holder: unknown, shape: Shape, key?: string): Link | undefined;
  /** @param failure the words that follow the reference in the message, such as `leads nowhere` */
  report(link: Link, failure: string, severity?: Severity): void;
}

/**
 * @param url the URL from which the description was read, by which the description may refer to
 * itself
 */
export async function resolve(source: Source, url: string): Promise<Resolved> {
  const { value: root, diagnostics } = source;
  const structure = structureOf(root);
  const links: Link[] = [];
  const held = new ByShape<Link>();
  const wrong = new ByShape<MemberDiagnostics>();
  const resolved: Resolved = {
    source,
    structure,
    links,
    linkOf: (holder, shape, key = "") => held.get(holder, shape + key),
    diagnosticsOf: (value, shape) => wrong.get(value, shape),
    report({ reference, start }, failure, severity = "error") {
      const ref = quote(shorten(withoutLogin(reference.ref), REF_MAX));
      const placeOf = () => [...start.path, ...pathOfReference(reference)];
      diagnostics.add(severity, `the reference to ${ref} ${failure}`, placeOf);
    },
  };
  const queue: Target[] = [{ value: root, path: [], shape: "document" }];
  const seen: Seen = new ByShape();
  const follow = (link: Link, fragment: string) => {
    const path = parseFragment(fragment);
    const target = path &&
      { path, value: valueAt(root, path), shape: link.reference.expected };
    const failure = explainTarget(target, structure);
    if (failure !== undefined) return resolved.report(link, failure);
    link.target = target!;
    queue.push(target!);
  };
  for (const start of queue) {
    await pause();
    const wrongIn = ({ value, shape }: Place) => wrong.get(value, shape);
    const first = { shape: start.shape, value: start.value };
    for (const place of walk(first, structure, seen, wrongIn)) {
      const found = await inSlices(validate(structure, place));
      if (found.size > 0) wrong.set(place.value, place.shape, found);
      for (const [key, { severity, message }] of found) {
        await pause();
        diagnostics.add(severity, message, () => [...start.path, ...pathOf(place), key]);
      }
      if (place.shape === "securityRequirement") await checkSchemes(place, start, resolved);
      await pause();
      const reference = referenceAt(place);
      if (!reference) continue;
      if (links.length === LIMITS.references) {
        const message = `there are more than ${formatCount(LIMITS.references)} references`;
        diagnostics.add("fatal", message, () => []);
        return resolved;
      }
      const link: Link = { reference, start };
      links.push(link);
      const { isPlain, ref } = reference;
      if (isPlain) held.set(place.value, place.shape, link);
      else held.set(place.parent!.value, place.shape + place.key, link);
      const [file, fragment] = splitReference(ref);
      if (isSame(file, url)) follow(link, fragment);
      else {
        const placeOf = () => [...start.path, ...pathOfReference(reference)];
        diagnostics.add("error", explainOther(structure, url), placeOf);
      }
    }
  }
  await settle(resolved);
  return resolved;
}

function isSame(file: string, url: string): boolean {
  return file === "" || (URL.canParse(file, url) && new URL(file, url).href === url);
}

/**
 * The message does not name the reference, so that all such references are one diagnostic with a
 * count.
 */
function explainOther({ name }: Structure, url: string): string {
  const lead = "references to other files are not followed; make one file of all";
  return name.startsWith("OpenRPC")
    ? lead
    : `${lead}: npx @redocly/cli bundle ${spell(url)} > one.yaml`;
}

async function checkSchemes(place: Place, start: Target, resolved: Resolved): Promise<void> {
  const { source, structure } = resolved;
  const wrong = resolved.diagnosticsOf(place.value, place.shape);
  const declared = objectOf(valueAt(source.value, structure.sections.securityScheme ?? []));
  // Since OpenAPI 3.2, a URI may identify a security scheme.
  const isUri = (name: string) => structure.name === "OpenAPI 3.2" && /[/#:]/.test(name);
  for (const name of Object.keys(objectOf(place.value))) {
    await pause();
    if (wrong?.has(name) || Object.hasOwn(declared, name)) continue;
    if (Object.hasOwn(declared, "$ref") || isUri(name)) continue;
    const message = `the security scheme ${quote(shorten(name, REF_MAX))} is not declared`;
    const placeOf = () => [...start.path, ...pathOf(place), name];
    source.diagnostics.add("error", message, placeOf);
  }
}

export function nameOfComponent({ structure }: Resolved, target: Target): string | undefined {
  const { shape, path } = target;
  const section = structure.sections[shape];
  if (path.length !== (section?.length ?? NaN) + 1) return undefined;
  return section!.every((key, i) => key === path[i]) ? path.at(-1) : undefined;
}

export function isPure(structure: Structure, shape: Shape, value: unknown): boolean {
  return isReference(shape, value) && siblingsOf(structure, shape, value).length === 0;
}

async function settle(resolved: Resolved): Promise<void> {
  const { structure, links, linkOf } = resolved;
  const nextOf = ({ target }: Link): Link | undefined =>
    target && isPure(structure, target.shape, target.value)
      ? linkOf(target.value, target.shape)
      : undefined;
  for (const start of links) {
    const trail = new Set<Link>();
    let link: Link | undefined = start;
    for (; link && link.isBroken === undefined && !trail.has(link); link = nextOf(link)) {
      await pause();
      trail.add(link);
    }
    const isCircle = link !== undefined && trail.has(link);
    if (isCircle) resolved.report(link!, "leads in a circle");
    for (const each of [...trail].reverse()) {
      await pause();
      const { target } = each;
      const next = nextOf(each);
      each.isBroken = isCircle || (next ? next.isBroken! : target === undefined);
      if (!target) continue;
      each.end = next && nameOfComponent(resolved, target) === undefined ? next.end : target;
    }
  }
}
