/**
 * Makes the forms of the simple page, asks to confirm writes, sends requests, and shows the
 * results.
 */
import { languagesFor, writeSample } from "../src/explorer/code-samples.ts";
import { findExamples } from "../src/explorer/examples.ts";
import {
  canBeSent,
  cleanText,
  type FieldData,
  fillIn,
  type FormRequest,
  isJson,
  itemsOf,
  mistakeIn,
  type OperationForm,
  requestOf,
} from "../src/explorer/form-request.ts";
import { readLines } from "../src/explorer/json-lines.ts";
import type { Reference } from "../src/kinds/parts.ts";
import { TOKEN_SCHEME } from "../src/openapi/operations.ts";
import { hasOtherDescription } from "./head.ts";
import { EventView } from "./events.ts";
import { confirm, DOUBLE_CLICK_MS, type Identity, readIdentity } from "./confirm.ts";
import { showResult, showStatus, sizeOf, timeOf } from "./result.ts";
import { element, here, isHere, makeOwnerNote } from "./service.ts";

export type Form = ReturnType<typeof makeForm>;
type Field = ReturnType<typeof makeLabelled>;

const BYTES_MAX = 64 * 1024 * 1024;
const plain = document.getElementById("plain")!;

/** Values of the node, by their places. */
const examples: Record<Reference, string> = JSON.parse(
  document.getElementById("examples")!.textContent!,
);

const address = document.querySelector("#node .connect code")?.textContent ?? "";
const languages = languagesFor(
  document.getElementById("node")!.dataset.api!,
  !/\/v1\/(rpc|node)/.test(address),
);
let language = "curl";
const forms = new Map<Element, Form>();

const tokens = new Map<string, string>();
let fieldCount = 0;

plain.addEventListener("toggle", ({ target }) => {
  const details = target as HTMLDetailsElement;
  if (details.matches(".try") && details.open) openForm(details);
}, true);
plain.addEventListener("click", ({ target }) => {
  const button = target as HTMLElement;
  if (button.matches(".long")) button.classList.remove("long");
});
// Only for operations in view, since there may be a thousand.
const viewer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) addLanguages(target);
});
for (const article of plain.querySelectorAll("article")) viewer.observe(article);
// If the user unfolded forms before this script ran, their content is made now.
for (const details of plain.querySelectorAll<HTMLDetailsElement>(".try[open]")) openForm(details);

export function openForm(details: HTMLDetailsElement): void {
  details.open = true;
  const article = details.closest("article")!;
  if (forms.has(article)) return;
  const form = makeForm(details);
  forms.set(article, form);
  addLanguages(article);
  const { data, send } = form;
  const node = data.isWrite ? readIdentity() : undefined;
  const ready = addExamples(form);
  let sending: AbortController | undefined;
  let clickedAt = -Infinity;
  send.addEventListener("click", (event) => {
    // Browsers count the clicks of a mouse, but neither taps nor presses of a key.
    const isCounted = event.pointerType === "mouse";
    const isRepeated = isCounted ? event.detail > 1 : event.timeStamp < clickedAt + DOUBLE_CLICK_MS;
    clickedAt = event.timeStamp;
    // The second click of a double click would press Stop.
    if (isRepeated) event.preventDefault();
  });
  form.element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return sending.abort();
    const { signal } = sending = new AbortController();
    send.textContent = "Stop";
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    try {
      if (!canBeSent(data, readForm(form))) await Promise.race([ready, stopped]);
      await submit(form, node, signal);
    } finally {
      send.textContent = wordOf(data);
      sending = undefined;
    }
  });
}

/** Fills the fields that need the response to another operation of this page. */
async function addExamples(form: Form): Promise<void> {
  const formAt = (anchor: string) => dataOf(document.getElementById(anchor));
  await findExamples(form.data, { examples, formAt, call }).catch(() => {});
  for (const [at, text] of fillIn(form.data, examples).entries()) {
    const { input } = form.fields[at]!;
    // The user may have emptied a field that needs no example.
    if (form.data.fields[at]!.sources) input.value ||= text;
  }
  showCommand(form.article);
}

