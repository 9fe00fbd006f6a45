/**
 * Renders a description as HTML that needs no script: the content of the simple page. A larger description is shown
 * with less detail, so that the page stays small.
 *
 * @module
 */
import { gzip } from "../http/content-coding.ts";
import { objectOf } from "../json/values.ts";
import type { DescribedBy } from "../openapi/callable-operations.ts";
import { shorten } from "../untrusted-text.ts";
import { escape, V1 } from "./html.ts";
import { MARKS } from "./labels.ts";
import { renderInlineMarkdown, renderMarkdown } from "./markdown.ts";
import { type Operation, type Outline, readOutline, type Section } from "./read-outline.ts";
import type { Item, Rule } from "./read-schema.ts";
import { renderForm } from "./render-form.ts";

/** The parts of the page that a description fills: plain data, which may be made in another thread than the page. */
export interface PageParts {
  /** The title of the API, in at most 100 characters. */
  readonly title: string;
  /** A sentence about it, in at most 200 characters. */
  readonly summary: string;
  /** The HTML of what the head says of calls of the node; may be empty. */
  readonly calls: string;
  /** The HTML of the simple page's navigation and `main` element. */
  readonly content: string;
  /** The places of the node's own values that its forms are filled in with. */
  readonly sources: readonly string[];
  /** The attributes of the head: whether there is a history, and whether the description is from the network. */
  readonly flags: string;
}

