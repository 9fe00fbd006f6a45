/**
 * Renders a description as the content of the simple page, with less detail for a large
 * description.
 *
 * @module
 */
import { gzip } from "../http/content-coding.ts";
import { objectOf } from "../json/values.ts";
import type { DescribedBy } from "../openapi/node-operation.ts";
import { pause } from "../slices.ts";
import { shorten } from "../untrusted-text.ts";
import type { OperationForm } from "./form-request.ts";
import {
  type Html,
  joinParts,
  markup,
  type Part,
  renderInlineMarkdown,
  renderMarkdown,
  shortText,
  SIMPLE_PAGE,
  trustOwn,
  V1,
} from "./html.ts";
import { MARK_LABELS } from "./labels.ts";
import { type Enabled, enabledIn, renderOpening, writeOpening } from "./opening.ts";
import type { Item } from "./read-items.ts";
import {
  operationsOfOutline,
  type Outline,
  readOutline,
  type Section,
  type ShownOperation,
} from "./read-outline.ts";
import { renderForm } from "./render-form.ts";
import { renderStart } from "./render-start.ts";

/** What the page knows of an operation, and Scalar is told too. */
export interface OperationNotes {
  /** Markdown: why it cannot be called freely, and the lines that enable it. May be empty. */
  readonly call: string;
  readonly anchor: string;
  readonly form: OperationForm | undefined;
}

export interface PageContent {
  /** Links to the operations. The address of each begins with {@linkcode SIMPLE_PAGE}. */
  readonly list: Html;
  /** The number of all operations, shown or not. */
  readonly total: number;
  /** The operations. */
  readonly main: Html;
  /** The anchors of the operations that are shown. */
  readonly anchors: ReadonlySet<string>;
}

/** By method and path, such as `GET /v1/rpc/getblock`. */
export type Notes = ReadonlyMap<string, OperationNotes>;

export interface PageParts {
  readonly title: string;
  readonly summary: string;
  /** The first lines: the address for clients, a call, and how many are enabled. */
  readonly calls: Html;
  readonly content: PageContent;
  readonly sources: readonly string[];
  /** Attributes of the header. */
  readonly flags: Html;
  readonly notes: Notes;
  /** True if the simple page suits the description better, since Scalar would take too long. */
  readonly isLarge: boolean;
}

/**
 * @param by `undefined` for this service's own description
 * @param address the path that a client of the node needs in its address
 */
export async function renderParts(
  document: unknown,
  by?: DescribedBy,
  address: string = "/",
): Promise<PageParts> {
  const read = await readOutline(document);
  const isFromNetwork = by === "network";
  // Only a description from the node or from the operator states the node's version.
  const outline = isFromNetwork || by === "operator" ? read : { ...read, version: "" };
  const fields = operationsOfOutline(outline).flatMap(({ form }) => form?.fields ?? []);
  const content = await renderContent(outline, !isFromNetwork);
  const notes = new Map(notesOf(outline));
  const isLarge = notes.size > MANY;
  const hasHistory = Object.hasOwn(objectOf(objectOf(document).paths), "/v1/history");
  return {
    title: shorten(outline.title, 100),
    summary: shorten(outline.summary || outline.description, 200),
    calls: renderStart(outline, address, content.anchors),
    content,
    sources: [...new Set(fields.flatMap(({ sources }) => sources ?? []))],
    flags: markup`
      ${hasHistory && " data-history"}
      ${isFromNetwork && " data-foreign"}
      ${isLarge && " data-large"}`,
    notes,
    isLarge,
  };
}

function* notesOf(outline: Outline): Iterable<readonly [string, OperationNotes]> {
  const enabled = enabledIn(outline);
  for (const operation of operationsOfOutline(outline)) {
    const { method, path, anchor, form, callSentence } = operation;
    const lines = callSentence && writeOpening(operation, enabled);
    const call = callSentence + (lines && `\n\n\`\`\`yaml\n${lines}\n\`\`\``);
    yield [`${method} ${path}`, { call, anchor, form }];
  }
}

/**
 * Limits for each level of detail. Lengths are in characters. If the page is too large, it is
 * rendered again with the next lower level of detail.
 */
const DETAILS = {
  /**
   * The maximum number of operations. With more, the content would be too large, and rendering it
   * takes long.
   */
  operations: [800, 1500, Infinity, Infinity, Infinity],
  /** How many operations of a tag are in the navigation. */
  listed: [Infinity, Infinity, 0, 0, 0],
  about: [4000, 2000, 1000, 300, 300],
  description: [2000, 300, 0, 0, 0],
  // Shorter titles would make operations look alike.
  summary: [300, 120, 100, 100, 100],
  item: [500, 120, 40, 0, 0],
  items: [100, 30, 12, 8, 3],
  fields: [60, 0, 0, 0, 0],
  body: [4000, 800, 300, 100, 40],
} as const;

