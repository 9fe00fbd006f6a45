/**
 * Escapes text for HTML and fills templates. Every string from a description or a node is untrusted.
 *
 * @module
 */

/** Stands for the relative URL of `/v1/`, which differs between documents. Escaped text never contains it. */
export const V1 = "\u0001";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Escapes text for an element or a quoted attribute value. */
export function escape(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Writes JSON for a script or a single-quoted attribute: escapes the characters that HTML would interpret. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(
    /[&<>'\u007f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export type Filling = Readonly<Record<string, string>>;

/** Replaces {@linkcode V1}, and names in braces. One pass replaces all names, so braces in a value have no effect. */
export function fill(template: string, values: Filling, v1: string): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template of the page has no value for {${name}}`);
    return value;
  });
  return filled.replaceAll(V1, v1);
}
