/**
 * Renders a description as HTML that needs no script: the content of the simple page. A larger description is shown
 * with less detail, so that the page stays small.
 *
 * @module
 */
import { gzip } from "../http/content-coding.ts";
import type { DescribedBy } from "../openapi/callable-operations.ts";
import { objectOf } from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import { escape, V1 } from "./html.ts";
import { MARKS } from "./labels.ts";
import { renderForm } from "./render-form.ts";
import {
  type CallCounts,
  type Item,
  type Operation,
  type Outline,
  readOutline,
  type Section,
} from "./read-outline.ts";
import { renderInlineMarkdown, renderMarkdown } from "./markdown.ts";
import type { Rule, SchemaField } from "./read-schema.ts";

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
    calls: renderCalls(outline.calls, by),
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
  /** The most fields of a body or a response; none where 0. */
  fields: number;
  /** The length of the example of a body. */
  body: number;
}

/** The first that keeps the page within its limits is used. */
const DETAILS: readonly Detail[] = [
  {
    hasList: true,
    about: 4000,
    operation: 2000,
    summary: 300,
    item: 500,
    items: 100,
    fields: 60,
    body: 4000,
  },
  {
    hasList: true,
    about: 2000,
    operation: 300,
    summary: 120,
    item: 120,
    items: 30,
    fields: 0,
    body: 800,
  },
  {
    hasList: false,
    about: 1000,
    operation: 0,
    summary: 80,
    item: 40,
    items: 12,
    fields: 0,
    body: 300,
  },
  {
    hasList: false,
    about: 300,
    operation: 0,
    summary: 60,
    item: 0,
    items: 8,
    fields: 0,
    body: 100,
  },
  { hasList: false, about: 300, operation: 0, summary: 30, item: 0, items: 3, fields: 0, body: 40 },
];

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
function renderCalls(calls: CallCounts, by: DescribedBy | undefined): string {
  const { total, reads, gets, isOn, areMethods } = calls;
  if (total === 0) return "";
  const [callable, all] = [calls.public + calls.token, areMethods ? "methods" : "operations"];
  const code = (text: string) => `<code>${escape(text)}</code>`;
  // Names from the network open nothing but what they name.
  const further = by === "network" || gets === 0
    ? `Name them under ${code("forward.open")} in the configuration.`
    : `${code('forward: { open: ["GET *"] }')} opens ${gets} of them, each <code>GET</code>.`;
  const marked = `${code("--forward reads")} opens what is marked ${code("x-access: read")}, ` +
    `and this description marks nothing. ${further}`;
  if (!isOn) {
    return `<p class="calls">Calls are switched off. ` +
      (reads > 0
        ? `Start with ${code("--forward reads")} to try the ${reads} that only read.</p>`
        : `${marked}</p>`);
  }
  if (callable === 0) {
    return `<p class="calls">None of ${total} ${all} can be called. ${marked}</p>`;
  }
  const path = areMethods ? "v1/rpc" : "v1/node";
  const token = calls.token > 0 ? `, ${calls.token} of them with the token` : "";
  return `<p class="calls"><span>${callable} of ${total} ${all} can be called here${token}.</span> ` +
    `<span class="connect">Connect to <code><var>…</var>/${path}</code> ` +
    `<button type="button">Copy</button></span></p>`;
}

function renderNavigation(
  { sections }: Outline,
  { hasList, summary: length }: Detail,
  total: number,
): string {
  const link = (id: string, text: string, method = "") =>
    `<a href="#${escape(id)}">${renderName(text)}${
      method ? ` <b class="${method.toLowerCase()}">${method}</b>` : ""
    }</a>`;
  const items = sections.slice(0, NAVIGATION_TAGS_MAX).map(
    ({ id, name, operations }) => {
      const titles = hasList
        ? operations.map(({ id, title, method }) =>
          `<li>${link(id, shorten(title, length), method)}</li>`
        )
        : [];
      const list = titles.length ? `<ul>${titles.join("")}</ul>` : "";
      return `<li>${link(id, shorten(name, NAME_LENGTH_MAX))}${list}</li>`;
    },
  );
  return `<button type="button" id="open-list" aria-haspopup="dialog">Operations (${total})</button>` +
    `<nav aria-label="Operations"><p id="filter"><input type="search" placeholder="Filter" ` +
    `aria-label="Filter the operations" aria-keyshortcuts="/ Control+K" autocomplete="off">` +
    `<kbd>/</kbd> <span role="status"></span></p><ul>${items.join("")}</ul></nav>`;
}

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
  const { method, path, title, summary, callSentence, marks, parameters, responses } = operation;
  const id = escape(operation.id);
  const address = name(path);
  const anchor = operation.anchor ? ` id="${escape(operation.anchor)}"` : "";
  return `<article${anchor}><div><h3 dir="auto" id="${id}">${
    escape(shorten(title, detail.summary))
  }</h3>` +
    `<p class="line"><b class="${method.toLowerCase()}">${method}</b> <code>${address}</code>` +
    `${operation.deprecated ? " <em>deprecated</em>" : ""}` +
    `${marks.map((word) => ` ${renderMark(word)}`).join("")}</p>` +
    (summary ? `<p class="gist">${escape(shorten(summary, detail.summary))}</p>` : "") +
    (callSentence ? `<p class="call">${escape(callSentence)}</p>` : "") +
    (operation.isWebhook ? SENT_BY_API : "") +
    renderMarkdown(operation.description, detail.operation) +
    renderItems("Parameters", parameters, detail) +
    renderItems("Request body", operation.body ? [operation.body] : [], detail) +
    renderItems("Responses", responses, detail) +
    `</div>${renderForm(operation, detail)}</article>`;
}

function renderItems(title: string, items: Item[], detail: Detail): string {
  if (items.length === 0) return "";
  const { items: max, item: length } = detail;
  let html = `<h4>${title}</h4><dl>`;
  for (const { name: term, facts, description, rules, fields } of items.slice(0, max)) {
    html += `<dt><code>${name(term)}</code></dt><dd>`;
    const words = facts.slice(0, 6).map((fact) => name(fact)).join(", ");
    if (words) html += `<i>${words}</i> `;
    if (length) html += renderInlineMarkdown(description, length) + renderRules(rules);
    html += `${renderFields(fields, detail)}</dd>`;
  }
  const rest = items.length - max;
  return `${html}</dl>${rest > 0 ? `<p class="cut">… ${rest} more in the description</p>` : ""}`;
}

const renderRules = (rules: readonly Rule[]): string =>
  rules.length === 0
    ? ""
    : ` <small>${
      rules.map(([rule, value]) => `${rule} <code>${name(value)}</code>`).join(", ")
    }</small>`;

/** Renders fields, folded, with those within them. */
function renderFields(fields: readonly SchemaField[], detail: Detail): string {
  const shown = fields.slice(0, detail.fields);
  if (shown.length === 0) return "";
  const items = shown.map((field) => {
    const facts = [field.type, field.isRequired ? "required" : ""].filter(Boolean).map(name);
    return `<dt><code>${name(field.name)}</code></dt><dd><i>${facts.join(", ")}</i> ` +
      `${renderInlineMarkdown(field.description, detail.item)}${
        renderFields(field.fields, detail)
      }</dd>`;
  });
  const label = `Schema: ${fields.length} ${fields.length === 1 ? "field" : "fields"}`;
  return `<details><summary>${label}</summary><dl>${items.join("")}</dl></details>`;
}

const name = (text: string): string => escape(shorten(text, NAME_LENGTH_MAX));
