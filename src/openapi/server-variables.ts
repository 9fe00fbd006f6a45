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

/**
 * The URLs of a server, one for each listed value of its variables; of more than can be tried, the one
 * with their defaults. A value that looks like a variable is not one.
 */
export function expand({ url, variables }: Json): string[] {
  const template = typeof url === "string" ? url : "";
  const names = variablesOf(template);
  let choices: ReadonlyMap<string, string>[] = [new Map()];
  const defaults = new Map<string, string>();
  for (const [name, value] of Object.entries(objectOf(variables))) {
    if (!names.has(name)) continue;
    const { default: usual, enum: listed } = objectOf(value);
    const texts = [usual, ...listOf(listed)].map(textOf).filter((text) => text !== undefined);
    const values = new Set(texts);
    const [first] = values;
    if (first !== undefined) defaults.set(name, first);
    if (choices.length * values.size > LIMITS.combinations) choices = [];
    choices = choices.flatMap((choice) =>
      [...values].map((value) => new Map(choice).set(name, value))
    );
  }
  const all = choices.length > 0 ? choices : [defaults];
  return all.map((choice) => fill(template, choice)).filter((url) => url !== undefined);
}

/** A URL with the values of its variables; `undefined` where it is too long for one. */
function fill(template: string, values: ReadonlyMap<string, string>): string | undefined {
  let length = 0;
  const parts = template.split(/(\{[^{}]*\})/).map((part) => {
    const value = (part.startsWith("{") ? values.get(part.slice(1, -1)) : undefined) ?? part;
    length += value.length;
    return value;
  });
  return length > LIMITS.url ? undefined : parts.join("");
}
