/**
 * The variables in the URL of a server.
 *
 * @module
 */
import { type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { LIMITS } from "./limits.ts";

/** The names of the variables in a URL. */
export function variablesOf(template: string): Set<string> {
  return new Set(template.match(/\{[^{}]*\}/g)?.map((part) => part.slice(1, -1)));
}

/** The URL of a server with the defaults of its variables; `undefined` where it is too long for one. */
export function usualUrl({ url, variables }: Json): string | undefined {
  const template = typeof url === "string" ? url : "";
  return fill(
    template,
    new Map([...valuesOf(template, variables)].map(([name, [usual]]) => [name, usual!])),
  );
}

/**
 * The URLs of a server, one for each listed value of its variables; of more than can be tried, the one
 * with their defaults. A value that looks like a variable is not one.
 */
export function expand({ url, variables }: Json): string[] {
  const template = typeof url === "string" ? url : "";
  const usual = new Map<string, string>();
  let choices: ReadonlyMap<string, string>[] = [new Map()];
  for (const [name, values] of valuesOf(template, variables)) {
    usual.set(name, values[0]!);
    if (values.length === 1) continue;
    if (choices.length * values.length > LIMITS.combinations) choices = [];
    choices = choices.flatMap((choice) => values.map((value) => new Map(choice).set(name, value)));
  }
  const all = choices.length > 0 ? choices : [usual];
  return all.map((choice) => fill(template, usual, choice)).filter((url) => url !== undefined);
}

/** What the variables of a URL may stand for, the default first. */
function* valuesOf(
  template: string,
  variables: unknown,
): Generator<[name: string, values: string[]]> {
  const names = variablesOf(template);
  for (const [name, value] of Object.entries(objectOf(variables))) {
    if (!names.has(name)) continue;
    const { default: usual, enum: listed } = objectOf(value);
    const texts = [usual, ...listOf(listed)].map(textOf).filter((text) => text !== undefined);
    if (texts.length > 0) yield [name, [...new Set(texts)]];
  }
}

/** A URL with the values of its variables; `undefined` where it is too long for one. */
function fill(
  template: string,
  usual: ReadonlyMap<string, string>,
  choice: ReadonlyMap<string, string> = usual,
): string | undefined {
  if (template.length > LIMITS.url) return undefined;
  let length = 0;
  const parts = template.split(/(\{[^{}]*\})/).map((part) => {
    const name = part.startsWith("{") ? part.slice(1, -1) : "";
    const value = choice.get(name) ?? usual.get(name) ?? part;
    length += value.length;
    return value;
  });
  return length > LIMITS.url ? undefined : parts.join("");
}