async function call(data: OperationForm, texts: readonly string[]): Promise<unknown> {
  const request = requestOf(data, texts, here);
  const response = await fetch(request.url, optionsOf(request));
  return response.ok ? await response.json() : undefined;
}

function dataOf(article: Element | null): OperationForm | undefined {
  const data = article?.querySelector<HTMLElement>(".try")?.dataset.try;
  return data === undefined ? undefined : JSON.parse(data);
}

function addLanguages(article: Element): void {
  const command = article.querySelector(".try")?.parentElement?.querySelector(".command");
  if (!command || command.querySelector("select")) return;
  const options = Object.keys(languages).map((value) => element("option", { textContent: value }));
  const select = element("select", { ariaLabel: "Language" }, ...options);
  select.value = language;
  select.addEventListener("change", () => {
    language = select.value;
    for (const other of plain.querySelectorAll<HTMLSelectElement>(".command select")) {
      other.value = language;
      other.closest<HTMLElement>(".command")!.style.minHeight = "";
      showCommand(other.closest("article")!);
    }
  });
  command.querySelector("button")!.before(select);
  showCommand(article);
}

/** Browsers allow six connections to an origin, of which the header and other calls need some. */
const STREAMS_MAX = 3;
let streams = 0;

/**
 * @param node the node at the time the form was opened; `undefined` if the request needs no
 * confirmation
 */
async function submit(form: Form, node: Promise<Identity> | undefined, signal: AbortSignal) {
  const { title, data, fields, token, result, status } = form;
  URL.revokeObjectURL(result.querySelector("a")?.href ?? "");
  result.replaceChildren();
  status.replaceChildren();
  const wrong = checkForm(form);
  if (wrong) {
    status.append("Fix the marked field.");
    return wrong.input.focus();
  }
  if (token && /[^!-~]/.test(token.input.value.trim())) {
    return showStatus(form, false, "Not sent: wrong token");
  }
  if (data.isEndless && streams === STREAMS_MAX) {
    return showStatus(form, false, "Not started: stop another stream first");
  }
  const texts = readForm(form);
  const request = requestOf(data, texts, here);
  const shownOf = (text: string, at: number) =>
    data.fields[at]!.list ? itemsOf(text).join("\n") : text;
  const values = fields.map(({ name }, at) => [name, shownOf(texts[at]!, at)] as const);
  const refusal = node && await confirm(node, title, request, values, plain, signal);
  if (refusal) return showStatus(form, false, refusal);
  const started = performance.now();
  const passed = () => performance.now() - started;
  // Hides the seconds from screen readers, which would announce every change.
  const seconds = element("span", { ariaHidden: "true" });
  status.replaceChildren("Sending …", seconds);
  const count = () => seconds.textContent = ` ${Math.round(passed() / 1000)} s`;
  const view = new EventView(() => seconds.textContent = ` · ${view.total}`);
  const timer = setInterval(count, 1000);
  let response: Response | undefined;
  if (data.isEndless) streams++;
  try {
    response = await fetch(request.url, { ...optionsOf(request, form), signal });
    if (response.type === "opaqueredirect") {
      const why = "The response is a redirect, which is not followed with a token";
      return showStatus(form, false, why, timeOf(passed()), doneBy(form));
    }
    if (data.isEndless && response.ok) {
      clearInterval(timer);
      status.replaceChildren("Receiving", seconds);
      result.append(view.element);
      await view.read(response);
      return showStatus(form, true, "Ended", `${view.total} received`, view.reason);
    }
    const bytes = await readBytes(response);
    showResult(form, response, bytes, passed());
    if (!response.ok && await hasOtherDescription()) {
      status.append(" · The description has changed. Load this page anew.");
    }
  } catch (error) {
    if (view.element.isConnected && !(error instanceof RangeError)) {
      const word = signal.aborted ? "Stopped" : "Interrupted";
      return showStatus(form, signal.aborted, word, `${view.total} received`);
    }
    if (signal.aborted) {
      return showStatus(form, false, `Cancelled after ${timeOf(passed())}`, doneBy(form));
    }
    showFailure(form, request.url, error, passed(), response);
  } finally {
    if (data.isEndless) streams--;
    clearInterval(timer);
  }
}

