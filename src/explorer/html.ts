/**
 * Writes HTML from untrusted strings: escapes text, renders Markdown, and fills templates.
 *
 * @module
 */
import { onceFor } from "../json/values.ts";
import { ENTITIES, escapeOf, shorten, startOf } from "../untrusted-text.ts";

/** A piece of HTML. Only this module makes one, so that no piece has a text unescaped. */
class Html {
  readonly #html: string;

  constructor(html: string) {
    this.#html = html;
  }

  get length(): number {
    return this.#html.length;
  }

  toString(): string {
    return this.#html;
  }
}

export type { Html };

/** What a template may have. Nothing is written for `undefined`, `false` and an empty string. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/**
 * Makes a piece from a template: escapes strings for an element or a quoted attribute value, and
 * takes pieces as they are. Indentation has no effect, as in JSX: a line break beside a tag or a
 * value is left out, and any other is a space.
 */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = inOneLine(template);
  let html = texts[0]!;
  for (let i = 0; i < parts.length; i++) html += write(parts[i]) + texts[i + 1]!;
  return new Html(html);
}

const inOneLine = onceFor((template: TemplateStringsArray) =>
  template.map((text) => text.replace(/(^|>)\n *|\n *(?=<|$)/g, "$1").replace(/\n */g, " "))
);

/** Characters that HTML interprets, and control characters, which it forbids. */
// deno-lint-ignore no-control-regex
const SPECIAL = /[&<>"'\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

function write(part: Part): string {
  if (typeof part === "string") return escape(part);
  if (part instanceof Html) return part.toString();
  if (Array.isArray(part)) return part.map(write).join("");
  return part === undefined || part === false ? "" : escape(String(part));
}

const escape = (text: string) =>
  text.replace(SPECIAL, (character) => ENTITIES[character] ?? "\ufffd");

export const joinParts = (parts: readonly Part[], separator: Part): Html =>
  new Html(parts.map(write).join(write(separator)));

const NAME_LENGTH_MAX = 200;

export const shortText = (text: string): string => shorten(text, NAME_LENGTH_MAX);

/** Takes HTML or CSS of this service as it is. A text from elsewhere must not get here. */
export const trustOwn = (own: string): Html => new Html(own);

/**
 * A placeholder that cannot occur in escaped text. Stands for the relative URL of `/v1/`, which
 * differs by page.
 */
export const V1: Html = new Html("\u0001");

/** Another placeholder: the relative URL of the simple page, which is empty on that page. */
export const SIMPLE_PAGE: Html = new Html("\u0002");

/**
 * Writes JSON for a script or a single-quoted attribute: escapes the characters that HTML would
 * interpret.
 */
export function jsonOf(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/[&<>'\u007f\u2028\u2029]/g, escapeOf));
}

export type Filling = Readonly<Record<string, Part>>;

/**
 * Writes values into a template as {@linkcode markup} does. One pass replaces all placeholders in
 * braces, so braces in a value have no effect.
 */
export function fill(template: string, values: Filling, v1: string, simplePage: string): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) {
      throw new Error(`no value for the placeholder {${name}} of the page's template`);
    }
    return write(value);
  });
  return filled.replaceAll(`${SIMPLE_PAGE}`, simplePage).replaceAll(`${V1}`, v1);
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
export function renderMarkdown(text: string, length: number, isLinked: boolean): Html {
  if (length === 0) return markup``;
  const shown = startOf(text, length);
  const rest = text.length - shown.length;
  const count = rest === 1 ? "1 character" : `${rest} characters`;
  return markup`
    ${blocks(shown.split(/\r\n?|\n/), isLinked)}
    ${rest > 0 && markup`<p class="cut">… ${count} more in the description</p>`}`;
}

function blocks(lines: string[], isLinked: boolean): Html[] {
  const all: Html[] = [];
  let paragraph: string[] = [];
  let items: string[][] = [];
  const flush = () => {
    if (paragraph.length) all.push(markup`<p>${inline(paragraph.join("\n"), isLinked)}</p>`);
    const list = items.map((item) => markup`<li>${inline(item.join("\n"), isLinked)}</li>`);
    if (list.length) all.push(markup`<ul>${list}</ul>`);
    paragraph = [], items = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (FENCE.test(line)) {
      flush();
      const from = i + 1;
      do i++; while (i < lines.length && !FENCE.test(lines[i]!));
      all.push(markup`<pre><code>${lines.slice(from, i).join("\n")}</code></pre>`);
    } else if (line.trim() === "") flush();
    else if (HEADING.test(line)) {
      flush();
      all.push(markup`<p><strong>${inline(line.replace(HEADING, ""), isLinked)}</strong></p>`);
    } else if (ITEM.test(line)) {
      if (paragraph.length) flush();
      items.push([line.replace(ITEM, "")]);
    } else (items.at(-1) ?? paragraph).push(line.trim());
  }
  flush();
  return all;
}

/** @param isLinked as for {@linkcode renderMarkdown} */
export const renderInlineMarkdown = (
  text: string,
  length: number,
  isLinked: boolean,
): Html => inline(shorten(text, length), isLinked);

function inline(text: string, isLinked: boolean): Html {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, image, label = "", address = "", strong] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) parts.push(markup`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(markup`<strong>${strong}</strong>`);
    else if (image || !FOLLOWABLE.test(address)) parts.push(label);
    else if (!isLinked) parts.push(`${label} (${address})`);
    else {
      const start = BESIDE.test(address) && V1;
      parts.push(markup`<a href="${start}${address}" rel="noreferrer">${label}</a>`);
    }
  }
  return markup`${parts}${text.slice(end)}`;
}
