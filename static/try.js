/**
 * Lets operations of the plain page be tried: makes a form of what `src/explorer/render-form-data.ts` has put into the
 * page, sends what is filled in, and shows the answer. Nothing is stored, and a token is held in memory alone.
 */

/** Where this service is, behind whatever prefix, and its address without a slash at the end. */
export const base = new URL("..", location.href);
export const here = base.href.replace(/\/$/, "");

/** What the visitor does. Who tries something is not to be interrupted. */
export const visitor = { isTrying: false };

/** By this Scalar's requests say that they have the token of this service. */
export const TOKEN_FORMAT = "the token of this service";

/** How much of an answer is in the page at a time, in characters, and from how many on it can be searched. */
const SHOWN_MAX = 100_000;
const SEARCHED_MIN = 1000;

/** Longer answers are shown as they are, in characters. */
const FORMATTED_MAX = 8_000_000;

/** Longer answers are given up, in bytes. */
const BYTES_MAX = 64 * 1024 * 1024;

/** The headers of an answer that are shown. */
const HEADERS = ["content-type", "retry-after", "allow", "location", "link", "etag"];

/** How a parameter stands in the page's data: as bits. */
const REQUIRED = 1, AGAIN = 2, COMMA = 4, SPANS = 8, FILLED = 16;

const NUMERIC = /^(integer|number)/;

/** What is safe in a shell without quotes. */
const SAFE = /^[\w.:/@%+=,~-]+$/;

/** The tokens that were typed, by their schemes. */
const tokens = new Map();

/** What belongs to the forms that there are. */
const forms = new Map();

const plain = document.getElementById("plain");

plain.addEventListener("toggle", ({ target }) => {
  if (target.matches(".try") && target.open) formOf(target);
}, true);
for (const type of ["pointerdown", "click", "input", "keydown"]) {
  plain.addEventListener(type, ({ target, key }) => {
    if (key !== "Tab" && target.closest(".try")) visitor.isTrying = true;
  });
}

/** Opens the form of an operation. */
export function openForm(details) {
  details.open = true;
  formOf(details);
}

/** What has been filled in and answered at an operation, for Scalar; `undefined` where there is no form. */
export function triedAt(details) {
  const form = forms.get(details);
  if (!form) return undefined;
  const { method, address, scheme, answer } = form;
  const { values, body } = read(form);
  return { method, address, values, body, answer, scheme, token: tokens.get(scheme) };
}

/** The form of an operation, which is made when it is first wanted. */
function formOf(details) {
  if (!forms.has(details)) forms.set(details, makeForm(details));
  return forms.get(details);
}

function makeForm(details) {
  const [method, address, parameters = [], body, scheme] = JSON.parse(details.dataset.try);
  const id = `try-${forms.size}`;
  const fields = (parameters || []).map((parameter, at) => makeField(`${id}-${at}`, parameter));
  const form = {
    method,
    address,
    scheme,
    fields,
    curl: details.parentElement.querySelector("pre"),
  };
  if (body) fields.push(form.body = makeBody(`${id}-body`, body));
  if (scheme) fields.push(form.token = makeToken(`${id}-token`, scheme));
  const send = element("button", { textContent: "Send", className: "send" });
  const scalar = element("button", {
    type: "button",
    className: "scalar",
    textContent: "Open in Scalar",
  });
  form.send = send;
  form.status = element("p", { className: "status", role: "status" });
  form.shown = element("div", { className: "answer" });
  form.element = element(
    "form",
    { noValidate: true, autocomplete: "off" },
    ...fields.map(({ box }) => box),
    element("p", { className: "actions" }, send, scalar),
  );
  form.element.setAttribute("aria-label", details.parentElement.querySelector("h3").textContent);
  form.element.addEventListener("input", () => showCurl(form));
  form.element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.sending) form.sending.abort();
    else submit(form);
  });
  details.append(form.element, form.status, form.shown);
  showCurl(form);
  return form;
}

function makeField(id, [name, place, type, bits = 0, example = "", values = []]) {
  const isRequired = (bits & REQUIRED) > 0;
  const isFilled = (bits & FILLED) > 0;
  const input = values.length > 0
    ? makeChoice(values, isRequired, isFilled ? example : "")
    : element("input", {
      type: "text",
      value: isFilled ? example : "",
      placeholder: isFilled ? "" : example,
      inputMode: NUMERIC.test(type) ? "decimal" : "text",
    });
  const list = bits & (AGAIN | COMMA) ? "several by commas" : "";
  const facts = [place, type, list, isRequired && "required"].filter(Boolean).join(", ");
  return labelled({ id, name, place, bits, input, isRequired }, facts);
}

