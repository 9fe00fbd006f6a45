/**
 * Lets operations of the simple page be tried: makes a form of what `src/explorer/render-form.ts` has put into the page,
 * sends what is filled in, and shows the answer. Nothing is stored, and a token is held in memory alone.
 */

import {
  AGAIN,
  type BodyData,
  COMMA,
  type FieldData,
  FILLED,
  type FormData,
  REQUIRED,
  SPANS,
} from "../src/explorer/render-form.ts";
import { here, isCall } from "./service.ts";

/** A field of a form, and its place for an error. */
interface Field {
  readonly id: string;
  readonly name: string;
  /** Where a parameter stands, or `body` or `token`. */
  readonly place: string;
  readonly bits: number;
  /** The media type of a body. */
  readonly type?: string;
  readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  readonly isRequired: boolean;
  readonly error: HTMLElement;
  readonly box: HTMLElement;
}

/** The form of an operation. */
interface Form {
  readonly method: string;
  readonly address: string;
  readonly scheme: string | undefined;
  readonly fields: readonly Field[];
  readonly body: Field | undefined;
  readonly token: Field | undefined;
  readonly curl: HTMLElement;
  readonly send: HTMLButtonElement;
  readonly status: HTMLElement;
  readonly shown: HTMLElement;
  sending?: AbortController | undefined;
}

/** How much of an answer is in the page at a time, in characters, and from how many on it can be searched. */
const SHOWN_MAX = 100_000;
const SEARCHED_MIN = 1000;

/** Longer answers are shown as they are, in characters. */
const FORMATTED_MAX = 8_000_000;

/** Longer answers are given up, in bytes. */
const BYTES_MAX = 64 * 1024 * 1024;

/** The headers of an answer that are shown. */
const HEADERS = ["content-type", "retry-after", "allow", "location", "link", "etag"];

const NUMERIC = /^(integer|number)/;

/** What is safe in a shell without quotes. */
const SAFE = /^[\w.:/@%+=,~-]+$/;

/** The tokens that were typed, by their schemes. */
const tokens = new Map<string, string>();

/** What belongs to the forms that there are. */
const forms = new Map<HTMLDetailsElement, Form>();

const plain = document.getElementById("plain")!;

plain.addEventListener("toggle", ({ target }) => {
  const details = target as HTMLDetailsElement;
  if (details.matches(".try") && details.open) formOf(details);
}, true);

/** Opens the form of an operation. */
export function openForm(details: HTMLDetailsElement): void {
  details.open = true;
  formOf(details);
}

/** The form of an operation, which is made when it is first wanted. */
function formOf(details: HTMLDetailsElement): Form {
  let form = forms.get(details);
  if (!form) forms.set(details, form = makeForm(details));
  return form;
}

function makeForm(details: HTMLDetailsElement): Form {
  const data: FormData = JSON.parse(details.dataset.try!);
  const [method, address, parameters, ofBody, ofToken] = data;
  const id = `try-${forms.size}`;
  const fields = (parameters || []).map((parameter, at) => makeField(`${id}-${at}`, parameter));
  const scheme = ofToken || undefined;
  const body = ofBody ? makeBody(`${id}-body`, ofBody) : undefined;
  const token = scheme ? makeToken(`${id}-token`, scheme) : undefined;
  fields.push(...[body, token].filter((field) => field !== undefined));
  const send = element("button", { textContent: "Send", className: "send" });
  const form: Form = {
    ...{ method, address, scheme, fields, body, token, send },
    curl: details.parentElement!.querySelector("pre")!,
    status: element("p", { className: "status", role: "status" }),
    shown: element("div", { className: "answer" }),
  };
  const made = element(
    "form",
    { noValidate: true, autocomplete: "off" },
    ...fields.map(({ box }) => box),
    element("p", { className: "actions" }, send),
  );
  made.setAttribute("aria-label", details.parentElement!.querySelector("h3")!.textContent ?? "");
  made.addEventListener("input", () => showCurl(form));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.sending) form.sending.abort();
    else void submit(form);
  });
  details.append(made, form.status, form.shown);
  showCurl(form);
  return form;
}

