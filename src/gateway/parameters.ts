/**
 * Reads the parameters of a call, and holds them against the description. Most nodes do not: they ignore names
 * that are misspelt.
 *
 * @module
 */
import { parseComparable } from "../json/lossless.ts";
import type { NodeParameter, ValueRule } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import { checkValue, placeOf, tellName } from "./check-value.ts";

/** A parameter that is wrong, as RFC 9457 has it in `errors`. The value is not told. */
export interface WrongParameter {
  readonly in: string;
  /** Empty for all of a method's parameters. */
  readonly name: string;
  readonly rule: string;
}

/** How many wrong parameters are told; nobody looks for more. */
export const WRONG_MAX = 20;

/** A parameter with its text, and what it stands for. */
export interface GivenParameter {
  readonly parameter: NodeParameter;
  /** As it is written in a URL or a header, decoded; several of a list that is exploded. */
  readonly texts: readonly string[];
  readonly value: unknown;
}

/** What came of parameters. */
export interface ReadParameters {
  readonly given: readonly GivenParameter[];
  readonly wrong: readonly WrongParameter[];
}

/**
 * Reads the parameters of a query.
 *
 * @param parameters those that the operation has
 * @param query without `?`
 * @param place what the parameters are in: those of a method stand in its query as well
 */
export function readQuery(
  parameters: readonly NodeParameter[],
  query: string,
  place: "query" | "body" = "query",
): ReadParameters {
  const known = parameters.filter((parameter) => parameter.in === place);
  if (known.length === 0 && query === "") return NONE;
  const byName = new Map(known.map((parameter) => [parameter.name, parameter]));
  const wrong: WrongParameter[] = [];
  const texts = new Map<string, string[]>();
  for (const part of query.split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const name = decode(at < 0 ? part : part.slice(0, at));
    const text = decode(at < 0 ? "" : part.slice(at + 1));
    const parameter = name === undefined ? undefined : byName.get(name);
    const before = parameter && texts.get(parameter.name);
    const rule = !parameter
      ? "is not known"
      : text === undefined
      ? "must be encoded as UTF-8"
      : before && !isList(parameter.rule)
      ? "must stand once"
      : undefined;
    if (rule !== undefined) {
      wrong.push({ in: "query", name: tellName(name ?? "?"), rule });
      if (wrong.length === WRONG_MAX) break;
    } // An empty field of a form is none, where it may be left out.
    else if (text !== "" || parameter!.isRequired) {
      if (before) before.push(text!);
      else texts.set(parameter!.name, [text!]);
    }
  }
  return readTexts(known, texts, "query", wrong);
}

/** Reads the parameters in the headers. */
export function readHeaders(
  parameters: readonly NodeParameter[],
  get: (name: string) => string | null,
): ReadParameters {
  const own = parameters.filter((parameter) => parameter.in === "header");
  if (own.length === 0) return NONE;
  const texts = new Map<string, string[]>();
  for (const { name } of own) {
    const text = get(name.toLowerCase());
    if (text !== null) texts.set(name, [text]);
  }
  return readTexts(own, texts, "header", []);
}

/** Reads the parameters of a path. */
export function readPathParameters(
  parameters: readonly NodeParameter[],
  values: ReadonlyMap<string, string>,
): ReadParameters {
  const own = parameters.filter((parameter) => parameter.in === "path");
  if (own.length === 0) return NONE;
  const texts = new Map([...values].map(([name, value]) => [name, [value]]));
  return readTexts(own, texts, "path", []);
}

const NONE: ReadParameters = { given: [], wrong: [] };

function readTexts(
  parameters: readonly NodeParameter[],
  texts: ReadonlyMap<string, readonly string[]>,
  place: string,
  before: readonly WrongParameter[],
): ReadParameters {
  const wrong = [...before];
  const given: GivenParameter[] = [];
  for (const parameter of parameters) {
    if (wrong.length === WRONG_MAX) break;
    const { name, isRequired, rule } = parameter;
    const found = texts.get(name);
    if (!found) {
      if (isRequired && !wrong.some((one) => one.name === name)) {
        wrong.push({ in: place, name, rule: "is required" });
      }
      continue;
    }
    const value = valueOf(parameter, found);
    const fault = checkValue(rule, value);
    if (fault) {
      wrong.push({ in: place, name: placeOf(fault, name), rule: fault.rule });
    } else given.push({ parameter, texts: found, value });
  }
  return { given, wrong };
}

/** What texts stand for, by what the description says that they are. */
function valueOf({ rule, isExploded }: NodeParameter, texts: readonly string[]): unknown {
  if (!isList(rule)) return scalarOf(rule, texts[0]!);
  const items = isExploded ? texts : texts.flatMap((text) => text.split(","));
  return items.map((text) => scalarOf(rule.items ?? {}, text));
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function scalarOf(rule: ValueRule, text: string): unknown {
  const types = typesOf(rule);
  if (!types || types.includes("string")) return text;
  if ((types.includes("integer") || types.includes("number")) && NUMBER.test(text)) {
    return parseComparable(text);
  }
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** All types that a value may have; `undefined` for any. */
export function typesOf({ types, anyOf, values }: ValueRule): readonly string[] | undefined {
  if (types) return types;
  if (anyOf) {
    const all = anyOf.map(typesOf);
    return all.every((types) => types !== undefined) ? all.flatMap((types) => types!) : undefined;
  }
  return values?.map((value) => typeof value === "bigint" ? "integer" : typeof value);
}

const isList = (rule: ValueRule): boolean => typesOf(rule)?.includes("array") ?? false;

/** A space is written as a plus as well, as forms do. */
const decode = (text: string) => parsePercent(text.replaceAll("+", " "));