function makeChoice(values, isRequired, example) {
  const options = (isRequired ? values : ["", ...values]).map((value) =>
    element("option", { value, textContent: value || "–" })
  );
  const select = element("select", {}, ...options);
  if (values.includes(example)) select.value = example;
  return select;
}

function makeBody(id, [type, example = "", isRequired]) {
  const value = /json/i.test(type) ? indent(example) : example;
  const rows = Math.min(16, Math.max(3, value.split("\n").length));
  const input = element("textarea", { value, rows });
  const field = { id, name: "body", place: "body", type, input, isRequired: Boolean(isRequired) };
  return labelled(field, [type, isRequired && "required"].filter(Boolean).join(", "));
}

/** No password: a browser would offer to keep it. */
function makeToken(id, scheme) {
  const input = element("input", { type: "text", className: "secret" });
  input.value = tokens.get(scheme) ?? "";
  input.dataset.scheme = scheme;
  input.addEventListener("input", () => {
    tokens.set(scheme, input.value.trim());
    for (const other of plain.querySelectorAll("input.secret")) {
      if (other !== input && other.dataset.scheme === scheme) other.value = input.value;
    }
  });
  return labelled({ id, name: "token", place: "token", input }, "kept until you leave this page");
}

/** Gives a field its label and its place for an error. */
function labelled(field, facts) {
  const { id, name, input, isRequired } = field;
  const label = element("label", { htmlFor: id }, element("code", { textContent: name }), " ");
  label.append(element("i", { textContent: facts }));
  Object.assign(input, { id, name, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  input.setAttribute("aria-describedby", `${id}-error`);
  if (isRequired) input.setAttribute("aria-required", "true");
  const error = element("p", { id: `${id}-error`, className: "error" });
  input.addEventListener("input", () => mark(field, ""));
  const box = element("div", { className: "field" }, label, input, error);
  return Object.assign(field, { error, box });
}

function mark({ input, error }, text) {
  error.textContent = text;
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** What is filled in: the values by their place and name, and the body. An empty one that may be left out is none. */
function read({ fields, body }) {
  const values = fields.filter(({ place }) => !["body", "token"].includes(place))
    .map(({ name, place, bits, input }) => ({ name, place, bits, value: input.value }))
    .filter(({ value }) => value !== "");
  return { values, body: body?.input.value.trim() ? body.input.value : undefined };
}

/** The request that is filled in; without the token, which is put to it when it is sent. */
function requestOf(form) {
  const { method, address } = form;
  const { values, body } = read(form);
  const at = (wanted) => values.filter(({ place }) => place === wanted);
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
  const headers = at("header").map(({ name, value }) => [name, value]);
  if (isCall(path)) headers.push(["X-Nodeface", "1"]);
  if (body !== undefined) headers.push(["Content-Type", form.body.type]);
  return { method, url: query.length > 0 ? `${path}?${query.join("&")}` : path, headers, body };
}

const encodePath = (value, spans) =>
  spans ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);

/** Whether an address is that of a call of the node. */
export const isCall = (url) =>
  ["v1/node/", "v1/rpc/"].some((path) => url.startsWith(base.href + path));

function showCurl(form) {
  const { method, url, headers, body } = requestOf(form);
  const parts = ["curl"];
  if (method === "HEAD") parts.push("-I");
  else if (method !== (body === undefined ? "GET" : "POST")) parts.push(`-X ${method}`);
  for (const [name, value] of headers) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (form.token) parts.push(`-H "Authorization: Bearer $TOKEN"`);
  if (body !== undefined) parts.push(`--data-raw ${quote(body)}`);
  form.curl.firstChild.textContent = [...parts, quote(url)].join(" ");
}

const quote = (text) => SAFE.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

async function submit(form) {
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
    form.answer = showAnswer(form, response, bytes, performance.now() - started);
  } catch (error) {
    showFailure(form, error, performance.now() - started);
  } finally {
    form.sending = undefined;
    form.send.textContent = "Send";
  }
}

function mistakeIn({ place, name, input, isRequired }) {
  const { value } = input;
  if (isRequired && value.trim() === "") return `${name} is required`;
  // Browsers take these out of an address, and would ask for another one.
  return place === "path" && /^\.\.?$/.test(value) ? `${name} cannot be ${value}` : "";
}

function toFetch(form, signal) {
  const { url, headers: given, ...request } = requestOf(form);
  const headers = new Headers(given);
  const token = form.token?.input.value.trim();
  const isOurs = new URL(url).origin === location.origin;
  if (token && isOurs) headers.set("Authorization", `Bearer ${token}`);
  return [url, {
    ...request,
    headers,
    signal,
    cache: "no-store",
    redirect: token ? "error" : "follow",
  }];
}

async function readBytes(response) {
  const parts = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part; reader && !(part = await reader.read()).done;) {
    parts.push(part.value);
    size += part.value.byteLength;
    if (size > BYTES_MAX) {
      await reader.cancel();
      throw new RangeError(`it is longer than ${sizeOf(BYTES_MAX)}`);
    }
  }
  return new Blob(parts, { type: response.headers.get("content-type") ?? "" }).arrayBuffer();
}

