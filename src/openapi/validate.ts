/**
 * Validates a description by the tables of `tables.ts`. Nothing is repaired: parts that cannot be used are omitted, and
 * all else stays as it is.
 *
 * @module
 */
import {
  isEqual,
  isObject,
  type Json,
  objectOf,
  parseFragment,
  type Path,
  valueAt,
} from "../json/values.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { quote, shorten } from "../untrusted-text.ts";
import { createDiagnostics, type DiagnosticAt, type Severity } from "./diagnostics.ts";
import { checkOperations } from "./operations.ts";
import { variablesWithoutLogin, withoutLogin } from "./servers.ts";
import {
  isKeyword,
  isReference,
  nameOfShape,
  pathOf,
  pathOfReference,
  REF_MAX,
  referenceAt,
  type Rule,
  ruleOf,
  SAMPLE,
  type Shape,
  shapeAt,
  siblingsOf,
  type Structure,
  structureOf,
  walk,
} from "./structure.ts";
import { CHOICES, KEYS, NAMING } from "./tables.ts";

export interface MemberDiagnostic {
  readonly severity: Severity;
  readonly message: string;
  /** True if the member is left out; otherwise it stays as it is, or becomes `value`. */
  readonly isOmitted?: boolean;
  readonly value?: unknown;
}

export type MemberDiagnostics = ReadonlyMap<string, MemberDiagnostic>;

const NONE: MemberDiagnostics = new Map();

const VERSION = /^3\.(?:0\.\d|[12]\.\d+)(?:-.+)?$/;

const isText = (value: unknown) => typeof value === "string";

function isData(type: string, value: unknown): boolean {
  const choices = CHOICES[type];
  if (choices) {
    // A schema may have several.
    const all = type.startsWith("type") ? [value].flat() : [value];
    return all.every((one) => choices.includes(one as string));
  }
  if (type === "version") return VERSION.test(String(value));
  return !/^(?:text|url|host)$/.test(type) || isText(value);
}

function wordsFor(type: string): string {
  if (type === "version") return 'a version with three parts, such as "3.1.2"';
  return CHOICES[type] ? `one of ${CHOICES[type].join(", ")}` : "a text";
}

/**
 * Explains why a value cannot be used in its place, as the end of a sentence; `undefined` if it can. Its members may
 * still be wrong.
 */
export function refuse(structure: Structure, shape: Shape, value: unknown): string | undefined {
  if (Object.hasOwn(NAMING, shape)) return isText(value) ? undefined : "must be a text";
  if (shape.endsWith("[]")) return Array.isArray(value) ? undefined : "must be a list";
  if (!isObject(value)) {
    if (shape === "schema" && structure.hasSiblings && typeof value === "boolean") return undefined;
    const name = nameOfShape(shape);
    const isPlain = shape.startsWith("{") || name.endsWith("s");
    return `must be an object${isPlain ? "" : `: ${withArticle(name)}`}`;
  }
  if (shape.startsWith("{") || isReference(shape, value)) return undefined;
  for (const [key, rule] of structure.kinds[shape] ?? []) {
    if (rule.needed !== "required") continue;
    if (Object.hasOwn(value, key) && misfitOf(structure, rule, value[key]) === undefined) continue;
    const words = rule.shape === undefined ? `, ${wordsFor(rule.type)},` : "";
    return `needs ${quote(key)}${words} to be ${withArticle(nameOfShape(shape))}`;
  }
  return undefined;
}

/** Validates the members of an object, a map or a list, and not what is inside of these. */
export function validate(structure: Structure, shape: Shape, value: unknown): MemberDiagnostics {
  if (typeof value !== "object" || value === null) return NONE;
  const object = value as Json;
  const found = new Map<string, MemberDiagnostic>();
  // `items` may be a list of schemas; any other list in place of an object is omitted as a whole.
  if (Array.isArray(value) && !shape.endsWith("[]")) return NONE;
  const isPlain = !isReference(shape, value);
  for (const key of isPlain ? Object.keys(value) : siblingsOf(structure, shape, value)) {
    const rule = ruleOf(structure, shape, key);
    const name = Array.isArray(value) ? "an item" : nameOf(key);
    const diagnostic = (isPlain ? validateKey(shape, key) : undefined) ?? (
      rule
        ? validateMember(structure, rule, name, object[key])
        : isPlain && !key.startsWith("x-")
        ? unknownMember(structure, shape, object, key)
        : undefined
    );
    if (diagnostic) found.set(key, diagnostic);
  }
  if (!isPlain) return found;
  if (shape === "server") {
    const variables = variablesWithoutLogin(object);
    if (!isEqual(variables, object.variables)) {
      found.set("variables", { ...LOGIN, value: variables });
    }
  }
  for (const [key, { needed }] of structure.kinds[shape] ?? []) {
    if (needed !== "expected" || Object.hasOwn(value, key)) continue;
    const message = `${withArticle(nameOfShape(shape))} needs ${quote(key)}`;
    found.set(key, { severity: "note", message });
  }
  return found;
}

/** Explains how a value breaks a rule, as the end of a sentence; `undefined` if it does not. */
function misfitOf(structure: Structure, rule: Rule, value: unknown): string | undefined {
  if (rule.also === (Array.isArray(value) ? "list" : typeof value)) return undefined;
  if (rule.shape !== undefined) return refuse(structure, rule.shape, value);
  return isData(rule.type, value) ? undefined : `must be ${wordsFor(rule.type)}`;
}

