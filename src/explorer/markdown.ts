/**
 * The little of Markdown that descriptions cannot be read without: paragraphs, lists, headings,
 * code, emphasis and links. HTML in it is shown as the text it is, an image as its alternative
 * text. The work is linear in the text that is shown.
 *
 * @module
 */
import { shorten, startOf } from "../text.ts";
import { escape } from "./html.ts";

const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const HEADING = /^ {0,3}#{1,6}[ \t]+/;
const FENCE = /^ {0,3}(?:```|~~~)/;

/** No alternative can match past the next character that opens one, so none is tried twice. */
const INLINE = /`([^`]+)`|(!?)\[([^[\]]+)\]\(([^()\s]+)\)|\*\*([^*]+)\*\*/g;

/** An address without a scheme, or with one that only leads to another page. */
const FOLLOWABLE = /^(?:https?:|[^:]*$|[^:/?#]*[/?#])/i;

/**
 * Renders a text as HTML.
 *
 * @param text Markdown (CommonMark), whoever wrote it
 * @param length how many characters of it are shown
 */
export function renderProse(text: string, length: number): string {
  if (length === 0) return "";
  const shown = startOf(text, length);
  const html = blocks(shown.split(/\r\n?|\n/)).join("");
  const rest = text.length - shown.length;
  return rest === 0 ? html : `${html}<p class="cut">… ${count(rest)} more in the description</p>`;
}

const count = (rest: number) => rest === 1 ? "1 character" : `${rest} characters`;

/** The blocks of a text, one pass over its lines. */
function blocks(lines: string[]): string[] {
  const html: string[] = [];
  let paragraph: string[] = [];
  let items: string[][] = [];
  const flush = () => {
    if (paragraph.length) html.push(`<p>${inline(paragraph.join("\n"))}</p>`);
    if (items.length) {
      html.push(`<ul>${items.map((item) => `<li>${inline(item.join("\n"))}</li>`).join("")}</ul>`);
    }
    paragraph = [], items = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (FENCE.test(line)) {
      flush();
      const from = i + 1;
      do i++; while (i < lines.length && !FENCE.test(lines[i]!));
      html.push(`<pre><code>${escape(lines.slice(from, i).join("\n"))}</code></pre>`);
    } else if (line.trim() === "") flush();
    else if (HEADING.test(line)) {
      flush();
      html.push(`<p><strong>${inline(line.replace(HEADING, ""))}</strong></p>`);
    } else if (ITEM.test(line)) {
      if (paragraph.length) flush();
      items.push([line.replace(ITEM, "")]);
    } else (items.at(-1) ?? paragraph).push(line.trim());
  }
  flush();
  return html;
}

/**
 * Renders a text of one paragraph as HTML without the paragraph.
 *
 * @param text Markdown, whoever wrote it
 * @param length how many characters of it are shown
 */
export function renderInline(text: string, length: number): string {
  return inline(shorten(text, length));
}

function inline(text: string): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, image, label = "", address = "", strong] = match;
    html += escape(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) html += `<code>${escape(code)}</code>`;
    else if (strong !== undefined) html += `<strong>${escape(strong)}</strong>`;
    else if (image || !FOLLOWABLE.test(address)) html += escape(label);
    else html += `<a href="${escape(address)}" rel="noreferrer">${escape(label)}</a>`;
  }
  return html + escape(text.slice(end));
}
