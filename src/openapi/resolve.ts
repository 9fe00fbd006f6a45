/**
 * Resolves a description: finds the target of each reference, and validates everything that can be
 * reached.
 *
 * @module
 */
import { type JsonObject, objectOf, parseFragment, type Path, valueAt } from "../json/values.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { atOnce, type Work } from "../slices.ts";
import {
  type DiagnosticAt,
  Diagnostics,
  formatCount,
  LIMITS,
  quoteName,
  type Severity,
} from "./diagnostics.ts";
import { nameInCommand } from "./files.ts";
import { withValidOperations } from "./operations.ts";
import type { DiagnosedFile } from "./parse.ts";
import { withoutLogin } from "./server-url.ts";
import {
  ByShape,
  isReference,
  type JsonReference,
  pathOf,
  pathOfReference,
  type Place,
  REF_MAX,
  referenceAt,
  type Seen,
  type Shape,
  siblingsOf,
  type Structure,
  structureOf,
  walk,
} from "./structure.ts";
import {
  explainTarget,
  type MemberDiagnostic,
  type MemberDiagnostics,
  validate,
} from "./validate.ts";

export interface Target {
  readonly path: Path;
  readonly value: unknown;
  readonly shape: Shape;
}

export interface Link {
  readonly reference: JsonReference;
  /**
   * The object in which this reference was found: the document, or the target of another reference.
   */
  readonly start: Target;
  /** True if nothing stands beside the reference that counts. */
  readonly isBare: boolean;
  target?: Target;
  /**
   * The end of a chain of references: a component, or a value that is not a reference. `null` if
   * the chain is broken.
   */
  end?: Target | null;
}

/**
 * @param url the URL from which the description was read, by which the description may refer to
 * itself
 */
export function* resolve(source: DiagnosedFile, url?: string): Work<Resolved> {
  const resolved = new Resolved(source, url);
  yield* resolved.follow();
  return resolved;
}

export class Resolved {
  readonly source: DiagnosedFile;
  readonly structure: Structure;
  readonly links: Link[] = [];
  readonly #url: string | undefined;
  readonly #queue: Target[];
  readonly #seen: Seen = new ByShape();
  readonly #links = new ByShape<Link>();
  readonly #wrong = new ByShape<MemberDiagnostics>();

  constructor(source: DiagnosedFile, url: string | undefined) {
    this.source = source;
    this.structure = structureOf(source.value);
    this.#url = url;
    this.#queue = [{ value: source.value, path: [], shape: "document" }];
  }

  diagnosticsOf(value: unknown, shape: Shape): MemberDiagnostics | undefined {
    return this.#wrong.get(value, shape);
  }

  linkOf(holder: unknown, shape: Shape, key = ""): Link | undefined {
    return this.#links.get(holder, shape + key);
  }

  /** @param failure the words that follow the reference in the message, such as `leads nowhere` */
  report({ reference, start }: Link, failure: string, severity: Severity = "error"): void {
    const ref = quoteName(withoutLogin(reference.ref), REF_MAX);
    const placeOf = () => [...start.path, ...pathOfReference(reference)];
    this.source.diagnostics.add(severity, `the reference to ${ref} ${failure}`, placeOf);
  }

  *follow(): Work<void> {
    for (const start of this.#queue) {
      yield;
      const first = { shape: start.shape, value: start.value };
      // What is only remarked is shown, so it is validated and resolved, too.
      const isReplaced = ({ value, shape }: Place, key: string) => {
        const { isOmitted, value: other } = this.#wrong.get(value, shape)?.get(key) ?? {};
        return isOmitted === true || other !== undefined;
      };
      for (const place of walk(first, this.structure, this.#seen, isReplaced)) {
        yield* this.#check(place, start);
        const reference = referenceAt(place);
        if (reference && !this.#addLink(reference, start)) return;
        yield;
      }
    }
    yield* this.#checkNames();
    yield* resolveChains(this);
  }

  *#checkNames(): Work<void> {
    const { source, structure } = this;
    for (const path of Object.values(structure.sections)) {
      for (const name of Object.keys(objectOf(valueAt(source.value, path)))) {
        yield;
        const isFine = isComponentName(name) || (!isLongName(name) && isRenamed(path, name));
        if (name.startsWith("x-") || isFine) continue;
        const allowed = `up to ${NAME_MAX} letters, digits, ".", "-" and "_"`;
        const message = `${quoteName(name)} is not a valid name: use ${allowed}`;
        source.diagnostics.add("note", message, () => [...path, name]);
      }
    }
  }

  *#check(place: Place, start: Target): Work<void> {
    const { diagnostics } = this.source;
    const found = yield* validate(this.source, this.structure, place);
    if (found.size > 0) this.#wrong.set(place.value, place.shape, found);
    let last: MemberDiagnostic | undefined;
    for (const [key, diagnostic] of found) {
      yield;
      // One diagnostic is for all members above the limit.
      if (diagnostic === last) continue;
      last = diagnostic;
      const { severity, fault } = diagnostic;
      diagnostics.add(severity, fault, () => [...start.path, ...pathOf(place), key], diagnostic);
    }
    if (place.shape === "securityRequirement") yield* this.#checkSchemes(place, start, found);
  }