function validateMember(
  structure: Structure,
  rule: Rule,
  name: string,
  value: unknown,
): MemberDiagnostic | undefined {
  const misfit = misfitOf(structure, rule, value);
  if (misfit === undefined) {
    const url = isText(value) ? withoutLoginIn(rule.type, value as string) : value;
    return url === value ? undefined : { ...LOGIN, value: url };
  }
  // A value that is left empty does no harm.
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  const severity = isEmpty ? "note" : "error";
  if (rule.type === "version") {
    return { severity: "note", message: `${name} ${misfit}`, value: versionFor(value) };
  }
  // Another value in place of a URL may contain URLs with passwords.
  const isOmitted = rule.shape !== undefined || rule.type === "url" || rule.type === "host";
  const message = `${name} ${misfit}${isOmitted ? "; it is omitted" : ""}`;
  return { severity, message, isOmitted };
}

const versionFor = (value: unknown): string =>
  ({ "3.1": "3.1.2", "3.2": "3.2.0" })[String(value).slice(0, 3)] ?? "3.0.4";

function withoutLoginIn(type: string, text: string): string {
  if (type === "url") return withoutLogin(text);
  return type === "host" ? withoutLogin(`//${text}`).slice(2) : text;
}

/** Everyone may read what is served, and messages. */
const LOGIN: MemberDiagnostic = {
  message: "a user and a password in a URL are omitted: everyone may read what is served",
  severity: "note",
};

function validateKey(shape: Shape, key: string): MemberDiagnostic | undefined {
  const [form, words] = KEYS[shape] ?? [];
  if (!form || form.test(key) || (key.startsWith("x-") && !shape.startsWith("{"))) return undefined;
  const message = `${nameOf(key)} ${words}; it is omitted`;
  return { severity: "error", message, isOmitted: true };
}

/** The longest name that others are compared with, in characters: comparing takes time. */
const MEANT_MAX = 40;

function unknownMember(
  { name, kinds }: Structure,
  shape: Shape,
  value: Json,
  key: string,
): MemberDiagnostic {
  const others = [...kinds[shape]!.keys()].filter((other) => !Object.hasOwn(value, other));
  const meant = key.length > MEANT_MAX ? undefined : nearest(key, others);
  // Another version of OpenAPI has references or operations there, which would not be checked.
  const isOmitted = isKeyword(key);
  const message = `${withArticle(nameOfShape(shape))} of ${name} has no ${nameOf(key)}` +
    (isOmitted ? "; it is omitted" : "") + didYouMean(meant);
  return { severity: "note", message, isOmitted };
}

const nameOf = (key: string): string => quote(shorten(key, 80));

/**
 * Validates a part of an OpenAPI or OpenRPC document that is no file of its own, such as what the file of a kind has.
 * Its references lead into itself.
 *
 * @param version says of which it is a part: `{ openapi: "3.1.1" }`, `{ openrpc: "1.3.2" }`
 */
export function validatePart(part: Json, version: Json): DiagnosticAt<Path>[] {
  const document = { info: { title: "", version: "" }, ...version, ...part };
  const structure = structureOf(document);
  const diagnostics = createDiagnostics();
  const start: { shape: Shape; value: unknown } = { shape: "document", value: document };
  const validateAt = ({ shape, value }: typeof start) => validate(structure, shape, value);
  for (const place of walk(start, structure, undefined, validateAt)) {
    for (const [key, { severity, message }] of validateAt(place)) {
      diagnostics.add(severity, message, () => [...pathOf(place), key]);
    }
    const reference = referenceAt(place);
    if (!reference || reference.expected === SAMPLE) continue;
    const { ref, expected: shape } = reference;
    const path = ref.startsWith("#") ? parseFragment(ref.slice(1)) : undefined;
    const target = path && { path, shape, value: valueAt(document, path) };
    const failure = path
      ? explainTarget(document, target, structure)
      : "leads elsewhere than to #/components/…";
    if (failure === undefined) continue;
    const names = Object.keys(objectOf(valueAt(document, path?.slice(0, -1) ?? [])));
    const meant = path && !target?.value ? didYouMean(nearest(path.at(-1) ?? "", names)) : "";
    const message = `the reference to ${quote(shorten(ref, REF_MAX))} ${failure}${meant}`;
    diagnostics.add("error", message, () => pathOfReference(reference));
  }
  checkOperations(document, diagnostics);
  return diagnostics.list() as DiagnosticAt<Path>[];
}

/** Explains why the target of a reference is wrong; `undefined` if it is right. */
export function explainTarget(
  root: unknown,
  target: { readonly path: Path; readonly value: unknown; readonly shape: Shape } | undefined,
  structure: Structure,
): string | undefined {
  if (target?.value === undefined) return "leads nowhere";
  const { value, path, shape } = target;
  if (shape === SAMPLE) return undefined;
  const isDocument = ["openapi", "swagger", "openrpc"].some((key) => key in objectOf(root));
  const found = isDocument ? shapeAt(structureOf(root), path) : undefined;
  if (found !== undefined && found !== shape) {
    return `leads to a ${nameOfShape(found)} where a ${nameOfShape(shape)} belongs`;
  }
  const refusal = refuse(structure, shape, value);
  if (refusal === undefined) return undefined;
  const reason = refusal.startsWith("needs") ? `: it ${refusal}` : "";
  return `leads to something that is no ${nameOfShape(shape)}${reason}`;
}

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