/** What the button says before a request. */
function wordOf({ isEndless }: OperationForm): string {
  return isEndless ? "Start" : "Send";
}

function optionsOf(request: FormRequest, form?: Form): RequestInit {
  const { method, url, headers: given, body } = request;
  const headers = new Headers(given as [string, string][]);
  const secret = form?.token?.input.value.trim();
  if (isHere(url)) {
    // Marks a call as coming from the service's page. Over plain HTTP, browsers may omit `Origin`.
    headers.set("X-Nodeface", "1");
    if (secret) headers.set("Authorization", `Bearer ${secret}`);
  }
  const redirect = secret ? "manual" : "follow";
  return { method, headers, body: body ?? null, cache: "no-store", redirect };
}

/** @throws {RangeError} if the content is too long */
async function readBytes({ body }: Response): Promise<ArrayBuffer> {
  let size = 0;
  // Chromium reports an error of its own if a stream fails.
  let failure: RangeError | undefined;
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, controller) {
      size += part.byteLength;
      if (size > BYTES_MAX) {
        failure = new RangeError(`The response is longer than ${sizeOf(BYTES_MAX)}`);
        throw failure;
      }
      controller.enqueue(part);
    },
  });
  try {
    return await new Response(body?.pipeThrough(limit)).arrayBuffer();
  } catch (error) {
    throw failure ?? error;
  }
}

const doneBy = ({ data }: Form): string => data.isWrite ? "the node may have carried it out" : "";

/** @param response the response, if it has begun */
function showFailure(form: Form, url: string, error: unknown, ms: number, response?: Response) {
  const show = (...[word, ...more]: [string, ...string[]]) =>
    showStatus(form, false, word, ...more, doneBy(form));
  if (error instanceof RangeError) return show(error.message, timeOf(ms));
  if (response) return show("The response broke off", `status ${response.status}`, timeOf(ms));
  const why = new URL(url).origin === location.origin
    ? "this service cannot be reached"
    : "the server cannot be reached, or forbids this page to read its responses (CORS)";
  show(`No response: ${why}`, timeOf(ms));
}

function makeForm(details: HTMLDetailsElement) {
  const data: OperationForm = JSON.parse(details.dataset.try!);
  const filled = fillIn(data, examples);
  const fields = data.fields.map((field, at) => makeField(field, filled[at]!));
  const token = data.token === undefined ? undefined : makeToken(data.token);
  const send = element("button", { textContent: wordOf(data), className: "send" });
  const article = details.closest("article")!;
  const title = article.querySelector("h3")!.textContent!;
  const boxes = [...fields, token].flatMap((field) => field?.box ?? []);
  boxes.push(element("p", { className: "actions" }, send));
  const form = {
    title,
    data,
    token,
    send,
    fields,
    article,
    status: element("p", { className: "status", role: "status" }),
    result: element("div", { className: "response" }),
    element: element("form", { noValidate: true, autocomplete: "off", ariaLabel: title }, ...boxes),
  };
  form.element.addEventListener("input", () => showCommand(article));
  details.append(form.element, form.status, form.result);
  return form;
}

function readForm({ fields, data }: Form): string[] {
  return fields.map(({ place, input }, at) =>
    place === "body" ? input.value : cleanText(input.value, data.fields[at]!)
  );
}

function checkForm(form: Form): Field | undefined {
  const { fields } = form;
  for (const [at, text] of readForm(form).entries()) fields[at]!.mark(fields[at]!.mistakeIn(text));
  return fields.find(({ error }) => error.textContent);
}

function showCommand(article: Element): void {
  const form = forms.get(article);
  const data = form?.data ?? dataOf(article)!;
  const texts = form ? readForm(form) : fillIn(data, examples);
  const text = writeSample(languages[language]!, data, texts, here);
  const command = article.querySelector(".try")!.parentElement!.querySelector<HTMLElement>(
    ".command",
  )!;
  command.hidden = !canBeSent(data, texts);
  // The button below must not move while somebody types.
  if (form) command.style.minHeight = `${command.offsetHeight}px`;
  // Long addresses break after a slash or a value, and not within a name.
  const parts = (text || `Not available for ${language}.`).split(/(?<=[/&])/);
  command.querySelector("button")!.hidden = text === "";
  command.querySelector("code")!.replaceChildren(
    ...parts.flatMap((part) => [part, element("wbr")]),
  );
}

