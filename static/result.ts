/** Shows the result of a request: its status, its body, and tools for the body. */
import { type JsonLine, readLines } from "../src/explorer/json-lines.ts";
import { describeNumber, type Unit } from "../src/explorer/units.ts";
import { listOf, objectOf } from "../src/json/values.ts";
import { excerpt } from "../src/untrusted-text.ts";
import type { Form } from "./form.ts";
import { copyFrom, element, parse } from "./service.ts";

/** In characters: the longest text shown at once, the shortest text with a search, the longest indented JSON. */
const SHOWN_MAX = 100_000, SEARCHED_MIN = 1000, FORMATTED_MAX = 8_000_000;
/** The fewest lines of an object or list that is folded, and the most lines that are shown at once. */
const FOLDED_MIN = 40, LINES_MAX = 1000;
/** The longest value that is shown as a whole, in characters; CSS truncates longer values to a single line. */
const VALUE_MAX = 120;
/** The number of a body's lines that are scrolled into view. */
const SEEN_LINES = 7;
const HEADERS = ["content-type", "retry-after", "allow", "location", "link", "etag"];

export function showResult(form: Form, response: Response, bytes: ArrayBuffer, ms: number): void {
  const { status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  const text = textOf(bytes, type);
  const [word, size] = [`${status} ${statusText}`.trim(), sizeOf(bytes.byteLength)];
  showStatus(form, status < 400, word, timeOf(ms), size);
  if (status >= 400) explain(form, status, text);
  const shown = bytes.byteLength > 0 ? showContent(form, bytes, type, text) : undefined;
  const list = HEADERS.filter((name) => headers.has(name)).flatMap((name) => [
    element("dt", { textContent: name }),
    element("dd", { textContent: headers.get(name)! }),
  ]);
  form.result.append(element("dl", {}, ...list));
  reveal(form.status, shown);
}

export function showStatus(form: Form, isGood: boolean, word: string, ...more: string[]): void {
  const bold = element("b", { className: isGood ? "good" : "bad", textContent: word });
  form.status.replaceChildren(bold, ...more.filter(Boolean).map((text) => ` · ${text}`));
}

export const timeOf = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Decodes a body; `undefined` if it is not text. */
function textOf(bytes: ArrayBuffer, type: string): string | undefined {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Shows the message of problem details (RFC 9457) or of the node's own error; marks the fields named in `errors`. */
function explain(form: Form, status: number, body: string | undefined): void {
  const { detail, message, code, errors } = objectOf(parse(body ?? ""));
  const [said, number] = [message, code].map((value) => value === undefined ? "" : String(value));
  const ofNode = said && `The node responded: ${said}${number && ` (${number})`}`;
  const sentence = excerpt(ofNode || (typeof detail === "string" ? detail : ""), 300);
  if (sentence) form.status.append(` · ${sentence}`);
  if (status === 401 && form.token) {
    const isTyped = form.token.input.value.trim() !== "";
    form.token.mark(isTyped ? "the token is not valid" : "the operator's token is required");
  }
  for (const { in: place, name, rule } of listOf(errors).map(objectOf)) {
    if (typeof name !== "string" || typeof rule !== "string") continue;
    const named = form.fields.filter((field) => field.name === name);
    const field = named.find((field) => field.place === place) ?? named[0] ??
      form.fields.find((field) => place === "body" && field.place === "body");
    if (field) field.mark([field.error.textContent, `${name} ${rule}`].filter(Boolean).join("; "));
    else form.status.append(` · ${name} ${rule}`);
  }
  form.element.querySelector<HTMLElement>("[aria-invalid]")?.focus({ preventScroll: true });
}

/** Shows a body with its tools; returns the element that holds the text, or `undefined` for a binary body. */
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
  const pre = element("pre", { tabIndex: 0, role: "region", ariaLabel: "Response body" }, code);
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

function downloadOf(form: Form, bytes: ArrayBuffer, ending: string): HTMLAnchorElement {
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const name = form.title.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-").slice(0, 60) || "response";
  const textContent = `Download (${sizeOf(bytes.byteLength)})`;
  return element("a", { href, download: `${name}.${ending}`, textContent });
}

type Json = { lines: readonly JsonLine[]; units: ReadonlyMap<string, Unit> };

/** Shows lines of JSON. Large objects and lists are folded, and rendered when opened. */
function showLines(parent: HTMLElement, json: Json, from: number, to: number): void {
  const { lines, units } = json;
  let at = from;
  for (let shown = 0; at < to && shown < LINES_MAX; shown++) {
    const line = lines[at]!;
    if (at > 0 && line.end - at >= FOLDED_MIN) {
      parent.append(makeFold(json, at));
      at = line.end + 1;
      continue;
    }
    const unit = units.get(line.name);
    const note = unit && line.value ? describeNumber(line.value, unit) : "";
    const isLong = line.value.length > VALUE_MAX;
    const span = element("span", { className: isLong ? "long" : "", textContent: line.text });
    if (note) span.dataset.note = note;
    parent.append(note || isLong ? span : line.text, ++at < to ? "\n" : "");
  }
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

/** Shows the part of a text around a match, and marks the match. */
function showPart(code: HTMLElement, text: string, at: number, length: number): void {
  const from = text.length <= SHOWN_MAX ? 0 : Math.max(0, at - SHOWN_MAX / 2);
  const to = from + SHOWN_MAX;
  const mark = element("mark", { textContent: text.slice(at, at + length) });
  code.replaceChildren(
    `${from > 0 ? "…" : ""}${text.slice(from, at)}`,
    mark,
    `${text.slice(at + length, to)}${to < text.length ? "…" : ""}`,
  );
  const pre = code.parentElement!;
  if (length > 0) pre.scrollTop = mark.offsetTop - pre.offsetTop - pre.clientHeight / 2;
}

/** Makes a field that searches a text; Enter goes to the next match. */
function makeSearch(text: string, code: HTMLElement, showAll: () => void): HTMLElement[] {
  const lower = text.toLowerCase();
  const label = { placeholder: "Find", ariaLabel: "Find in the response" };
  const input = element("input", { type: "search", name: "find", ...label });
  const told = element("span", { role: "status" });
  let at = -1;
  const find = (from: number, isBack: boolean): void => {
    const wanted = input.value.toLowerCase();
    const search = (start?: number) =>
      isBack ? lower.lastIndexOf(wanted, start) : lower.indexOf(wanted, start);
    at = wanted ? search(from) : -1;
    if (wanted && at < 0) at = search();
    const line = `Line ${text.slice(0, at).split("\n").length}`;
    told.textContent = at >= 0 ? line : wanted && "Not found";
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

/** Scrolls the status and the first lines of a body into view. */
function reveal(status: HTMLElement, pre: HTMLElement | undefined): void {
  const lines = pre ? SEEN_LINES * parseFloat(getComputedStyle(pre).lineHeight) || 0 : 0;
  const below = (pre ?? status).getBoundingClientRect().top + lines - innerHeight;
  if (below > 0) scrollBy({ top: below, behavior: "instant" });
  else status.scrollIntoView({ block: "nearest" });
}