function showFailure(form, error, ms) {
  const why = error instanceof RangeError
    ? error.message
    : error.name === "AbortError"
    ? "it was stopped"
    : "the server cannot be reached, or does not let this page read what it answers";
  form.status.replaceChildren(
    element("b", { className: "bad", textContent: "No answer" }),
    `: ${why} · ${timeOf(ms)}`,
  );
}

function showAnswer(form, response, bytes, ms) {
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
    element("dd", { textContent: headers.get(name) }),
  ]);
  form.shown.replaceChildren(element("dl", {}, ...list));
  if (bytes.byteLength > 0) showBody(form.shown, bytes, type, text);
  form.status.scrollIntoView({ block: "nearest" });
  return { status, type, text };
}

const timeOf = (ms) => ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The text of an answer; `undefined` where it is none. */
function textOf(bytes, type) {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Marks the fields that a problem (RFC 9457) names; what has no field is said after the status. */
function markFields(form, text) {
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

function errorsOf(text) {
  try {
    const { errors } = JSON.parse(text);
    return Array.isArray(errors)
      ? errors.filter((error) => typeof error === "object" && error)
      : [];
  } catch {
    return [];
  }
}

function showBody(shown, bytes, type, text) {
  const isJson = /json/i.test(type) || /^\s*[[{]/.test(text ?? "");
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const whole = element("a", {
    href: url,
    download: `answer.${text === undefined ? "bin" : isJson ? "json" : "txt"}`,
    textContent: `The whole answer, ${sizeOf(bytes.byteLength)}`,
  });
  const tools = element("p", { className: "actions" });
  shown.append(tools);
  if (text === undefined) return tools.append("It is no text. ", whole);
  const formatted = isJson && text.length < FORMATTED_MAX ? indent(text) : text;
  const code = element("code");
  const pre = element("pre", { tabIndex: 0, role: "region" }, code);
  pre.setAttribute("aria-label", "The content of the answer");
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
function showPart(code, text, at, length) {
  const from = text.length <= SHOWN_MAX ? 0 : Math.max(0, at - SHOWN_MAX / 2);
  const to = from + SHOWN_MAX;
  const found = length > 0 ? [element("mark", { textContent: text.slice(at, at + length) })] : [];
  code.replaceChildren(
    `${from > 0 ? "…" : ""}${text.slice(from, at)}`,
    ...found,
    `${text.slice(at + length, to)}${to < text.length ? "…" : ""}`,
  );
  const [mark] = found;
  const pre = code.parentElement;
  if (mark) pre.scrollTop = mark.offsetTop - pre.offsetTop - pre.clientHeight / 2;
  return text.length > SHOWN_MAX;
}

/** A field that finds in the whole of a text; Enter goes on to the next place. */
function makeSearch(text, code) {
  const lower = text.toLowerCase();
  const input = element("input", { type: "search", placeholder: "Find", name: "find" });
  input.setAttribute("aria-label", "Find in the answer");
  const told = element("span", { role: "status" });
  let at = -1;
  const find = (from, isBack) => {
    const wanted = input.value.toLowerCase();
    if (!wanted) return told.replaceChildren(), void showPart(code, text, 0, 0);
    at = isBack ? lower.lastIndexOf(wanted, from) : lower.indexOf(wanted, from);
    if (at < 0) at = isBack ? lower.lastIndexOf(wanted) : lower.indexOf(wanted);
    if (at < 0) return told.replaceChildren("Not found"), void showPart(code, text, 0, 0);
    told.replaceChildren(`Line ${text.slice(0, at).split("\n").length}`);
    showPart(code, text, at, wanted.length);
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
async function copyText(text) {
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
    focused?.focus();
    return isCopied;
  }
}

/** Indents JSON as it is written: a number that were read would lose digits. What is no JSON stays as it is. */
export function indent(text) {
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

function element(name, properties = {}, ...children) {
  const { role, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  if (role) made.setAttribute("role", role);
  made.append(...children);
  return made;
}

// What has been opened before this runs.
for (const details of plain.querySelectorAll(".try[open]")) {
  visitor.isTrying = true;
  formOf(details);
}
