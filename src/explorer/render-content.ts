/**
 * Renders a description as HTML that needs no script: the content of the simple page. A larger description is shown
 * with less detail, so that the page stays small.
 *
 * @module
 */
import { gzip } from "../http/content-coding.ts";
import { shorten } from "../untrusted-text.ts";
import { escape, V1 } from "./html.ts";
import { renderForm } from "./render-form.ts";
import {
  type Item,
  type Operation,
  type Outline,
  readOutline,
  type Section,
} from "./read-outline.ts";
import { renderInlineMarkdown, renderMarkdown } from "./markdown.ts";

/** The parts of the page that a description fills: plain data, which may be made in another thread than the page. */
export interface PageParts {
  /** The title of the API, in at most 100 characters. */
  readonly title: string;
  /** A sentence about it, in at most 200 characters. */
  readonly summary: string;
  /** A sentence about calls of the node, as plain text; may be empty. */
  readonly calls: string;
  /** The HTML of the simple page's `main` element. */
  readonly content: string;
  /** The places of the node's own values that its forms are filled in with. */
  readonly sources: readonly string[];
}

export async function renderParts(document: unknown): Promise<PageParts> {
  const outline = readOutline(document);
  return {
    title: shorten(outline.title, 100),
    summary: shorten(outline.summary || outline.description, 200),
    calls: outline.isShownOnly ? SHOWN_ONLY : "",
    content: await renderContent(outline),
    sources: sourcesOf(outline),
  };
}

function sourcesOf({ sections }: Outline): string[] {
  const fields = sections.flatMap(({ operations }) =>
    operations.flatMap(({ form }) => form?.fields ?? [])
  );
  return [...new Set(fields.flatMap(({ source }) => source ?? []))];
}

/** The share of a description that is shown; lengths in characters. */
interface Detail {
  /** True if the navigation lists operations, and not only tags. */
  hasList: boolean;
  /** The length of the description of the API and of each tag. */
  about: number;
  operation: number;
  summary: number;
  /** The length of each parameter's and response's description. */
  item: number;
  items: number;
  /** The length of the example of a body. */
  body: number;
}

/** The first that keeps the page within its limits is used. */
const DETAILS: readonly Detail[] = [
  { hasList: true, about: 4000, operation: 2000, summary: 300, item: 500, items: 100, body: 4000 },
  { hasList: true, about: 2000, operation: 300, summary: 120, item: 120, items: 30, body: 800 },
  { hasList: false, about: 1000, operation: 0, summary: 80, item: 40, items: 12, body: 300 },
  { hasList: false, about: 300, operation: 0, summary: 60, item: 0, items: 8, body: 100 },
  { hasList: false, about: 300, operation: 0, summary: 30, item: 0, items: 3, body: 40 },
];

const GZIP_BYTES_MAX = 70_000;

const HTML_LENGTH_MAX = 2_000_000;

/** The page's script replaces `$BASE_URL`. */
const WITHOUT_SCRIPT =
  "<noscript><p>In the commands below <code>$BASE_URL</code> is the address of " +
  "this page up to <code>/v1/spec</code>. Without JavaScript, what is asked by its address alone can be " +
  "tried here.</p></noscript>";

/** The meaning of marks, in the order of the legend. */
const LEGEND = {
  read: "reads public data",
  write: "may change something",
  private: "changes nothing, and shows what is private",
  heavy: "may keep the node busy for seconds",
  streams: "does not end, or waits until something happens",
  open: "can be called here by anybody",
  token: "can be called here with the operator's token",
  "not forwarded": "cannot be called here",
};

const SHOWN_ONLY = "This page shows what the node can do; calls are not forwarded.";

const SENT_BY_API = `<p class="also">Sent by the API to its subscribers.</p>`;

const POSTED_TOO =
  `<p class="also">Also as <b class="post">POST</b>, with an object of the parameters.</p>`;

const NAME_LENGTH_MAX = 200;

const NAVIGATION_TAGS_MAX = 200;

/** More operations than these take a slow phone a second to lay out. */
const MANY = 300;

export async function renderContent(outline: Outline): Promise<string> {
  const total = outline.sections.reduce((sum, { operations }) => sum + operations.length, 0);
  for (const detail of DETAILS) {
    const html = render(outline, detail, total, total);
    if (await fits(html)) return html;
  }
  // Too many operations: show fewer, and say how many are left out.
  const least = DETAILS.at(-1)!;
  for (let shown = Math.min(total, 4096) >> 1; shown > 0; shown >>= 1) {
    const html = render(outline, least, shown, total);
    if (await fits(html)) return html;
  }
  return render(outline, least, 0, total);
}

async function fits(html: string): Promise<boolean> {
  if (html.length > HTML_LENGTH_MAX) return false;
  return (await gzip(html)).byteLength <= GZIP_BYTES_MAX;
}