function makeField(id: string, [name, place, type, bits, given, choices]: FieldData): Field {
  const [example, values] = [given || "", choices || []];
  const isRequired = (bits! & REQUIRED) > 0;
  const isFilled = (bits! & FILLED) > 0;
  const input = values.length > 0
    ? makeChoice(values, isRequired, isFilled ? example : "")
    : element("input", {
      type: "text",
      value: isFilled ? example : "",
      placeholder: isFilled ? "" : example,
      inputMode: NUMERIC.test(type || "") ? "decimal" : "text",
    });
  const list = bits! & (AGAIN | COMMA) ? "several by commas" : "";
  const facts = [place, type, list, isRequired && "required"].filter(Boolean).join(", ");
  return labelled({ id, name, place, bits: bits ?? 0, input, isRequired }, facts);
}

function makeChoice(values: readonly string[], isRequired: boolean, example: string) {
  const options = (isRequired ? values : ["", ...values]).map((value) =>
    element("option", { value, textContent: value || "–" })
  );
  const select = element("select", {}, ...options);
  if (values.includes(example)) select.value = example;
  return select;
}

function makeBody(id: string, [type, example, isRequired]: BodyData): Field {
  const value = /json/i.test(type) ? indent(example || "") : example || "";
  const rows = Math.min(16, Math.max(3, value.split("\n").length));
  const input = element("textarea", { value, rows });
  const field = { id, name: "body", place: "body", bits: 0, type, input };
  const facts = [type, isRequired && "required"].filter(Boolean).join(", ");
  return labelled({ ...field, isRequired: Boolean(isRequired) }, facts);
}

/** No password: a browser would offer to keep it. */
function makeToken(id: string, scheme: string): Field {
  const input = element("input", { type: "text", className: "secret" });
  input.value = tokens.get(scheme) ?? "";
  input.dataset.scheme = scheme;
  input.addEventListener("input", () => {
    tokens.set(scheme, input.value.trim());
    for (const other of plain.querySelectorAll<HTMLInputElement>("input.secret")) {
      if (other !== input && other.dataset.scheme === scheme) other.value = input.value;
    }
  });
  const field = { id, name: "token", place: "token", bits: 0, input, isRequired: false };
  return labelled(field, "kept until you leave this page");
}

