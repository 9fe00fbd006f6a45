/**
 * Escapes text for HTML. Every string of a description or a node is untrusted.
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

/** The control characters that HTML does not allow. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Escapes text for an element or a quoted attribute value. */
export function escape(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