type Level = Readonly<Record<keyof typeof DETAILS, number>>;

interface Detail extends Level {
  /** False for a description from the network, whose links may lead anywhere. */
  readonly isLinked: boolean;
}

const LEVELS: readonly Level[] = DETAILS.about.map((_, level) =>
  Object.fromEntries(Object.entries(DETAILS).map(([name, of]) => [name, of[level]])) as Level
);

const GZIP_BYTES_MAX = 80_000, HTML_LENGTH_MAX = 2_000_000;
const NAVIGATION_TAGS_MAX = 200;

/** With more operations than this, a slow phone needs a second to lay out the page. */
const MANY = 300;

const LINK =
  markup`<button type="button" class="link" aria-label="Link to this operation">#</button>`;

const POSTED_TOO = markup`
  <p class="call">
    Each <b class="get">GET</b> below <code>/v1/rpc</code> also works
    as a <b class="post">POST</b> with the parameters as a JSON object.
  </p>`;

/** @param isLinked whether links in the description stay links */
export async function renderContent(outline: Outline, isLinked: boolean): Promise<PageContent> {
  const total = operationsOfOutline(outline).length;
  for (const level of LEVELS.filter(({ operations }) => total <= operations)) {
    const content = await render(outline, { ...level, isLinked }, total, total);
    if (await fits(content)) return content;
  }
  const least = { ...LEVELS.at(-1)!, isLinked };
  for (let shown = Math.min(total, 4096) >> 1;; shown >>= 1) {
    const content = await render(outline, least, shown, total);
    if (shown === 0 || await fits(content)) return content;
  }
}

async function fits({ list, main }: PageContent): Promise<boolean> {
  const text = `${list}${main}`;
  return text.length <= HTML_LENGTH_MAX && (await gzip(text)).byteLength <= GZIP_BYTES_MAX;
}

async function render(
  outline: Outline,
  detail: Detail,
  shown: number,
  total: number,
): Promise<PageContent> {
  let main = renderAbout(outline, detail);
  const anchors = new Set<string>();
  const listed: Section[] = [];
  const enabled = enabledIn(outline);
  const room = { left: HTML_LENGTH_MAX };
  let left = shown;
  for (const section of outline.sections) {
    if (left <= 0 || main.length > HTML_LENGTH_MAX) break;
    listed.push(section);
    let articles = markup``;
    for (const operation of section.operations.slice(0, left)) {
      await pause();
      articles = markup`${articles}${renderOperation(operation, detail, enabled, room)}`;
      if (operation.anchor) anchors.add(operation.anchor);
      if (main.length + articles.length > HTML_LENGTH_MAX) break;
    }
    const isOpen = outline.sections.length === 1;
    main = markup`${main}${renderSection(section, articles, detail, isOpen)}`;
    left -= section.operations.length;
  }
  const rest = total - shown;
  if (rest > 0) {
    main = markup`${main}<p class="cut">… ${rest} more operations in the description</p>`;
  }
  return { list: renderLinks(listed, detail), total, main, anchors };
}

function renderSection(
  { id, name, description, isService }: Section,
  articles: Html,
  detail: Detail,
  isOpen: boolean,
): Html {
  const heading = markup`<h2 dir="auto" id="${id}">${shortText(name)}</h2>`;
  const about = renderMarkdown(description, detail.about, detail.isLinked);
  const content = isService
    ? markup`
      <details${isOpen && " open"}>
        <summary>${heading}</summary>
        ${about}${articles}
      </details>`
    : markup`${heading}${about}${articles}`;
  return markup`<section aria-labelledby="${id}">${content}</section>`;
}

function renderLinks(sections: readonly Section[], detail: Detail): Html {
  const link = (id: string, text: string, method = "", isOff = false) =>
    markup`
      <a href="${SIMPLE_PAGE}#${id}"${isOff && markup` class="off"`}>
        ${renderName(text)}
        ${method && markup` ${renderMethod(method)}`}
      </a>`;
  const items = sections.slice(0, NAVIGATION_TAGS_MAX).map(({ id, name, operations }) => {
    const titles = operations.slice(0, detail.listed).map(({ id, title, method, call }) =>
      markup`<li>${link(id, shorten(title, detail.summary), method, call === "refused")}</li>`
    );
    return markup`
      <li>${link(id, shortText(name))}${titles.length > 0 && markup`<ul>${titles}</ul>`}</li>`;
  });
  return markup`<ul>${items}</ul>`;
}

const renderMethod = (method: string): Html =>
  markup`<b class="${method.toLowerCase()}">${method}</b>`;

const BREAK = markup`<wbr>`;

const renderName = (text: string): Html =>
  joinParts(text.split(/(?<=[_./])(?=\w)|(?<=[a-z\d])(?=[A-Z])/), BREAK);

