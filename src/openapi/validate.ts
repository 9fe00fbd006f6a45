/**
 * Validates a description against the tables in `tables.ts`. The diagnostics say which members
 * `normalize.ts` omits, and which values it replaces.
 *
 * @module
 */
import { isObject, type JsonObject, type Path } from "../json/values.ts";
import { didYouMean, nearest } from "../nearest.ts";
import type { Work } from "../slices.ts";
import { quote } from "../untrusted-text.ts";
import {
  type Addition,
  formatCount,
  LIMITS,
  OMITTED,
  type ParsedFile,
  quoteName,
  type Severity,
  spellingOf,
} from "./diagnostics.ts";
import { variablesWithoutLogin, withoutLogin } from "./server-url.ts";
import {
  isKeyword,
  isReference,
  nameOfShape,
  type Place,
  type Rule,
  ruleOf,
  type Shape,
  shapeAt,
  siblingsOf,
  type Structure,
} from "./structure.ts";
import { CHOICES, KEYS, MAPPED } from "./tables.ts";

export interface MemberDiagnostic extends Addition {
  readonly severity: Severity;
  readonly fault: string;
  readonly isOmitted?: boolean;
  /** The value that replaces the member's invalid value. */
  readonly value?: unknown;
}

export type MemberDiagnostics = ReadonlyMap<string, MemberDiagnostic>;

const VERSION = /^3\.(?:0\.\d|[12]\.\d+)(?:-.+)?$/;

function expectedOf(type: string, value: unknown): string | undefined {
  const choices = CHOICES[type];
  if (choices) {
    const all = type.startsWith("type") ? [value].flat() : [value];
    const isChoice = all.every((one) => choices.includes(one as string));
    return isChoice ? undefined : `one of ${choices.join(", ")}`;
  }
  if (type === "names") {
    const isShort = Array.isArray(value) && value.length <= LIMITS.members;
    return isShort ? undefined : `a list of at most ${formatCount(LIMITS.members)} names`;
  }
  if (type === "version") {
    return VERSION.test(String(value)) ? undefined : 'a version with three parts, such as "3.1.2"';
  }
  if (type === "text") return isScalar(value) ? undefined : "a string";
  if (type === "host") {
    const isHost = typeof value === "string" && HOST.test(value);
    return isHost ? undefined : "a host name or address, without scheme and path";
  }
  return type === "url" && typeof value !== "string" ? "a string" : undefined;
}

