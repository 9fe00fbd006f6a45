/**
 * Reads the parameters of a call, and holds them against the description. Most nodes do not: they ignore names
 * that are misspelt.
 *
 * @module
 */
import { parseJson } from "../json/lossless.ts";
import type { NodeParameter, ValueRule } from "../openapi/callable-operations.ts";
import { parsePercent } from "../percent-decode.ts";
import { checkValue } from "./check-value.ts";

/** A parameter that is wrong, as RFC 9457 has it in `errors`. The value is not told. */
export interface WrongParameter {
  readonly in: string;
  readonly name: string;
  readonly rule: string;
}

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
  const wrong: WrongParameter[] = [];
  const texts = new Map<string, string[]>();
  for (const [name, text] of pairsOf(query)) {
    const refuse = (rule: string) => wrong.push({ in: "query", name: shown(name), rule });
    const parameter = known.find((parameter) => parameter.name === name);
    if (!parameter) {
      wrong.push({ in: "query", name: shown(name), rule: "is not known" });
      continue;
    }
    if (text === undefined) {
      refuse("must be encoded as UTF-8");
      continue;
    }
    const before = texts.get(parameter.name) ?? [];
    if (before.length > 0 && !isList(parameter.rule)) {
      refuse("must stand once");
      continue;
    }
    // An empty field of a form is none, where it may be left out.
    if (text === "" && !parameter.isRequired) continue;
    texts.set(parameter.name, [...before, text]);
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
      wrong.push({ in: place, name: [name, ...fault.path].join("."), rule: fault.rule });
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
    return parseJson(text);
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

/** The pairs of a query, decoded; `undefined` for what is not UTF-8. */
function pairsOf(query: string): [name: string | undefined, text: string | undefined][] {
  return query.split("&").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    const [name, text] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    return [decode(name), decode(text)];
  });
}

/** A space is written as a plus as well, as forms do. */
const decode = (text: string) => parsePercent(text.replaceAll("+", " "));

/** A name that somebody made up, short enough to be told. */
const shown = (name: string | undefined): string => (name ?? "?").slice(0, 100);
