/**
 * Text as HTML. Every string of a description or of a node passes through here.
 *
 * @module
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What HTML has no place for: control characters other than tab, line feed and carriage return. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/**
 * Writes text so that it is text in an element and in a quoted attribute value.
 *
 * @param text any text
 */
export function escape(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
