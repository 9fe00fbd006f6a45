/**
 * Finds what is not as OpenAPI wants it, by the tables of `shape-tables.ts` and `validity-tables.ts`, and says what becomes of it:
 * the smallest part is left out.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isEqual, isObject, type Json } from "../json/values.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { excerpt, quote, shorten } from "../untrusted-text.ts";
import { CHOICES, type Fill, FILLS, KEYS, NEEDED, OUSTED } from "./validity-tables.ts";
import { withoutLoginOf } from "./server-logins.ts";
import { withoutLogin } from "./server-url.ts";
import { NAMING, OTHERS, VARIANTS } from "./shape-tables.ts";
import {
  isReference,
  nameOfShape,
  type Rule,
  ruleOf,
  type Shape,
  siblingsOf,
  type Structure,
} from "./document-structure.ts";

/** What is wrong with a member of an object, a map or a list. */
export interface Fault {
  readonly message: string;
  /** Whether users run into it. */
  readonly isError: boolean;
  /** What takes its place; `undefined` where it is left out. */
  readonly value?: unknown;
}

/** By the key of the member. */
export type Faults = ReadonlyMap<string, Fault>;

/** Nothing is wrong. */
export const NONE: Faults = new Map();

/** What is meant by a version without its last part. */
const VERSIONS: Readonly<Record<string, string>> = { "3.1": "3.1.2", "3.2": "3.2.0" };

const TYPES = new Set([...CHOICES.type!, "null"]);
const LIST_FORMATS = new Set<unknown>(["csv", "ssv", "pipes", "multi"]);
const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number" || typeof value === "bigint";
const toText = (value: unknown) =>
  isText(value) ? value : isNumber(value) || typeof value === "boolean" ? String(value) : undefined;

/** A URL without a user and a password. */
const hide = (url: string | undefined, before = "") =>
  url === undefined ? undefined : withoutLogin(before + url).slice(before.length);

/** The texts of a list, in which numbers are taken for texts; `undefined` where it is none or has others. */
function toTexts(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  if (value.every(isText)) return value;
  const texts = value.map(toText);
  return texts.includes(undefined) ? undefined : texts;
}

const some = (list: unknown) => Array.isArray(list) && list.length > 0 ? list : undefined;

/** The types of a JSON Schema: one, or a list of them. */
const toTypes = (value: unknown, more?: string) =>
  (Array.isArray(value) && value.length > 0 ? value : [value])
      .every((type) => TYPES.has(type as string) || type === more)
    ? value
    : undefined;

/** What data must be, in words, and what is taken for it: the value, one that is meant, or `undefined`. */
const DATA: Readonly<Record<string, readonly [says: string, fit: (value: unknown) => unknown]>> = {
  string: ["a text", toText],
  url: ["a text", (value) => hide(toText(value))],
  // Of Swagger 2.0.
  host: ["a text", (value) => hide(toText(value), "//")],
  boolean: [
    "true or false",
    (value) =>
      value === "true" || value === "false"
        ? value === "true"
        : typeof value === "boolean"
        ? value
        : undefined,
  ],
  number: ["a number", (value) => isNumber(value) ? value : undefined],
  listFormat: [
    "csv, ssv, pipes or multi, as OpenAPI 3 has no other",
    (value) => LIST_FORMATS.has(value) ? value : undefined,
  ],
  step: ["a number above 0", (value) => isNumber(value) && Number(value) > 0 ? value : undefined],
  count: [
    "a whole number from 0 on",
    (value) =>
      typeof value === "bigint" || Number.isInteger(value)
        ? (value as number) >= 0 ? value : undefined
        : undefined,
  ],
  list: ["a list that is not empty", some],
  "any[]": ["a list", (value) => Array.isArray(value) ? value : undefined],
  "{any}": ["an object", (value) => isObject(value) ? value : undefined],
  "{string}": [
    "an object of texts",
    (value) => isObject(value) && Object.values(value).every(isText) ? value : undefined,
  ],
  "string[]": ["a list of texts", toTexts],
  texts: ["a list of texts that is not empty", (value) => some(toTexts(value))],
  names: [
    "a list of different texts that is not empty",
    (value) => {
      const texts = some(toTexts(value));
      if (!texts) return undefined;
      const names = new Set(texts);
      return names.size === texts.length ? texts : [...names];
    },
  ],
  reference: ["a text", (value) => isText(value) ? value : undefined],
  version: [
    'a version with three parts, such as "3.1.2"',
    (value) =>
      isText(value) && /^3\.(?:0\.\d|[12]\.\d+)(?:-.+)?$/.test(value as string)
        ? value
        : VERSIONS[String(value).slice(0, 3)] ?? "3.0.4",
  ],
  true: ["true where the parameter is in the path", () => true],
  scopes: ["a list of texts", (value) => toTexts(value) ?? []],
  types: [`one or more of ${[...TYPES].join(", ")}`, (value) => toTypes(value)],
  typesOfSwagger: [
    `one or more of ${[...TYPES].join(", ")}`,
    (value) => value === "null" ? undefined : toTypes(value, "file"),
  ],
};