/** A link of Markdown: where whoever serves a description could lead to, below our head, it is text. */
const LINK = /<a href="[^\w"]*([^"]*)" rel="noreferrer">([^<]*)<\/a>/g;

/** @param by who describes the node; `undefined` for this service's own description */
export async function renderParts(document: unknown, by?: DescribedBy): Promise<PageParts> {
  const read = readOutline(document);
  // The version of what this service brings along says nothing of the node.
  const isForeign = by === "network";
  const outline = isForeign || by === "operator" ? read : { ...read, version: "" };
  const content = await renderContent(outline);
  return {
    title: shorten(outline.title, 100),
    summary: shorten(outline.summary || outline.description, 200),
    calls: renderCalls(outline, by),
    content: isForeign ? content.replaceAll(LINK, "$2 ($1)") : content,
    sources: sourcesOf(outline),
    flags:
      (Object.hasOwn(objectOf(objectOf(document).paths), "/v1/history") ? " data-history" : "") +
      (isForeign ? " data-foreign" : ""),
  };
}

function sourcesOf({ sections }: Outline): string[] {
  const fields = sections.flatMap(({ operations }) =>
    operations.flatMap(({ form }) => form?.fields ?? [])
  );
  return [...new Set(fields.flatMap(({ source }) => source ?? []))];
}

/**
 * The share of a description that is shown, from most to least: the first that keeps the page within its limits is used.
 * Lengths are in characters.
 */
const DETAILS = {
  /** The most operations of a tag in the navigation. */
  listed: [Infinity, Infinity, 0, 0, 0],
  /** The length of the description of the API and of each tag. */
  about: [4000, 2000, 1000, 300, 300],
  operation: [2000, 300, 0, 0, 0],
  summary: [300, 120, 80, 60, 30],
  /** The length of each parameter's and response's description. */
  item: [500, 120, 40, 0, 0],
  items: [100, 30, 12, 8, 3],
  /** The most fields of a body or a response. */
  fields: [60, 0, 0, 0, 0],
  /** The length of the example of a body. */
  body: [4000, 800, 300, 100, 40],
} as const;

type Detail = Readonly<Record<keyof typeof DETAILS, number>>;

const LEVELS: readonly Detail[] = DETAILS.about.map((_, level) =>
  Object.fromEntries(Object.entries(DETAILS).map(([name, of]) => [name, of[level]])) as Detail
);

const GZIP_BYTES_MAX = 70_000;

const HTML_LENGTH_MAX = 2_000_000;

/** The page's script replaces `$BASE_URL`. */
const WITHOUT_SCRIPT =
  "<noscript><p>In the commands below <code>$BASE_URL</code> is the address of " +
  "this page up to <code>/v1/spec</code>. Without JavaScript, what is asked by its address alone can be " +
  "tried here.</p></noscript>";

const SENT_BY_API = `<p class="also">Sent by the API to its subscribers.</p>`;

const POSTED_TOO =
  `<p class="also">What is a <b class="get">GET</b> below <code>/v1/rpc</code> can ` +
  `be sent as a <b class="post">POST</b> too, with an object of the parameters.</p>`;

const NAME_LENGTH_MAX = 200;

const NAVIGATION_TAGS_MAX = 200;

/** More operations than these take a slow phone a second to lay out. */
const MANY = 300;

export async function renderContent(outline: Outline): Promise<string> {
  const total = outline.sections.reduce((sum, { operations }) => sum + operations.length, 0);
  for (const detail of LEVELS) {
    const html = render(outline, detail, total, total);
    if (await fits(html)) return html;
  }
  // Too many operations: show fewer, and say how many are left out.
  const least = LEVELS.at(-1)!;
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
  let html = `${renderNavigation(outline, detail, total)}<main id="content"${many}>${
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
  return `${html}</main>`;
}

/** Says what can be called and where, or what to do where nothing can. */
function renderCalls({ sections }: Outline, by: DescribedBy | undefined): string {
  // An operation stands under each of its tags, and a method may have a GET and a POST.
  const named = new Map(
    sections.flatMap(({ operations }) => operations).map((one) => [one.nodeName, one]),
  );
  named.delete(undefined);
  const operations = [...named.values()];
  const count = (is: (one: Operation) => boolean) => operations.filter(is).length;
  const total = operations.length;
  if (total === 0) return "";
  const reads = count(({ marks }) => marks.includes("read"));
  const gets = count(({ method, isMethod }) => method === "GET" && !isMethod);
  const withToken = count(({ call }) => call === "token");
  const callable = withToken + count(({ call }) => call === "open");
  const areMethods = operations.every(({ isMethod }) => isMethod);
  const all = areMethods ? "methods" : "operations";
  const code = (text: string) => `<code>${escape(text)}</code>`;
  // Names from the network open nothing but what they name.
  const further = by === "network" || gets === 0
    ? `Name them under ${code("forward.open")} in the configuration.`
    : `${code('forward: { open: ["GET *"] }')} opens ${gets} of them, each <code>GET</code>.`;
  const marked = `${code("--forward reads")} opens what is marked ${code("x-access: read")}, ` +
    `and this description marks nothing. ${further}`;
  if (operations.every(({ call }) => call === undefined)) {
    return `<p class="calls">Calls are switched off. ` +
      (reads > 0
        ? `Start with ${code("--forward reads")} to try the ${reads} that only read.</p>`
        : `${marked}</p>`);
  }
  if (callable === 0) {
    return `<p class="calls">None of ${total} ${all} can be called. ${marked}</p>`;
  }
  const path = areMethods ? "v1/rpc" : "v1/node";
  const token = withToken > 0 ? `, ${withToken} of them with the token` : "";
  return `<p class="calls"><span>${callable} of ${total} ${all} can be called here${token}.</span> ` +
    `<span class="connect">Connect to <code><var>…</var>/${path}</code> ` +
    `<button type="button">Copy</button></span></p>`;
}

function renderNavigation({ sections }: Outline, detail: Detail, total: number): string {
  const link = (id: string, text: string, method = "") =>
    `<a href="#${escape(id)}">${renderName(text)}${method && ` ${renderMethod(method)}`}</a>`;
  const items = sections.slice(0, NAVIGATION_TAGS_MAX).map(({ id, name, operations }) => {
    const titles = operations.slice(0, detail.listed).map(({ id, title, method }) =>
      `<li>${link(id, shorten(title, detail.summary), method)}</li>`
    );
    const list = titles.length ? `<ul>${titles.join("")}</ul>` : "";
    return `<li>${link(id, shorten(name, NAME_LENGTH_MAX))}${list}</li>`;
  });
  return `<button type="button" id="open-list" aria-haspopup="dialog">Operations (${total})</button>` +
    `<nav aria-label="Operations"><p id="filter"><input type="search" placeholder="Filter" ` +
    `aria-label="Filter the operations" aria-keyshortcuts="/ Control+K" autocomplete="off">` +
    `<kbd>/</kbd> <span role="status"></span></p><ul>${items.join("")}</ul></nav>`;
}

const renderMethod = (method: string) => `<b class="${method.toLowerCase()}">${method}</b>`;

/** Lets a name break between its words. */
const renderName = (text: string): string =>
  text.split(/(?<=[_./])(?=\w)|(?<=[a-z\d])(?=[A-Z])/).map(escape).join("<wbr>");

function renderAbout(outline: Outline, detail: Detail): string {
  const { title, version, summary, description, sections } = outline;
  const isPostedToo = sections.some(({ operations }) => operations.some((one) => one.isPostedToo));
  return `<section class="about"><h2 dir="auto">${name(title)}</h2><p class="version">` +
    `${version ? `Version ${name(version)} · ` : ""}OpenAPI description: ` +
    `<a href="${V1}../spec.json" download>JSON</a>, ` +
    `<a href="${V1}../spec.yaml" download>YAML</a></p>` +
    (summary ? `<p class="summary">${renderInlineMarkdown(summary, detail.summary)}</p>` : "") +
    renderMarkdown(description, detail.about) + (isPostedToo ? POSTED_TOO : "") +
    renderLegend(outline) +
    `${WITHOUT_SCRIPT}</section>`;
}

function renderLegend({ sections }: Outline): string {
  const used = new Set(
    sections.flatMap(({ operations }) => operations.flatMap(({ marks }) => marks)),
  );
  const items = MARKS.filter(([, , word]) => used.has(word))
    .map(([, , word, meaning]) => `<li>${renderMark(word)} ${meaning}</li>`);
  return items.length === 0
    ? ""
    : `<details class="legend"><summary>Marks</summary><ul>${items.join("")}</ul></details>`;
}

const renderMark = (word: string) =>
  `<span class="mark ${/^\w+/.exec(word)?.[0] ?? ""}">${escape(word)}</span>`;

const renderTag = ({ id, name: tag }: Section) =>
  `<h2 dir="auto" id="${escape(id)}">${name(tag)}</h2>`;

function renderOperation(operation: Operation, detail: Detail): string {
  const { title, summary, callSentence, marks, form } = operation;
  const anchor = operation.anchor ? ` id="${escape(operation.anchor)}"` : "";
  return `<article${anchor}><div><h3 dir="auto" id="${escape(operation.id)}">${
    escape(shorten(title, detail.summary))
  }</h3>` +
    `<p class="line">${renderMethod(operation.method)} <code>${name(operation.path)}</code>` +
    `${operation.deprecated ? " <em>deprecated</em>" : ""}` +
    `${marks.map((word) => ` ${renderMark(word)}`).join("")}</p>` +
    (summary ? `<p class="gist">${escape(shorten(summary, detail.summary))}</p>` : "") +
    (callSentence ? `<p class="call">${escape(callSentence)}</p>` : "") +
    (operation.isWebhook ? SENT_BY_API : "") +
    renderMarkdown(operation.description, detail.operation) +
    operation.items.map(([heading, items]) => renderItems(heading, items, detail)).join("") +
    `</div>${form ? renderForm(form, title, detail) : ""}</article>`;
}

function renderItems(heading: string, items: readonly Item[], detail: Detail): string {
  if (items.length === 0) return "";
  const rest = items.length - detail.items;
  const cut = rest > 0 ? `<p class="cut">… ${rest} more in the description</p>` : "";
  return `<h4>${heading}</h4>${renderList(items.slice(0, detail.items), detail)}${cut}`;
}

function renderList(items: readonly Item[], detail: Detail): string {
  const entries = items.map(({ name: term, facts, description, rules, fields }) => {
    const words = facts.slice(0, 6).map(name).join(", ");
    return `<dt><code>${name(term)}</code></dt><dd>${words && `<i>${words}</i> `}${
      detail.item > 0 ? renderInlineMarkdown(description, detail.item) + renderRules(rules) : ""
    }${renderFields(fields, detail)}</dd>`;
  });
  return `<dl>${entries.join("")}</dl>`;
}

const renderRules = (rules: readonly Rule[]): string =>
  rules.length === 0
    ? ""
    : ` <small>${
      rules.map(([rule, value]) => `${rule} <code>${name(value)}</code>`).join(", ")
    }</small>`;

/** Renders fields, folded, with those within them. */
function renderFields(fields: readonly Item[], detail: Detail): string {
  const shown = fields.slice(0, detail.fields);
  if (shown.length === 0) return "";
  const label = `Schema: ${fields.length} ${fields.length === 1 ? "field" : "fields"}`;
  return `<details><summary>${label}</summary>${renderList(shown, detail)}</details>`;
}

const name = (text: string): string => escape(shorten(text, NAME_LENGTH_MAX));