/** A host, perhaps with a login, which is removed later, and a port. */
const HOST = /^(?:[^\s/\\?#]*@)?(?:\[[\da-f:.]+\]|[^\s/\\?#@:{}[\]]+)(?::\d+)?$/i;

/** YAML reads texts such as `1.0` and `true` as values of other types. */
const isScalar = (value: unknown): boolean => /^[sbn]/.test(typeof value);

/**
 * Returns the reason why a value cannot be used, such as `must be a list`. In an object, checks
 * only the required members.
 */
function shapeErrorOf(structure: Structure, shape: Shape, value: unknown): string | undefined {
  if (shape === MAPPED) {
    return typeof value === "string" ? undefined : "must be a string";
  }
  if (shape.endsWith("[]")) return Array.isArray(value) ? undefined : "must be a list";
  if (!isObject(value)) {
    if (shape === "schema" && structure.hasSiblings && typeof value === "boolean") return undefined;
    const name = nounWithArticle(nameOfShape(shape));
    return `must be an object${shape.startsWith("{") || name.endsWith("s") ? "" : `: ${name}`}`;
  }
  if (shape.startsWith("{") || isReference(shape, value)) return undefined;
  for (const [key, rule] of structure.objects[shape]?.required ?? []) {
    if (Object.hasOwn(value, key) && typeErrorOf(structure, rule, value[key]) === undefined) {
      continue;
    }
    const words = rule.shape === undefined ? ` (${expectedOf(rule.type, value[key])})` : "";
    return `needs ${quote(key)}${words} to be ${nounWithArticle(nameOfShape(shape))}`;
  }
  return undefined;
}

const MEMBERS_PER_STEP = 128;

/** Validates only the direct members of a value. */
export function* validate(
  file: ParsedFile,
  structure: Structure,
  place: Place,
): Work<MemberDiagnostics> {
  const { shape, value } = place;
  const found = new Map<string, MemberDiagnostic>();
  if (typeof value !== "object" || value === null) return found;
  // The rule of the parent's member has already decided whether a list may stand here.
  if (Array.isArray(value) && !shape.endsWith("[]")) return found;
  const object = value as JsonObject;
  const keys = isReference(shape, value) ? siblingsOf(structure, shape, value) : Object.keys(value);
  const most = membersMax(place);
  const surplus = keys.length > most ? surplusIn(shape, most) : undefined;
  for (const [at, key] of keys.entries()) {
    if (at % MEMBERS_PER_STEP === MEMBERS_PER_STEP - 1) yield;
    const diagnostic = at < most ? memberDiagnostic(file, structure, place, key) : surplus;
    if (diagnostic) found.set(key, diagnostic);
  }
  if (isReference(shape, value)) return found;
  if (shape === "server") {
    const variables = variablesWithoutLogin(object);
    if (variables) found.set("variables", { ...LOGIN, value: variables });
  }
  for (const key of structure.objects[shape]?.expected ?? []) {
    if (Object.hasOwn(value, key)) continue;
    const fault = `${nounWithArticle(nameOfShape(shape))} needs ${quote(key)}`;
    found.set(key, { severity: "note", fault });
  }
  for (const [key, fault] of misusedPairs(structure, shape, object)) {
    if (!found.has(key)) found.set(key, { severity: "note", fault });
  }
  return found;
}

function memberDiagnostic(
  file: ParsedFile,
  structure: Structure,
  { shape, value }: Place,
  key: string,
): MemberDiagnostic | undefined {
  const object = value as JsonObject;
  const isSibling = isReference(shape, value);
  const wrongKey = isSibling ? undefined : validateKey(shape, key);
  if (wrongKey) return wrongKey;
  const rule = ruleOf(structure, shape, key);
  if (rule) {
    return validateMember(structure, rule, object, key) ?? validateTexts(file, rule, object, key);
  }
  return isSibling || key.startsWith("x-")
    ? undefined
    : unknownMember(structure, shape, object, key);
}

/** Members of which an object may have one only, as both say the same. */
const PAIRS: Readonly<Record<Shape, readonly (readonly [key: string, other: string])[]>> = {
  parameter: [["schema", "content"], ["example", "examples"]],
  header: [["schema", "content"], ["example", "examples"]],
  mediaType: [["example", "examples"]],
  example: [["value", "externalValue"]],
  license: [["url", "identifier"]],
};

function* misusedPairs(
  { objects }: Structure,
  shape: Shape,
  object: JsonObject,
): Iterable<readonly [key: string, fault: string]> {
  for (const [key, other] of PAIRS[shape] ?? []) {
    if (!objects[shape]?.members.has(other)) continue;
    const noun = nounWithArticle(nameOfShape(shape));
    const count = [key, other].filter((one) => Object.hasOwn(object, one)).length;
    if (count === 2) yield [other, `${noun} must not have both ${quote(key)} and ${quote(other)}`];
    if (count === 0 && key === "schema") yield [key, `${noun} needs "schema" or "content"`];
  }
}

/** The maps and lists of a document, or of its components, that may be of any size. */
const LARGE = /^(?:paths|tag\[\]|method\[\]|\{(?!securityScheme\}).*\})$/;

const LIMITS_OF: Readonly<Record<Shape, number>> = {
  "server[]": LIMITS.servers,
  "{operation}": LIMITS.inherited,
};

/** Returns the maximum number of members of an object, or items of a list. */
function membersMax({ shape, parent }: Place): number {
  const limit = LIMITS_OF[shape];
  if (limit !== undefined) return limit;
  const holder = parent?.shape ?? "";
  if (/^(?:document|components)$/.test(holder) && LARGE.test(shape)) return Infinity;
  const isInSchema = /^(?:schema|discriminator)$/.test(holder) && /^\{|\]$/.test(shape);
  return isInSchema ? LIMITS.schemaMembers : LIMITS.members;
}

function surplusIn(shape: Shape, most: number): MemberDiagnostic {
  const noun = nounWithArticle(nameOfShape(shape));
  return {
    severity: "error",
    fault: `${noun} has more than ${formatCount(most)} members`,
    consequence: "the others are omitted",
    isOmitted: true,
  };
}

function typeErrorOf(structure: Structure, rule: Rule, value: unknown): string | undefined {
  if (rule.also === (Array.isArray(value) ? "list" : typeof value)) return undefined;
  if (rule.shape !== undefined) return shapeErrorOf(structure, rule.shape, value);
  const expected = expectedOf(rule.type, value);
  return expected && `must be ${expected}`;
}

/**
 * Texts that operations may share, and that are written or compared for each of them: a thousand
 * operations may use one of megabytes.
 */
const REPEATED: ReadonlySet<string> = new Set(
  ["name", "format", "type", "url", "host", "basePath", "operationId"],
);

function validateMember(
  structure: Structure,
  rule: Rule,
  object: JsonObject,
  key: string,
): MemberDiagnostic | undefined {
  const value = object[key];
  if (typeof value === "string" && REPEATED.has(key) && value.length > LIMITS.name) {
    const most = formatCount(LIMITS.name);
    const fault = `${quoteName(key)} has more than ${most} characters`;
    return { severity: "error", fault, ...OMITTED, isOmitted: true };
  }
  const typeError = typeErrorOf(structure, rule, value);
  if (typeError === undefined) {
    const url = typeof value === "string" ? withoutLoginIn(rule.type, value) : value;
    return url === value ? undefined : { ...LOGIN, value: url };
  }
  // Omitting an empty value loses nothing, so the diagnostic is a note and not an error.
  const isEmpty = value === null || (value === "" && rule.type === "host") ||
    (Array.isArray(value) && value.length === 0);
  const severity = isEmpty ? "note" : "error";
  const fault = `${Array.isArray(object) ? "an item" : quoteName(key)} ${typeError}`;
  if (rule.type === "version") {
    const meant = { "3.1": "3.1.2", "3.2": "3.2.0" }[String(value).slice(0, 3)] ?? "3.0.4";
    return { severity: "note", fault, value: meant };
  }
  // Invalid URLs and hosts are omitted, since a password in them could not be found and removed.
  const isOmitted = rule.shape !== undefined || /^(?:text|url|host|names)$/.test(rule.type);
  if (rule.type === "text" && rule.needed === "expected") {
    return { severity, fault, consequence: 'it is served as ""', value: "" };
  }
  return { severity, fault, ...isOmitted && OMITTED, isOmitted };
}

/** Finds what is not a string where a text, or a list of texts, belongs. */
function validateTexts(
  file: ParsedFile,
  { type }: Rule,
  object: JsonObject,
  key: string,
): MemberDiagnostic | undefined {
  const value = object[key];
  const asWritten = (holder: unknown, key: string, item: unknown) =>
    typeof item === "string" || !isScalar(item) ? item : spellingOf(file, holder, key);
  const isList = /^(?:names|texts)$/.test(type) && Array.isArray(value);
  if (!isList && type !== "text") return undefined;
  const all = isList ? value : [value];
  const texts = isList
    ? all.map((item, at) => asWritten(value, String(at), item))
    : [asWritten(object, key, value)];
  const at = texts.findIndex((text, at) => text !== all[at]);
  if (at < 0) return undefined;
  const fault = `${quoteName(key)} must ${isList ? "have strings" : "be a string"}: ` +
    `write ${quoteName(texts[at])}`;
  return { severity: "note", fault, value: isList ? texts : texts[0] };
}

function withoutLoginIn(type: string, text: string): string {
  if (type === "url") return withoutLogin(text);
  return type === "host" ? withoutLogin(`//${text}`).slice(2) : text;
}

const LOGIN: MemberDiagnostic = {
  fault: "the user and password in a URL are omitted, since the description is public",
  severity: "note",
};

function validateKey(shape: Shape, key: string): MemberDiagnostic | undefined {
  const [form, words] = KEYS[shape] ?? [];
  if (!form || form.test(key) || (key.startsWith("x-") && !shape.startsWith("{"))) return undefined;
  return { severity: "error", fault: `${quoteName(key)} ${words}`, ...OMITTED, isOmitted: true };
}

function unknownMember(
  { name, objects }: Structure,
  shape: Shape,
  value: JsonObject,
  key: string,
): MemberDiagnostic {
  const { members } = objects[shape]!;
  const others = [...members.keys()].filter((other) => !Object.hasOwn(value, other));
  // Comparing long names is slow.
  const meant = key.length > 40 ? undefined : nearest(key, others);
  // A member of another OpenAPI version is omitted: it may contain references, which are not
  // checked here.
  const isOmitted = isKeyword(key);
  return {
    severity: "note",
    fault: `${name} has no ${quoteName(key)} in ${nounWithArticle(nameOfShape(shape))}`,
    ...isOmitted && OMITTED,
    hint: didYouMean(meant),
    isOmitted,
  };
}

/** Returns the reason why the target of a reference is invalid, such as `leads nowhere`. */
export function explainTarget(
  target: { readonly path: Path; readonly value: unknown; readonly shape: Shape } | undefined,
  structure: Structure,
): string | undefined {
  if (target?.value === undefined) return "leads nowhere";
  const { value, path, shape } = target;
  const found = shapeAt(structure, path);
  if (found !== undefined && found !== shape) {
    const [other, wanted] = [found, shape].map((one) => nounWithArticle(nameOfShape(one)));
    return `leads to ${other} instead of ${wanted}`;
  }
  const error = shapeErrorOf(structure, shape, value);
  if (error === undefined) return undefined;
  const reason = error.startsWith("needs") ? `: it ${error}` : "";
  return `leads to something that is not ${nounWithArticle(nameOfShape(shape))}${reason}`;
}

const nounWithArticle = (noun: string): string =>
  noun.endsWith("s") ? noun : `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