/** Renders the first `shown` operations; stops when the HTML is too long. */
function render(outline: Outline, detail: Detail, shown: number, total: number): string {
  // The style sheet has a browser lay out only what is near of many.
  const many = shown > MANY ? ` class="many"` : "";
  let html = `${renderNavigation(outline, detail)}<div id="content"${many}>${
    renderAbout(outline, detail)
  }`;
  let left = shown;
  for (const section of outline.sections) {
    if (left <= 0 || html.length > HTML_LENGTH_MAX) break;
    const { id, isService, operations } = section;
    html += `<section aria-labelledby="${escape(id)}">`;
    const isOpen = outline.sections.length === 1;
    if (isService) {
      html += `<details${isOpen ? " open" : ""}><summary>${renderTag(section)}</summary>`;
    } else html += renderTag(section);
    html += renderMarkdown(section.description, detail.about);
    for (const operation of operations.slice(0, left)) {
      html += renderOperation(operation, detail);
      if (html.length > HTML_LENGTH_MAX) break;
    }
    html += isService ? "</details></section>" : "</section>";
    left -= section.operations.length;
  }
  if (shown < total) {
    html += `<p class="cut">… ${total - shown} more operations in the description</p>`;
  }
  return `${html}</div>`;
}

function renderNavigation({ sections }: Outline, { hasList, summary: length }: Detail): string {
  const link = (id: string, text: string) => `<a href="#${escape(id)}">${escape(text)}</a>`;
  const items = sections.slice(0, NAVIGATION_TAGS_MAX).map(
    ({ id, name, operations, isService }) => {
      const isListed = hasList && !(isService && sections.length > 1);
      const titles = isListed
        ? operations.map(({ id, title }) => `<li>${link(id, shorten(title, length))}</li>`)
        : [];
      const list = titles.length ? `<ul>${titles.join("")}</ul>` : "";
      return `<li>${link(id, shorten(name, NAME_LENGTH_MAX))}${list}</li>`;
    },
  );
  return `<nav aria-label="Operations"><ul>${items.join("")}</ul></nav>`;
}

function renderAbout(outline: Outline, detail: Detail): string {
  const { title, version, summary, description, isShownOnly } = outline;
  return `<section class="about"><h2>${name(title)}</h2><p class="version">` +
    `${version ? `Version ${name(version)} · ` : ""}OpenAPI description: ` +
    `<a href="${V1}../spec.json" download>JSON</a>, ` +
    `<a href="${V1}../spec.yaml" download>YAML</a></p>` +
    (isShownOnly ? `<p>${SHOWN_ONLY}</p>` : "") +
    (summary ? `<p class="summary">${renderInlineMarkdown(summary, detail.summary)}</p>` : "") +
    renderMarkdown(description, detail.about) + renderLegend(outline) +
    `${WITHOUT_SCRIPT}</section>`;
}

function renderLegend({ sections }: Outline): string {
  const used = new Set(
    sections.flatMap(({ operations }) => operations.flatMap(({ marks }) => marks)),
  );
  const items = Object.entries(LEGEND).filter(([word]) => used.has(word))
    .map(([word, text]) => `<li>${renderMark(word)} ${text}</li>`);
  return items.length > 0 ? `<ul class="legend" aria-label="Marks">${items.join("")}</ul>` : "";
}

const renderMark = (word: string) =>
  `<span class="mark ${/^\w+/.exec(word)?.[0] ?? ""}">${escape(word)}</span>`;

const renderTag = ({ id, name: tag }: Section) => `<h2 id="${escape(id)}">${name(tag)}</h2>`;

function renderOperation(operation: Operation, detail: Detail): string {
  const { method, path, title, summary, callSentence, marks, parameters, responses } = operation;
  const id = escape(operation.id);
  const address = name(path);
  const anchor = operation.anchor ? ` id="${escape(operation.anchor)}"` : "";
  return `<article${anchor}><h3 id="${id}">${escape(shorten(title, detail.summary))}</h3>` +
    `<p class="line"><b class="${method.toLowerCase()}">${method}</b> <code>${address}</code>` +
    `${operation.deprecated ? " <em>deprecated</em>" : ""}` +
    `${marks.map((word) => ` ${renderMark(word)}`).join("")}</p>` +
    (summary ? `<p>${escape(shorten(summary, detail.summary))}</p>` : "") +
    (callSentence ? `<p class="call">${escape(callSentence)}</p>` : "") +
    (operation.isPostedToo ? POSTED_TOO : "") +
    (operation.isWebhook ? SENT_BY_API : "") +
    renderMarkdown(operation.description, detail.operation) +
    renderItems("Parameters", parameters, detail) +
    renderItems("Responses", responses, detail) +
    `${renderForm(operation, detail)}</article>`;
}

function renderItems(title: string, items: Item[], { items: max, item: length }: Detail): string {
  if (items.length === 0) return "";
  let html = `<h4>${title}</h4><dl>`;
  for (const { name: term, facts, description } of items.slice(0, max)) {
    html += `<dt><code>${name(term)}</code></dt><dd>`;
    const words = facts.slice(0, 6).map((fact) => name(fact)).join(", ");
    if (words) html += `<i>${words}</i> `;
    html += length ? `${renderInlineMarkdown(description, length)}</dd>` : "</dd>";
  }
  const rest = items.length - max;
  return `${html}</dl>${rest > 0 ? `<p class="cut">… ${rest} more in the description</p>` : ""}`;
}

const name = (text: string): string => escape(shorten(text, NAME_LENGTH_MAX));