function makeField(data: FieldData, value: string) {
  const { name, in: place, mediaType, isRequired = false, list, example = "", values } = data;
  const isBody = place === "body";
  const lines = isBody && isJson(mediaType) ? readLines(value) : undefined;
  const text = lines?.map(({ text }) => text).join("\n") ?? value;
  const rows = Math.min(16, Math.max(3, text.split("\n").length));
  const placeholder = data.hint ?? (data.isFilled ? "" : example);
  // On an iPhone, the keys for decimal numbers have no minus sign.
  const inputMode = data.isUnsigned ? "decimal" : "text";
  const options = [...isRequired ? [] : [""], ...values ?? []]
    .map((value) => element("option", { value, textContent: value || "–" }));
  const input = isBody
    ? element("textarea", { rows, placeholder })
    : values
    ? element("select", {}, ...options)
    : element("input", { type: "text", placeholder, inputMode });
  input.value = text;
  const facts = [
    isBody ? "" : place,
    data.types?.join(" or ") ?? "",
    data.format ?? "",
    mediaType ?? "",
    list ? "comma-separated, or a JSON list of strings" : "",
  ];
  const isMistaken = (text: string) => mistakeIn(data, text);
  const field = makeLabelled(name, place, input, facts, isMistaken, isRequired);
  if (input instanceof HTMLInputElement) {
    input.addEventListener("paste", ({ clipboardData }) => {
      if (!/[\r\n]/.test(clipboardData?.getData("text").trim() ?? "")) return;
      // After the text has been inserted, which removes another mark.
      setTimeout(() => field.mark("The line breaks are gone: this field has one line"));
    });
  }
  return field;
}

/** Makes a text field. In a password field, browsers would offer to store the token. */
function makeToken(scheme: string) {
  const input = element("input", { type: "text", className: "secret" });
  input.value = tokens.get(scheme) ?? "";
  input.dataset.scheme = scheme;
  input.addEventListener("input", () => {
    tokens.set(scheme, input.value.trim());
    for (const other of document.querySelectorAll<HTMLInputElement>("#plain input.secret")) {
      if (other === input || other.dataset.scheme !== scheme) continue;
      other.value = input.value;
      other.parentElement!.querySelector(".owner")?.replaceChildren();
    }
  });
  const field = makeLabelled("token", "token", input, ["kept until you leave"]);
  // A host's own token is none of this service's.
  if (scheme.startsWith(TOKEN_SCHEME)) field.box.append(makeOwnerNote(input));
  return field;
}

/**
 * @param place `body`, `token`, or a parameter's location such as `query`
 * @param mistakeIn the function that returns the error message for a text, or an empty string for a
 * valid text
 */
function makeLabelled(
  name: string,
  place: string,
  input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  facts: readonly string[],
  mistakeIn: (text: string) => string = () => "",
  isRequired = false,
) {
  const id = `field-${fieldCount++}`;
  const shown = [...facts, isRequired ? "required" : ""].filter(Boolean).join(", ");
  const words = [element("code", { textContent: name }), " ", element("i", { textContent: shown })];
  Object.assign(input, { id, name, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  input.setAttribute("autocorrect", "off");
  input.setAttribute("aria-describedby", `${id}-error`);
  if (isRequired) input.ariaRequired = "true";
  const error = element("p", { id: `${id}-error`, className: "error" });
  const label = element("label", { htmlFor: id }, ...words);
  const box = element("div", { className: "field" }, label, input, error);
  const mark = (text: string) => {
    error.textContent = text;
    input.ariaInvalid = text ? "true" : null;
  };
  input.addEventListener("input", () => mark(""));
  return { name, place, input, mistakeIn, error, box, mark };
}