/** What a value is taken for where data belongs; `undefined`: it is nothing of the kind. */
function fit(type: string, value: unknown): unknown {
  if (type === "any") return value;
  const choices = CHOICES[type];
  if (choices) return choices.includes(value as string) ? value : undefined;
  return DATA[type]![1](value);
}

function saysOf(type: string): string {
  const choices = CHOICES[type];
  if (!choices) return DATA[type]![0];
  return choices.length === 1 ? quote(choices[0]) : `one of ${choices.join(", ")}`;
}

/**
 * Why a value cannot be what belongs in its place, as a sentence; `undefined` if it can. What is in it may
 * be wrong all the same, as long as the value is of use without.
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
  for (const [key, rule] of structure.required[kindOf(structure, shape, value)] ?? []) {
    if (Object.hasOwn(value, key) && misfitOf(structure, rule, value[key]) === undefined) continue;
    const says = rule.shape === undefined ? `, ${saysOf(rule.type)},` : "";
    return `needs ${quote(key)}${says} to be ${withArticle(nameOfShape(shape))}`;
  }
  const needed = NEEDED[shape];
  const isFit = (key: string) => {
    const rule = ruleOf(structure, shape, key);
    return rule && Object.hasOwn(value, key) && misfitOf(structure, rule, value[key]) === undefined;
  };
  if (needed && !needed.some(isFit)) {
    return `needs ${needed.map(quote).join(" or ")} to be ${withArticle(nameOfShape(shape))}`;
  }
  return undefined;
}

/** What is wrong with the members of an object, a map or a list. What is in these is not looked at. */
export function faultsOf(structure: Structure, shape: Shape, value: unknown): Faults {
  if (typeof value !== "object" || value === null) return NONE;
  const object = value as Json;
  const faults = new Map<string, Fault>();
  const inner = innerRuleOf(shape);
  // A list where a schema may stand has schemas; what else is no list in its place is left out with it.
  if (Array.isArray(value) && !inner) return NONE;
  if (isReference(shape, value)) {
    for (const key of siblingsOf(structure, shape, value)) {
      const rule = inner ?? ruleOf(structure, shape, key);
      note(faults, key, rule && faultOf(structure, rule, quote(key), object[key]));
    }
    return faults;
  }
  const kind = kindOf(structure, shape, object);
  for (const key of Object.keys(value)) {
    const rule = inner ?? ruleOf(structure, kind, key);
    if (rule && !KEYS[shape] && misfitOf(structure, rule, object[key]) === undefined) {
      if (rule.shape !== undefined || fit(rule.type, object[key]) === object[key]) continue;
    }
    const name = Array.isArray(value) ? "an item" : nameOf(key);
    note(
      faults,
      key,
      keyFaultOf(shape, key) ??
        (rule ? faultOf(structure, rule, name, object[key]) : key.startsWith("x-") ? undefined : {
          message:
            `${withArticle(nameOfShape(shape))} of ${structure.name} has no ${name}; ${OUT}` +
            didYouMean(meantBy(structure, kind, object, key)),
          isError: false,
        }),
    );
  }
  if (inner) return faults;
  if (shape === "server") hideLogin(object, faults);
  oust(shape, object, faults);
  fill(structure, kind, shape, object, faults);
  return faults;
}

const OUT = "it is left out";

/** The member that somebody meant who mistyped its name. */
function meantBy({ kinds }: Structure, kind: string, value: Json, key: string): string | undefined {
  const others = [...kinds[kind]!.keys()].filter((other) => !Object.hasOwn(value, other));
  return key.length > MEANT_MAX ? undefined : nearest(key, others);
}

/** How long a mistyped name may be, in characters: to compare names takes as long as both together. */
const MEANT_MAX = 40;

/** The rule for all members of a list or a map. */
function innerRuleOf(shape: Shape): Rule | undefined {
  const inner = shape.endsWith("[]")
    ? shape.slice(0, -2)
    : shape.startsWith("{")
    ? shape.slice(1, -1)
    : undefined;
  return inner === undefined ? undefined : { type: inner, shape: inner, isRequired: false };
}

function note(faults: Map<string, Fault>, key: string, fault: Fault | undefined): void {
  if (fault) faults.set(key, fault);
}

/** The row for an object: there may be one for the value of a member. */
function kindOf({ kinds }: Structure, shape: Shape, value: Json): string {
  const by = VARIANTS[shape];
  const kind = by === undefined ? shape : `${shape}:${String(value[by])}`;
  return Object.hasOwn(kinds, kind) ? kind : shape;
}

