/**
 * The explorer's content as HTML that needs no script: every operation by tag. A large description is
 * shown with less detail, so that the page stays small.
 *
 * @module
 */
import { shorten } from "../text.ts";
import { escape } from "./html.ts";
import type { Item, Operation, Outline, Section } from "./outline.ts";
import { renderInline, renderProse } from "./markdown.ts";

/** How much is shown of each operation. */
interface Detail {
  /** Whether each operation is in the navigation, or only its tag. */
  named: boolean;
  /** Characters of the description of the whole and of each tag. */
  about: number;
  /** Characters of each operation's description. */
  prose: number;
  /** Characters of each summary. */
  summary: number;
  /** Characters of each parameter's and answer's description. */
  note: number;
  /** Parameters and answers of one operation. */
  items: number;
}

/** From everything to the least. The first that keeps the page within its bounds is used. */
const DETAILS: readonly Detail[] = [
  { named: true, about: 4000, prose: 2000, summary: 300, note: 500, items: 100 },
  { named: true, about: 2000, prose: 300, summary: 120, note: 120, items: 30 },
  { named: false, about: 1000, prose: 0, summary: 80, note: 40, items: 12 },
  { named: false, about: 300, prose: 0, summary: 60, note: 0, items: 8 },
  { named: false, about: 300, prose: 0, summary: 30, note: 0, items: 3 },
];

/** Bounds of the content: bytes in gzip, and characters. */
const GZIP_MAX = 55_000, LENGTH_MAX = 2_000_000;

/** Says where no script runs what the page's script does to the commands. */
const WITHOUT_SCRIPT =
  "<noscript><p>In the commands below <code>$BASE_URL</code> is the address of " +
  "this page up to <code>/v1/spec</code>. Trying an operation here needs JavaScript.</p></noscript>";

/** Characters of a name, such as a path or a media type. */
const NAME_MAX = 200;

/** Tags in the navigation. */
const NAVIGATION_MAX = 200;

/**
 * Renders the content of the page.
 *
 * @param outline what a description says
 * @returns HTML to stand in a `main` element
 */
export async function renderContent(outline: Outline): Promise<string> {
  const total = outline.sections.reduce((sum, { operations }) => sum + operations.length, 0);
  for (const detail of DETAILS) {
    const html = render(outline, detail, total, total);
    if (await fits(html)) return html;
  }
  // Too many operations: show as many as fit, and say how many are left out.
  const least = DETAILS.at(-1)!;
  for (let shown = Math.min(total, 4096) >> 1; shown > 0; shown >>= 1) {
    const html = render(outline, least, shown, total);
    if (await fits(html)) return html;
  }
  return render(outline, least, 0, total);
}

async function fits(html: string): Promise<boolean> {
  if (html.length > LENGTH_MAX) return false;
  const stream = new Blob([html]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength <= GZIP_MAX;
}

/** The content with so much detail and so many operations, cut off where it gets too long. */
function render(outline: Outline, detail: Detail, shown: number, total: number): string {
  let html = `${renderNavigation(outline, detail)}<div id="content">${
    renderAbout(outline, detail)
  }`;
  let left = shown;
  for (const section of outline.sections) {
    if (left <= 0 || html.length > LENGTH_MAX) break;
    html += `<section aria-labelledby="${escape(section.id)}">${renderTag(section, detail)}`;
    for (const operation of section.operations.slice(0, left)) {
      html += renderOperation(operation, detail);
      if (html.length > LENGTH_MAX) break;
    }
    html += "</section>";
    left -= section.operations.length;
  }
  if (shown < total) {
    html += `<p class="cut">… ${total - shown} more operations in the description</p>`;
  }
  return `${html}</div>`;
}

function renderNavigation({ sections }: Outline, { named, summary: length }: Detail): string {
  const link = (id: string, text: string) => `<a href="#${escape(id)}">${escape(text)}</a>`;
  const items = sections.slice(0, NAVIGATION_MAX).map(({ id, name, operations }) => {
    const summaries = named
      ? operations.map(({ id, summary }) => `<li>${link(id, shorten(summary, length))}</li>`)
      : [];
    const list = summaries.length ? `<ul>${summaries.join("")}</ul>` : "";
    return `<li>${link(id, shorten(name, NAME_MAX))}${list}</li>`;
  });
  return `<nav aria-label="Operations"><ul>${items.join("")}</ul></nav>`;
}

function renderAbout({ title, version, summary, description }: Outline, detail: Detail): string {
  return `<section class="about"><h1>${name(title)}</h1><p class="version">` +
    `${version ? `Version ${name(version)} · ` : ""}OpenAPI description: ` +
    `<a href="../spec.json" download>JSON</a>, <a href="../spec.yaml" download>YAML</a></p>` +
    (summary ? `<p class="summary">${renderInline(summary, detail.summary)}</p>` : "") +
    renderProse(description, detail.about) + `${WITHOUT_SCRIPT}</section>`;
}

function renderTag({ id, name: tag, description }: Section, { about }: Detail): string {
  return `<h2 id="${escape(id)}">${name(tag)}</h2>${renderProse(description, about)}`;
}

function renderOperation(operation: Operation, detail: Detail): string {
  const { method, path, server, parameters, answers } = operation;
  const base = /^https?:/.test(server) ? "" : "<var>$BASE_URL</var>";
  const id = escape(operation.id);
  const address = name(path);
  return `<article><h3 id="${id}">${escape(shorten(operation.summary, detail.summary))}</h3>` +
    `<p class="line"><b class="${method.toLowerCase()}">${method}</b> <code>${address}</code>` +
    `${operation.deprecated ? " <em>deprecated</em>" : ""}</p>` +
    renderProse(operation.description, detail.prose) +
    renderItems("Parameters", parameters, detail) +
    renderItems("Answers", answers, detail) +
    `<pre><code>curl ${method === "GET" ? "" : `-X ${method} `}` +
    `${base}${name(server)}${address}</code></pre></article>`;
}

function renderItems(title: string, items: Item[], { items: max, note }: Detail): string {
  if (items.length === 0) return "";
  let html = `<h4>${title}</h4><dl>`;
  for (const { name: term, facts, description } of items.slice(0, max)) {
    html += `<dt><code>${name(term)}</code></dt><dd>`;
    const words = facts.slice(0, 6).map((fact) => name(fact)).join(", ");
    if (words) html += `<i>${words}</i> `;
    html += note ? `${renderInline(description, note)}</dd>` : "</dd>";
  }
  const rest = items.length - max;
  return `${html}</dl>${rest > 0 ? `<p class="cut">… ${rest} more in the description</p>` : ""}`;
}

const name = (text: string): string => escape(shorten(text, NAME_MAX));