/** Gives a field its label and its place for an error. */
function labelled(unlabelled: Omit<Field, "error" | "box">, facts: string): Field {
  const { id, name, input, isRequired } = unlabelled;
  const label = element("label", { htmlFor: id }, element("code", { textContent: name }), " ");
  label.append(element("i", { textContent: facts }));
  Object.assign(input, { id, name, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  input.setAttribute("aria-describedby", `${id}-error`);
  if (isRequired) input.setAttribute("aria-required", "true");
  const error = element("p", { id: `${id}-error`, className: "error" });
  const box = element("div", { className: "field" }, label, input, error);
  const field = { ...unlabelled, error, box };
  input.addEventListener("input", () => mark(field, ""));
  return field;
}

function mark({ input, error }: Field, text: string): void {
  error.textContent = text;
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** What is filled in: the values by their place and name, and the body. An empty one that may be left out is none. */
function read({ fields, body }: Form) {
  const values = fields.filter(({ place }) => !["body", "token"].includes(place))
    .map(({ name, place, bits, input }) => ({ name, place, bits, value: input.value }))
    .filter(({ value }) => value !== "");
  return { values, body: body?.input.value.trim() ? body.input.value : undefined };
}

/** The request that is filled in; without the token, which is put to it when it is sent. */
function requestOf(form: Form) {
  const { method, address } = form;
  const { values, body } = read(form);
  const at = (wanted: string) => values.filter(({ place }) => place === wanted);
  let path = /^https?:/.test(address) ? address : here + address;
  for (const { name, value, bits } of at("path")) {
    path = path.replaceAll(`{${name}}`, () => encodePath(value, bits & SPANS));
  }
  const query = at("query").flatMap(({ name, value, bits }) => {
    const list = bits & (AGAIN | COMMA) ? value.split(",").map((one) => one.trim()) : [value];
    const texts = list.map(encodeURIComponent);
    return (bits & AGAIN ? texts : [texts.join(",")])
      .map((text) => `${encodeURIComponent(name)}=${text}`);
  });
  const headers = at("header").map(({ name, value }): [string, string] => [name, value]);
  if (isCall(path)) headers.push(["X-Nodeface", "1"]);
  if (body !== undefined) headers.push(["Content-Type", form.body!.type!]);
  return { method, url: query.length > 0 ? `${path}?${query.join("&")}` : path, headers, body };
}

const encodePath = (value: string, spans: number) =>
  spans ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);

function showCurl(form: Form): void {
  const { method, url, headers, body } = requestOf(form);
  const parts = ["curl"];
  if (method === "HEAD") parts.push("-I");
  else if (method !== (body === undefined ? "GET" : "POST")) parts.push(`-X ${method}`);
  for (const [name, value] of headers) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (form.token) parts.push(`-H "Authorization: Bearer $TOKEN"`);
  if (body !== undefined) parts.push(`--data-raw ${quote(body)}`);
  form.curl.firstChild!.textContent = [...parts, quote(url)].join(" ");
}

const quote = (text: string) => SAFE.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

async function submit(form: Form): Promise<void> {
  for (const field of form.fields) mark(field, mistakeIn(field));
  form.shown.replaceChildren();
  const wrong = form.fields.find(({ error }) => error.textContent);
  if (wrong) {
    form.status.replaceChildren("Not sent.");
    return wrong.input.focus();
  }
  const abort = form.sending = new AbortController();
  form.send.textContent = "Stop";
  form.status.replaceChildren("Sending …");
  const started = performance.now();
  try {
    const response = await fetch(...toFetch(form, abort.signal));
    const bytes = await readBytes(response);
    showAnswer(form, response, bytes, performance.now() - started);
  } catch (error) {
    showFailure(form, error, performance.now() - started);
  } finally {
    form.sending = undefined;
    form.send.textContent = "Send";
  }
}

function mistakeIn({ place, name, input, isRequired }: Field): string {
  const { value } = input;
  if (isRequired && value.trim() === "") return `${name} is required`;
  // Browsers take these out of an address, and would ask for another one.
  return place === "path" && /^\.\.?$/.test(value) ? `${name} cannot be ${value}` : "";
}

function toFetch(form: Form, signal: AbortSignal): [url: string, init: RequestInit] {
  const { url, headers: given, method, body } = requestOf(form);
  const headers = new Headers(given);
  const token = form.token?.input.value.trim();
  const isOurs = new URL(url).origin === location.origin;
  if (token && isOurs) headers.set("Authorization", `Bearer ${token}`);
  return [url, {
    ...{ method, headers, signal },
    ...body !== undefined && { body },
    cache: "no-store",
    redirect: token ? "error" : "follow",
  }];
}

async function readBytes(response: Response): Promise<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.byteLength;
    if (size > BYTES_MAX) {
      await reader.cancel();
      throw new RangeError(`it is longer than ${sizeOf(BYTES_MAX)}`);
    }
  }
  return new Blob(parts, { type: response.headers.get("content-type") ?? "" }).arrayBuffer();
}

function showFailure(form: Form, error: unknown, ms: number): void {
  const why = error instanceof RangeError
    ? error.message
    : error instanceof Error && error.name === "AbortError"
    ? "it was stopped"
    : "the server cannot be reached, or does not let this page read its responses";
  form.status.replaceChildren(
    element("b", { className: "bad", textContent: "No response" }),
    `: ${why} · ${timeOf(ms)}`,
  );
}