/** Why a value is not what a rule wants, as the end of a sentence; `undefined` where it is, or is mended. */
function misfitOf(structure: Structure, rule: Rule, value: unknown): string | undefined {
  if ((rule.isSwitch && typeof value === "boolean") || (rule.isList && Array.isArray(value))) {
    return undefined;
  }
  if (rule.isSingle && isObject(value)) {
    const { shape } = innerRuleOf(rule.type)!;
    const fitting = Object.values(value).filter((member) =>
      refuse(structure, shape!, member) === undefined
    );
    // What a reference names is not known yet.
    if (fitting.length !== 1 || isReference(rule.type, value)) return "must have a single member";
  }
  if (rule.shape !== undefined) return refuse(structure, rule.shape, value);
  return fit(rule.type, value) === undefined ? `must be ${saysOf(rule.type)}` : undefined;
}

function faultOf(
  structure: Structure,
  rule: Rule,
  name: string,
  value: unknown,
): Fault | undefined {
  const misfit = misfitOf(structure, rule, value);
  if (misfit !== undefined) {
    // What nobody has filled in misses nothing.
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    return { message: `${name} ${misfit}; ${OUT}`, isError: !isEmpty };
  }
  if (rule.shape !== undefined) return undefined;
  const fitted = fit(rule.type, value);
  if (fitted === value) return undefined;
  if (fitted !== toText(value) && (rule.type === "url" || rule.type === "host")) {
    return { ...LOGIN, value: fitted };
  }
  const taken = `${excerpt(formatJson(value))} is taken for ${excerpt(formatJson(fitted))}`;
  return {
    message: `${name} must be ${saysOf(rule.type)}; ${taken}`,
    isError: false,
    value: fitted,
  };
}

/** What everyone may read names no user and no password; nor does what is said of it. */
const LOGIN: Fault = {
  message: "a user and a password in a URL are left out: everyone may read what is served",
  isError: false,
};

/** The variables of a server may hold them as well. */
function hideLogin(server: Json, faults: Map<string, Fault>): void {
  const { variables } = withoutLoginOf(server);
  if (isEqual(variables, server.variables)) return;
  faults.set("variables", { ...LOGIN, value: variables });
}

function keyFaultOf(shape: Shape, key: string): Fault | undefined {
  const [form, says] = KEYS[shape] ?? [];
  if (!form || form.test(key) || (key.startsWith("x-") && !shape.startsWith("{"))) return undefined;
  return { message: `${nameOf(key)} ${says}; ${OUT}`, isError: true };
}

/** Whether an object has a member once what is wrong has been left out. */
const isThere = (value: Json, faults: Faults, key: string): boolean =>
  Object.hasOwn(value, key) && (!faults.has(key) || faults.get(key)!.value !== undefined);

function oust(shape: Shape, value: Json, faults: Map<string, Fault>): void {
  for (const [first, others] of Object.entries(OUSTED[shape] ?? {})) {
    if (!isThere(value, faults, first)) continue;
    for (const key of others.filter((key) => isThere(value, faults, key))) {
      const message = `${quote(key)} may not stand beside ${quote(first)}; ${OUT}`;
      faults.set(key, { message, isError: false });
    }
  }
}

function fill(
  structure: Structure,
  kind: string,
  shape: Shape,
  value: Json,
  faults: Map<string, Fault>,
): void {
  for (const row of FILLS_OF.get(kind) ?? FILLS_OF.get(shape) ?? []) {
    const { unless, key, from, isOld, message } = row;
    const filling = from === undefined ? row.value : (value[from] as unknown[] | undefined)?.[0];
    const isOfVersion = unless.every((key) => structure.kinds[kind]!.has(key));
    if (!isOfVersion || (isOld && structure.hasSiblings)) continue;
    const hasOne = unless.some((key) =>
      key === OTHERS
        ? Object.keys(value).some((key) => !key.startsWith("x-") && isThere(value, faults, key))
        : isThere(value, faults, key)
    );
    if (hasOne) continue;
    const needs = `${withArticle(nameOfShape(shape))} needs ` +
      `${unless.map((key) => key === OTHERS ? "a response" : quote(key)).join(" or ")}; ` +
      `${formatJson(filling)} is put there`;
    const { message: said, isError } = faults.get(key) ??
      { message: message ?? needs, isError: false };
    faults.set(key, { message: said, isError, value: filling });
  }
}

/** By kind. */
const FILLS_OF: ReadonlyMap<string, readonly Fill[]> = new Map(
  FILLS.map(({ kind }) => {
    const [base] = kind.split(":");
    return [kind, FILLS.filter((row) => row.kind === kind || row.kind === base)];
  }),
);

/** A key in a message. */
const nameOf = (key: string): string => quote(shorten(key, 80));

const withArticle = (name: string): string => `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
