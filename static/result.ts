/** The result of a call: its status, its content, and the tools for it. */

import { type JsonLine, readLines } from "../src/explorer/json-lines.ts";
import { describeNumber, type Unit } from "../src/explorer/units.ts";
import { isObject, listOf, objectOf } from "../src/json/values.ts";
import { excerpt } from "../src/untrusted-text.ts";
import { type Form, mark } from "./form.ts";
import { copyFrom, element } from "./service.ts";

/** How much of a text is in the page at a time, in characters, and from how many on it can be searched. */
const SHOWN_MAX = 100_000, SEARCHED_MIN = 1000;

/** Longer JSON is shown as it is, in characters. */
const FORMATTED_MAX = 8_000_000;

/** Objects and lists of so many lines are folded; so many lines are shown at a time. */
const FOLDED_MIN = 40, LINES_MAX = 1000;

/** Longer values are cut to one line, in characters. */
const VALUE_MAX = 120;

/** The lines of a result that are seen without scrolling. */
const SEEN_LINES = 7;

const SENTENCE_LENGTH_MAX = 300;

/** The headers of a response that are shown. */
const HEADERS = ["content-type", "retry-after", "allow", "location", "link", "etag"];

/** The addresses of the contents that can be downloaded, by their forms. */
const urls = new WeakMap<Form, string>();

