/** Shows the result of a request: its status, its body, and tools for the body. */
import { parsed } from "../src/explorer/form-request.ts";
import { type JsonLine, readLines } from "../src/explorer/json-lines.ts";
import { describeNumber, type Unit } from "../src/explorer/units.ts";
import { listOf, objectOf, textOf } from "../src/json/values.ts";
import { excerpt } from "../src/untrusted-text.ts";
import type { Form } from "./form.ts";
import { copyFrom, element } from "./service.ts";

/** The maximum length of shown text and of indented JSON, in characters. */
const SHOWN_MAX = 1_000_000, FORMATTED_MAX = 8_000_000;
/**
 * The minimum number of lines to fold, the maximum depth of folds, and the maximum number of lines
 * to show at once.
 */
const FOLDED_MIN = 40, DEPTH_MAX = 64, LINES_MAX = 10_000;
/** The length, in characters, above which CSS truncates a value to one line. */
const VALUE_MAX = 120;
/** A text that CSS truncates to one line until it is focused or clicked. */
export const LONG = { className: "long", tabIndex: 0 };
const HEADERS = ["content-type", "retry-after", "allow", "location", "link", "etag"];

export function showResult(form: Form, response: Response, bytes: ArrayBuffer, ms: number) {
  const { status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  const text = decodeText(bytes, type);
  const [word, size] = [`${status} ${statusText}`.trim(), sizeOf(bytes.byteLength)];
  showStatus(form, status < 400, word, timeOf(ms), size);
  if (status >= 400) explain(form, status, parsed(text ?? ""));
  if (bytes.byteLength > 0) showContent(form, bytes, type, text);
  const list = HEADERS.filter((name) => headers.has(name)).flatMap((name) => [
    element("dt", { textContent: name }),
    element("dd", { textContent: headers.get(name)! }),
  ]);
  form.result.append(element("dl", {}, ...list));
  form.status.scrollIntoView({ block: "nearest", behavior: "instant" });
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

function decodeText(bytes: ArrayBuffer, type: string): string | undefined {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function explain(form: Form, status: number, body: unknown): void {
  const { detail, message, code, errors } = objectOf(body);
  const [said, number] = [message, code].map((value) => textOf(value) ?? "");
  // Our own problem details have the same text in both members.
  const ofNode = said && said !== detail &&
    `The node responded: ${said}${number && ` (${number})`}`;
  const sentence = excerpt(ofNode || (typeof detail === "string" ? detail : ""), 300);
  if (sentence) form.status.append(` · ${sentence}`);
  if (status === 401 && form.token) form.token.input.ariaInvalid = "true";
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

function showContent(form: Form, bytes: ArrayBuffer, type: string, text: string | undefined): void {
  const isJson = /json/i.test(type) || /^\s*[[{]/.test(text ?? "");
  const download = downloadOf(form, bytes, text === undefined ? "bin" : isJson ? "json" : "txt");
  const tools = element("p", { className: "actions" });
  if (text === undefined) {
    tools.append("Binary ", download);
    return form.result.append(tools);
  }
  const lines = isJson && text.length < FORMATTED_MAX ? readLines(text) : undefined;
  const formatted = lines?.map((line) => line.text).join("\n") ?? text;
  const code = element("code");
  const pre = element("pre", { tabIndex: 0, role: "region", ariaLabel: "Response body" }, code);
  const copy = element("button", { type: "button", textContent: "Copy" });
  // A hash is pasted into a field, which takes it without quotes.
  const isText = lines?.length === 1 && formatted.startsWith('"');
  copy.addEventListener("click", () => copyFrom(copy, isText ? JSON.parse(formatted) : formatted));
  tools.append(copy, download);
  if (lines) showLines(code, lines, new Map(Object.entries(form.data.units ?? {})));
  else {
    code.append(formatted.slice(0, SHOWN_MAX));
    if (formatted.length > SHOWN_MAX) tools.append(` The first ${sizeOf(SHOWN_MAX)} are shown.`);
  }
  form.result.append(pre, tools);
}

function downloadOf(form: Form, bytes: ArrayBuffer, ending: string): HTMLAnchorElement {
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const name = form.title.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-").slice(0, 60) || "response";
  const textContent = `Download (${sizeOf(bytes.byteLength)})`;
  return element("a", { href, download: `${name}.${ending}`, textContent });
}

/** If the browser's search finds text in a folded object, the browser unfolds that object. */
function showLines(
  code: HTMLElement,
  lines: readonly JsonLine[],
  units: ReadonlyMap<string, Unit>,
): void {
  const more = element("button", { type: "button" });
  const open: { parent: HTMLElement; end: number }[] = [];
  let parent = code;
  let at = 0;
  const show = () => {
    more.remove();
    for (const to = at + LINES_MAX; at < Math.min(to, lines.length); at++) {
      const { text, name, value, count, end } = lines[at]!;
      if (at > 0 && end - at >= FOLDED_MIN && open.length < DEPTH_MAX) {
        const summary = element("summary", { textContent: text });
        summary.dataset.note = `… ${count} ${text.endsWith("[") ? "]" : "}"}`;
        const fold = element("details", {}, summary);
        parent.append(fold);
        open.push({ parent, end });
        parent = fold;
        continue;
      }
      const unit = units.get(name);
      const note = unit && value ? describeNumber(value, unit) : "";
      const isLong = value.length > VALUE_MAX;
      const span = element("span", { textContent: text, ...isLong && LONG });
      if (note) span.dataset.note = note;
      const isLast = at === open.at(-1)?.end;
      parent.append(note || isLong ? span : text, isLast || at === lines.length - 1 ? "" : "\n");
      if (isLast) parent = open.pop()!.parent;
    }
    more.textContent = `${lines.length - at} more lines`;
    if (at < lines.length) code.append(more);
  };
  more.addEventListener("click", show);
  show();
}