function showAnswer(form: Form, response: Response, bytes: ArrayBuffer, ms: number): void {
  const { status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  const text = textOf(bytes, type);
  form.status.replaceChildren(
    element("b", {
      className: status < 400 ? "good" : "bad",
      textContent: `${status} ${statusText}`.trim(),
    }),
    ` · ${timeOf(ms)} · ${sizeOf(bytes.byteLength)}`,
  );
  if (status === 400) markFields(form, text);
  const list = HEADERS.filter((name) => headers.has(name)).flatMap((name) => [
    element("dt", { textContent: name }),
    element("dd", { textContent: headers.get(name)! }),
  ]);
  form.shown.replaceChildren(element("dl", {}, ...list));
  if (bytes.byteLength > 0) showBody(form.shown, bytes, type, text);
  form.status.scrollIntoView({ block: "nearest" });
}

const timeOf = (ms: number) => ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The text of an answer; `undefined` where it is none. */
function textOf(bytes: ArrayBuffer, type: string): string | undefined {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Marks the fields that a problem (RFC 9457) names; what has no field is said after the status. */
function markFields(form: Form, text: string | undefined): void {
  for (const { in: place, name, rule } of errorsOf(text)) {
    if (typeof name !== "string" || typeof rule !== "string") continue;
    const inPlace = form.fields.filter((field) => field.name === name && field.place !== "token");
    const field = inPlace.find((field) => field.place === place) ?? inPlace[0] ??
      (place === "body" ? form.body : undefined);
    if (field) mark(field, [field.error.textContent, `${name} ${rule}`].filter(Boolean).join("; "));
    else form.status.append(` · ${name} ${rule}`);
  }
  form.fields.find(({ error }) => error.textContent)?.input.focus();
}

function errorsOf(text: string | undefined): Record<string, unknown>[] {
  try {
    const { errors } = JSON.parse(text ?? "");
    return Array.isArray(errors)
      ? errors.filter((error) => typeof error === "object" && error)
      : [];
  } catch {
    return [];
  }
}

function showBody(
  shown: HTMLElement,
  bytes: ArrayBuffer,
  type: string,
  text: string | undefined,
): void {
  const isJson = /json/i.test(type) || /^\s*[[{]/.test(text ?? "");
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const whole = element("a", {
    href: url,
    download: `answer.${text === undefined ? "bin" : isJson ? "json" : "txt"}`,
    textContent: `The whole response, ${sizeOf(bytes.byteLength)}`,
  });
  const tools = element("p", { className: "actions" });
  shown.append(tools);
  if (text === undefined) return tools.append("It is no text. ", whole);
  const formatted = isJson && text.length < FORMATTED_MAX ? indent(text) : text;
  const code = element("code");
  const pre = element("pre", { tabIndex: 0, role: "region" }, code);
  pre.setAttribute("aria-label", "The content of the response");
  const copy = element("button", { type: "button", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    copy.textContent = await copyText(formatted) ? "Copied" : "Not copied";
    setTimeout(() => copy.textContent = "Copy", 2000);
  });
  tools.append(copy);
  if (formatted.length > SEARCHED_MIN) tools.append(...makeSearch(formatted, code));
  const isCut = showPart(code, formatted, 0, 0);
  if (isCut) tools.append(` The first ${sizeOf(SHOWN_MAX)} are shown. `);
  if (isCut) tools.append(whole);
  else URL.revokeObjectURL(url);
  shown.append(pre);
}

/** Shows the part of a text around a place, with what was found marked; whether something is left out. */
function showPart(code: HTMLElement, text: string, at: number, length: number): boolean {
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
  return text.length > SHOWN_MAX;
}

/** A field that finds in the whole of a text; Enter goes on to the next place. */
function makeSearch(text: string, code: HTMLElement): HTMLElement[] {
  const lower = text.toLowerCase();
  const input = element("input", { type: "search", placeholder: "Find", name: "find" });
  input.setAttribute("aria-label", "Find in the response");
  const told = element("span", { role: "status" });
  let at = -1;
  const find = (from: number, isBack: boolean): void => {
    const wanted = input.value.toLowerCase();
    const say = (said: string, length: number) => {
      told.replaceChildren(said);
      showPart(code, text, length > 0 ? at : 0, length);
    };
    if (!wanted) return say("", 0);
    at = isBack ? lower.lastIndexOf(wanted, from) : lower.indexOf(wanted, from);
    if (at < 0) at = isBack ? lower.lastIndexOf(wanted) : lower.indexOf(wanted);
    if (at < 0) return say("Not found", 0);
    say(`Line ${text.slice(0, at).split("\n").length}`, wanted.length);
  };
  input.addEventListener("input", () => find(0, false));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    find(event.shiftKey ? at - 1 : at + 1, event.shiftKey);
  });
  return [input, told];
}

/** On plain http beyond loopback browsers have no clipboard for scripts. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { value: text, className: "skip" });
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}

/** Indents JSON as it is written: a number that were read would lose digits. What is no JSON stays as it is. */
export function indent(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = "", line = "\n", last = "";
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g)) {
    if (token === "}" || token === "]") {
      line = line.slice(0, -2);
      if (last !== "{" && last !== "[") out += line;
    } else if (last === "{" || last === "[" || last === ",") out += line;
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") line += "  ";
    last = token;
  }
  return out;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> & { role?: string } = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const { role, ...others } = properties;
  const made: HTMLElementTagNameMap[Name] = Object.assign(document.createElement(name), others);
  if (role) made.setAttribute("role", role);
  made.append(...children);
  return made;
}

// What has been opened before this runs.
for (const details of plain.querySelectorAll<HTMLDetailsElement>(".try[open]")) {
  formOf(details);
}