export function showResult(form: Form, response: Response, bytes: ArrayBuffer, ms: number): void {
  const { status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  const text = textOf(bytes, type);
  showStatus(
    form,
    status < 400,
    `${status} ${statusText}`.trim(),
    timeOf(ms),
    sizeOf(bytes.byteLength),
  );
  if (status >= 400) explain(form, status, text);
  form.result.replaceChildren();
  URL.revokeObjectURL(urls.get(form) ?? "");
  const shown = bytes.byteLength > 0 ? showContent(form, bytes, type, text) : undefined;
  const list = HEADERS.filter((name) => headers.has(name)).flatMap((name) => [
    element("dt", { textContent: name }),
    element("dd", { textContent: headers.get(name)! }),
  ]);
  form.result.append(element("dl", {}, ...list));
  reveal(form.status, shown);
}

/** Shows what became of a call: a word, and what else there is to say of it. */
export function showStatus(
  { status }: Form,
  isGood: boolean,
  word: string,
  ...more: string[]
): void {
  const bold = element("b", { className: isGood ? "good" : "bad", textContent: word });
  status.replaceChildren(bold, ...more.filter(Boolean).map((text) => ` · ${text}`));
}

export const timeOf = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The text of a content; `undefined` where it is none. */
function textOf(bytes: ArrayBuffer, type: string): string | undefined {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Says in a sentence what problem details (RFC 9457) say, and marks the fields that they name. */
function explain(form: Form, status: number, text: string | undefined): void {
  const { detail, message, code, errors } = parse(text);
  const [said, number] = [message, code].map((value) => value === undefined ? "" : String(value));
  const ofNode = said && `The node answered: ${said}${number && ` (${number})`}`;
  const sentence = excerpt(
    ofNode || (typeof detail === "string" ? detail : ""),
    SENTENCE_LENGTH_MAX,
  );
  if (sentence) form.status.append(` · ${sentence}`);
  if (status === 401 && form.token) {
    const isTyped = form.token.input.value.trim() !== "";
    mark(
      form.token,
      isTyped ? "this token is not accepted" : "this call needs the operator's token",
    );
  }
  for (const { in: place, name, rule } of listOf(errors).map(objectOf)) {
    if (typeof name !== "string" || typeof rule !== "string") continue;
    const named = form.fields.filter((field) => field.name === name);
    const field = named.find((field) => field.place === place) ?? named[0] ??
      (place === "body" ? form.body : undefined);
    if (field) mark(field, [field.error.textContent, `${name} ${rule}`].filter(Boolean).join("; "));
    else form.status.append(` · ${name} ${rule}`);
  }
  form.element.querySelector<HTMLElement>("[aria-invalid]")?.focus({ preventScroll: true });
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Shows a content with its tools; returns what is read of it. */
function showContent(
  form: Form,
  bytes: ArrayBuffer,
  type: string,
  text: string | undefined,
): HTMLElement | undefined {
  const isJson = /json/i.test(type) || /^\s*[[{]/.test(text ?? "");
  const download = downloadOf(form, bytes, text === undefined ? "bin" : isJson ? "json" : "txt");
  const tools = element("p", { className: "actions" });
  if (text === undefined) {
    tools.append("Binary ", download);
    form.result.append(tools);
    return undefined;
  }
  const lines = isJson && text.length < FORMATTED_MAX ? readLines(text) : undefined;
  const formatted = lines?.map((line) => line.text).join("\n") ?? text;
  const code = element("code");
  const pre = element("pre", { tabIndex: 0, role: "region" }, code);
  pre.setAttribute("aria-label", "The content of the response");
  const units = new Map(Object.entries(form.data.units ?? {}));
  const show = () => {
    code.replaceChildren();
    if (lines) showLines(code, { lines, units }, 0, lines.length);
    else showPart(code, formatted, 0, 0);
  };
  const copy = element("button", { type: "button", textContent: "Copy" });
  copy.addEventListener("click", () => copyFrom(copy, formatted));
  tools.append(copy);
  if (formatted.length > SEARCHED_MIN) tools.append(...makeSearch(formatted, code, show), download);
  if (!lines && formatted.length > SHOWN_MAX) {
    tools.append(` The first ${sizeOf(SHOWN_MAX)} are shown.`);
  }
  form.result.append(pre, tools);
  show();
  return pre;
}

/** A link to the content as it came: as no type that a browser would open. */
function downloadOf(form: Form, bytes: ArrayBuffer, ending: string): HTMLAnchorElement {
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  urls.set(form, href);
  const name = form.title.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-").slice(0, 60) || "response";
  const textContent = `Download (${sizeOf(bytes.byteLength)})`;
  return element("a", { href, download: `${name}.${ending}`, textContent });
}

interface Json {
  readonly lines: readonly JsonLine[];
  readonly units: ReadonlyMap<string, Unit>;
}

/** Shows some lines of JSON. What is large is folded, and made when it is opened. */
function showLines(parent: HTMLElement, json: Json, from: number, to: number): void {
  const { lines, units } = json;
  let text = "", at = from;
  const flush = () => {
    if (text) parent.append(text);
    text = "";
  };
  for (let shown = 0; at < to && shown < LINES_MAX; shown++) {
    const line = lines[at]!;
    if (at > 0 && line.end - at >= FOLDED_MIN) {
      flush();
      parent.append(makeFold(json, at));
      at = line.end + 1;
      continue;
    }
    const unit = units.get(line.name);
    const note = unit && line.value ? describeNumber(line.value, unit) : "";
    const isLong = line.value.length > VALUE_MAX;
    if (note || isLong) {
      flush();
      const span = element("span", { className: isLong ? "long" : "", textContent: line.text });
      if (note) span.dataset.note = note;
      parent.append(span);
    } else text += line.text;
    if (++at < to) text += "\n";
  }
  flush();
  if (at >= to) return;
  const more = element("button", { type: "button", textContent: `${to - at} more lines` });
  more.addEventListener("click", () => {
    more.remove();
    showLines(parent, json, at, to);
  });
  parent.append(more);
}

function makeFold(json: Json, at: number): HTMLElement {
  const { text, count, end } = json.lines[at]!;
  const summary = element("summary", { textContent: text });
  summary.dataset.note = `… ${count} ${text.endsWith("[") ? "]" : "}"}`;
  const fold = element("details", {}, summary);
  fold.addEventListener("toggle", () => showLines(fold, json, at + 1, end + 1), { once: true });
  return fold;
}

/** Shows the part of a text around a place, with what was found marked. */
function showPart(code: HTMLElement, text: string, at: number, length: number): void {
  const from = text.length <= SHOWN_MAX ? 0 : Math.max(0, at - SHOWN_MAX / 2);
  const to = from + SHOWN_MAX;
  const found = length > 0 ? [element("mark", { textContent: text.slice(at, at + length) })] : [];
  code.replaceChildren(
    `${from > 0 ? "…" : ""}${text.slice(from, at)}`,
    ...found,
    `${text.slice(at + length, to)}${to < text.length ? "…" : ""}`,
  );
  const [mark] = found;
  const pre = code.parentElement!;
  if (mark) pre.scrollTop = mark.offsetTop - pre.offsetTop - pre.clientHeight / 2;
}

/** A field that finds in the whole of a text; Enter goes on to the next place. */
function makeSearch(text: string, code: HTMLElement, showAll: () => void): HTMLElement[] {
  const lower = text.toLowerCase();
  const input = element("input", { type: "search", placeholder: "Find", name: "find" });
  input.setAttribute("aria-label", "Find in the response");
  const told = element("span", { role: "status" });
  let at = -1;
  const find = (from: number, isBack: boolean): void => {
    const wanted = input.value.toLowerCase();
    at = !wanted ? -1 : isBack ? lower.lastIndexOf(wanted, from) : lower.indexOf(wanted, from);
    if (wanted && at < 0) at = isBack ? lower.lastIndexOf(wanted) : lower.indexOf(wanted);
    told.textContent = !wanted
      ? ""
      : at < 0
      ? "Not found"
      : `Line ${text.slice(0, at).split("\n").length}`;
    if (at < 0) showAll();
    else showPart(code, text, at, wanted.length);
  };
  input.addEventListener("input", () => find(0, false));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    find(event.shiftKey ? at - 1 : at + 1, event.shiftKey);
  });
  return [input, told];
}

/** Scrolls as little as it takes to have the status and the first lines in view. */
function reveal(status: HTMLElement, pre: HTMLElement | undefined): void {
  const lines = pre ? SEEN_LINES * parseFloat(getComputedStyle(pre).lineHeight) || 0 : 0;
  const below = (pre ?? status).getBoundingClientRect().top + lines - innerHeight;
  if (below > 0) scrollBy({ top: below, behavior: "instant" });
  else status.scrollIntoView({ block: "nearest" });
}