  *#checkSchemes(place: Place, start: Target, wrong: MemberDiagnostics): Work<void> {
    const { source, structure } = this;
    const declared = objectOf(valueAt(source.value, structure.sections.securityScheme ?? []));
    // Since OpenAPI 3.2, a URI may identify a security scheme.
    const isUri = (name: string) => structure.name === "OpenAPI 3.2" && /[/#:]/.test(name);
    for (const name of Object.keys(objectOf(place.value))) {
      yield;
      if (wrong.has(name) || Object.hasOwn(declared, name)) continue;
      if (Object.hasOwn(declared, "$ref") || isUri(name)) continue;
      const message = `the security scheme ${quoteName(name, REF_MAX)} is not declared`;
      source.diagnostics.add("error", message, () => [...start.path, ...pathOf(place), name]);
    }
  }

  /** Returns false if there are too many references. */
  #addLink(reference: JsonReference, start: Target): boolean {
    if (this.links.length === LIMITS.references) {
      const message = `there are more than ${formatCount(LIMITS.references)} references`;
      this.source.diagnostics.add("fatal", message, () => []);
      return false;
    }
    const { isPlain, ref, place } = reference;
    const isBare = isBareReference(this.structure, place.shape, place.value);
    const link: Link = { reference, start, isBare };
    this.links.push(link);
    if (isPlain) this.#links.set(place.value, place.shape, link);
    else this.#links.set(place.parent!.value, place.shape + place.key, link);
    const [file = ""] = ref.split("#", 1);
    const fragment = ref.slice(file.length + 1);
    if (isThisFile(file, this.#url)) this.#followLink(link, fragment);
    else if (this.#url === undefined) this.report(link, "does not lead to #/components/…");
    else {
      const placeOf = () => [...start.path, ...pathOfReference(reference)];
      this.source.diagnostics.add("error", explainOther(this.structure, this.#url), placeOf);
    }
    return true;
  }

  #followLink(link: Link, fragment: string): void {
    const root = this.source.value;
    const path = parseFragment(fragment);
    const target = path && { path, value: valueAt(root, path), shape: link.reference.expected };
    const failure = explainTarget(target, this.structure);
    if (failure !== undefined) return this.report(link, failure + this.#suggestion(path));
    link.target = target!;
    this.#queue.push(target!);
  }

  /** Comparing names is slow, so there is no suggestion for a description of unknown size. */
  #suggestion(path: Path | undefined): string {
    if (this.#url !== undefined || !path) return "";
    const names = Object.keys(objectOf(valueAt(this.source.value, path.slice(0, -1))));
    const name = path.at(-1) ?? "";
    return names.includes(name) ? "" : didYouMean(nearest(name, names));
  }
}

/** The maximum length of a component's name, which is part of every reference. */
const NAME_MAX = 400;

/** A component with a longer name gets another one, which the references to it have. */
const isLongName = (name: string): boolean => name.length > NAME_MAX;

/**
 * Tells whether a component gets another name. Swagger allows names that OpenAPI does not. Those of
 * security schemes stay, since no reference leads to a scheme.
 */
export function isRenamed(section: Path, name: string): boolean {
  if (section[0] === "securityDefinitions") return false;
  return isLongName(name) || (section[0] !== "components" && !isComponentName(name));
}

const isComponentName = (name: string): boolean =>
  /^[A-Za-z0-9._-]+$/.test(name) && !isLongName(name);

function isThisFile(file: string, url: string | undefined): boolean {
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
    : `${lead}: npx @redocly/cli bundle ${nameInCommand(url)} > one.yaml`;
}

/**
 * Validates a part of a document. A reference to something outside the part is an error.
 *
 * @param version an object with the version, such as `{ openapi: "3.1.1" }`
 */
export function validatePart(part: JsonObject, version: JsonObject): DiagnosticAt<Path>[] {
  const value = { info: { title: "", version: "" }, ...version, ...part };
  const diagnostics = new Diagnostics();
  atOnce(resolve({ name: "", text: "", value, offsets: new Map(), diagnostics }));
  atOnce(withValidOperations(value, diagnostics));
  return diagnostics.list() as DiagnosticAt<Path>[];
}

export function nameOfComponent({ structure }: Resolved, target: Target): string | undefined {
  const { shape, path } = target;
  const section = structure.sections[shape];
  const name = path.at(-1);
  if (!section || path.length !== section.length + 1 || isRenamed(section, name!)) return undefined;
  return section.every((key, i) => key === path[i]) ? name : undefined;
}

export function isBareReference(structure: Structure, shape: Shape, value: unknown): boolean {
  return isReference(shape, value) && siblingsOf(structure, shape, value).length === 0;
}

function* resolveChains(resolved: Resolved): Work<void> {
  const nextOf = ({ target }: Link): Link | undefined => {
    const next = target && resolved.linkOf(target.value, target.shape);
    return next?.isBare ? next : undefined;
  };
  for (const start of resolved.links) {
    const trail = new Set<Link>();
    let link: Link | undefined = start;
    for (; link && link.end === undefined && !trail.has(link); link = nextOf(link)) {
      yield;
      trail.add(link);
    }
    const isCircle = link !== undefined && trail.has(link);
    if (isCircle) resolved.report(link!, "leads in a circle");
    for (const each of [...trail].reverse()) {
      yield;
      const { target } = each;
      const next = nextOf(each);
      const isBroken = isCircle || !target || next?.end === null;
      if (isBroken) each.end = null;
      else each.end = next && nameOfComponent(resolved, target) === undefined ? next.end! : target;
    }
  }
}