function renderAbout(outline: Outline, detail: Detail): Html {
  const { title, version, summary, description } = outline;
  const operations = operationsOfOutline(outline);
  const used = new Set(operations.flatMap(({ marks }) => marks));
  const legend = MARK_LABELS.filter(([, , word]) => used.has(word))
    .map(([, , word, meaning]) => markup`<li>${renderMark(word)} ${trustOwn(meaning)}</li>`);
  return markup`
    <section class="about">
      <h2 dir="auto">${shortText(title)}</h2>
      <p class="version">
        ${version && `Version ${shortText(version)} · `}
        OpenAPI description: ${linkDocument("JSON")}, ${linkDocument("YAML")}
      </p>
      ${summary && markup`<p class="summary">${renderSummary(summary, detail)}</p>`}
      ${renderMarkdown(description, detail.about, detail.isLinked)}
      ${operations.some(({ isPostedToo }) => isPostedToo) && POSTED_TOO}
      ${legend.length > 0 && renderLegend(legend)}
    </section>`;
}

const linkDocument = (format: "JSON" | "YAML") =>
  markup`<a href="${V1}../spec.${format.toLowerCase()}" download>${format}</a>`;

const renderLegend = (marks: readonly Html[]) =>
  markup`<details class="legend"><summary>Marks</summary><ul>${marks}</ul></details>`;

const renderSummary = (summary: string, detail: Detail): Html =>
  renderInlineMarkdown(summary, detail.summary, detail.isLinked);

const renderMark = (word: string): Html =>
  markup`<span class="mark ${/^\w+/.exec(word)?.[0]}">${word}</span>`;

/**
 * How much the lists of a page may still have, in characters. A page with more is too large. A
 * small schema that refers to itself has hundreds of thousands of nested fields.
 */
interface Room {
  left: number;
}

function renderOperation(
  operation: ShownOperation,
  detail: Detail,
  enabled: Enabled,
  room: Room,
): Html {
  const { id, anchor, method, title, summary, callSentence, description, form } = operation;
  const path = renderName(shortText(operation.path));
  const marks = operation.marks.map((word) => markup` ${renderMark(word)}`);
  const items = operation.items.map(([heading, items]) =>
    renderItems(heading, items, detail, room)
  );
  return markup`
    <article${anchor && markup` id="${anchor}"`}>
      <div>
        <h3 dir="auto" id="${id}">${renderName(shorten(title, detail.summary))}</h3>
        <p class="line">
          ${renderMethod(method)} <code>${path}</code>
          ${operation.deprecated && markup` <em>deprecated</em>`}
          ${marks} ${LINK}
        </p>
        ${summary && markup`<p class="gist">${renderSummary(summary, detail)}</p>`}
        ${callSentence && markup`<p class="call">${callSentence}</p>`}
        ${detail.description > 0 && renderOpening(operation, enabled)}
        ${renderMarkdown(description, detail.description, detail.isLinked)}
        ${items}
      </div>
      ${form && markup`<div>${renderForm(form, title, detail)}</div>`}
    </article>`;
}

function renderItems(
  heading: string,
  items: readonly Item[],
  detail: Detail,
  room: Room,
): Part {
  if (items.length === 0) return "";
  const rest = items.length - detail.items;
  return markup`
    <h4>${heading}</h4>
    ${renderList(items.slice(0, detail.items), detail, room)}
    ${rest > 0 && markup`<p class="cut">… ${rest} more in the description</p>`}`;
}

function renderList(items: readonly Item[], detail: Detail, room: Room): Html {
  const entries: Html[] = [];
  for (const { name, facts, description, rules = [], fieldsOf } of items) {
    if (room.left < 0) break;
    const words = facts.slice(0, 6).map(shortText).join(", ");
    const entry = markup`
      <dt><code>${renderName(shortText(name))}</code></dt>
      <dd>
        ${words && markup`<i>${words}</i> `}
        ${detail.item > 0 && renderInlineMarkdown(description, detail.item, detail.isLinked)}
        ${detail.item > 0 && renderRules(rules, words)}`;
    room.left -= entry.length;
    entries.push(markup`${entry}${renderFields(fieldsOf, detail, room)}</dd>`);
  }
  return markup`<dl>${entries}</dl>`;
}

function renderRules(rules: NonNullable<Item["rules"]>, before: string): Part {
  const shown = rules.map(([rule, value]) => markup`${rule} <code>${shortText(value)}</code>`);
  return rules.length > 0 && markup` <small>${before && "· "}${joinParts(shown, ", ")}</small>`;
}

function renderFields(fieldsOf: Item["fieldsOf"], detail: Detail, room: Room): Part {
  if (detail.fields === 0) return "";
  const fields = fieldsOf?.() ?? [];
  if (fields.length === 0) return "";
  const label = `Schema: ${fields.length} ${fields.length === 1 ? "field" : "fields"}`;
  const list = renderList(fields.slice(0, detail.fields), detail, room);
  return markup`<details><summary>${label}</summary>${list}</details>`;
}
