/**
 * Writes HTML from untrusted strings: escapes text, renders Markdown, and fills templates.
 *
 * @module
 */
import { ENTITIES, escapeOf, shorten, startOf } from "../untrusted-text.ts";

/**
 * A placeholder that cannot occur in escaped text. Stands for the relative URL of `/v1/`, which
 * differs by page.
 */
export const V1 = "\u0001";

/** Another placeholder: the relative URL of the simple page, which is empty on that page. */
export const SIMPLE_PAGE = "\u0002";

// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Escapes text for an element or a quoted attribute value. */
export function escapeHtml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/**
 * Writes JSON for a script or a single-quoted attribute: escapes the characters that HTML would
 * interpret.
 */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(/[&<>'\u007f\u2028\u2029]/g, escapeOf);
}

export type Filling = Readonly<Record<string, string>>;

/** One pass replaces all placeholders in braces, so braces in a value have no effect. */
export function fill(template: string, values: Filling, v1: string, simplePage: string): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template of the page has no value for {${name}}`);
    return value;
  });
  return filled.replaceAll(SIMPLE_PAGE, simplePage).replaceAll(V1, v1);
}

const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const HEADING = /^ {0,3}#{1,6}[ \t]+/;
const FENCE = /^ {0,3}(?:```|~~~)/;

/** Takes linear time, since no repeated part matches the character before it, such as `[`. */
const INLINE = /`([^`]+)`|(!?)\[([^[\]]+)\]\(([^()\s]+)\)|\*\*([^*]+)\*\*/g;
/**
 * Matches URLs that may be linked: relative and http(s) URLs, but not URLs such as `javascript:`.
 */
const FOLLOWABLE = /^(?:https?:|[^:]*$|[^:/?#]*[/?#])/i;
const BESIDE = /^(?!\/|#|\?|https?:)/i;

/**
 * Renders only the first `length` characters. Supports paragraphs, lists, headings, code, strong
 * emphasis and links. HTML is escaped, and an image becomes its alternative text.
 *
 * @param isLinked if false, a link becomes its text and its address in parentheses
 */
export function renderMarkdown(text: string, length: number, isLinked: boolean = true): string {
  if (length === 0) return "";
  const shown = startOf(text, length);
  const html = blocks(shown.split(/\r\n?|\n/), isLinked).join("");
  const rest = text.length - shown.length;
  const count = rest === 1 ? "1 character" : `${rest} characters`;
  return rest === 0 ? html : `${html}<p class="cut">… ${count} more in the description</p>`;
}

function blocks(lines: string[], isLinked: boolean): string[] {
  const html: string[] = [];
  let paragraph: string[] = [];
  let items: string[][] = [];
  const flush = () => {
    if (paragraph.length) html.push(`<p>${inline(paragraph.join("\n"), isLinked)}</p>`);
    const all = items.map((item) => `<li>${inline(item.join("\n"), isLinked)}</li>`);
    if (all.length) html.push(`<ul>${all.join("")}</ul>`);
    paragraph = [], items = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (FENCE.test(line)) {
      flush();
      const from = i + 1;
      do i++; while (i < lines.length && !FENCE.test(lines[i]!));
      html.push(`<pre><code>${escapeHtml(lines.slice(from, i).join("\n"))}</code></pre>`);
    } else if (line.trim() === "") flush();
    else if (HEADING.test(line)) {
      flush();
      html.push(`<p><strong>${inline(line.replace(HEADING, ""), isLinked)}</strong></p>`);
    } else if (ITEM.test(line)) {
      if (paragraph.length) flush();
      items.push([line.replace(ITEM, "")]);
    } else (items.at(-1) ?? paragraph).push(line.trim());
  }
  flush();
  return html;
}

/** @param isLinked as for {@linkcode renderMarkdown} */
export const renderInlineMarkdown = (
  text: string,
  length: number,
  isLinked: boolean = true,
): string => inline(shorten(text, length), isLinked);

function inline(text: string, isLinked: boolean): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, image, label = "", address = "", strong] = match;
    html += escapeHtml(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) html += `<code>${escapeHtml(code)}</code>`;
    else if (strong !== undefined) html += `<strong>${escapeHtml(strong)}</strong>`;
    else if (image || !FOLLOWABLE.test(address)) html += escapeHtml(label);
    else if (!isLinked) html += escapeHtml(`${label} (${address})`);
    else {
      const start = BESIDE.test(address) ? V1 : "";
      html += `<a href="${start}${escapeHtml(address)}" rel="noreferrer">${escapeHtml(label)}</a>`;
    }
  }
  return html + escapeHtml(text.slice(end));
}
