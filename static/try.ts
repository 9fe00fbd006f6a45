/** Lets operations of the simple page be tried: opens their forms, sends what is filled in, and shows what comes of it. */

import { type FormRequest, requestOf } from "../src/explorer/form-request.ts";
import { confirm, type Identity, readIdentity, reasonAgainst } from "./confirm.ts";
import { checkForm, type Form, makeForm, readForm } from "./form.ts";
import { showResult, showStatus, sizeOf, timeOf } from "./result.ts";
import { copyFrom, element, here, isCall } from "./service.ts";

/** Longer responses are given up, in bytes. */
const BYTES_MAX = 64 * 1024 * 1024;

/** The forms that have been made. */
const opened = new WeakSet<HTMLDetailsElement>();

const plain = document.getElementById("plain")!;

plain.addEventListener("toggle", ({ target }) => {
  const details = target as HTMLDetailsElement;
  if (details.matches(".try") && details.open) openForm(details);
}, true);
plain.addEventListener("click", ({ target }) => {
  const button = target as HTMLElement;
  if (button.matches(".copy")) void copyFrom(button, button.previousElementSibling!.textContent!);
  else if (button.matches(".long")) button.classList.remove("long");
});
// What has been opened before this runs.
for (const details of plain.querySelectorAll<HTMLDetailsElement>(".try[open]")) openForm(details);

/** Opens the form of an operation, which is made when it is first wanted. */
export function openForm(details: HTMLDetailsElement): void {
  details.open = true;
  if (opened.has(details)) return;
  opened.add(details);
  const form = makeForm(details);
  const node = form.data.isWrite ? readIdentity() : undefined;
  let sending: AbortController | undefined;
  form.element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return sending.abort();
    sending = new AbortController();
    await submit(form, node, sending.signal);
    sending = undefined;
  });
}

/** @param node the node beside which the form was opened, where it may change something */
async function submit(
  form: Form,
  node: Promise<Identity> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { data, send, result, status } = form;
  result.replaceChildren();
  const wrong = checkForm(form);
  if (wrong) {
    status.replaceChildren("Fix the marked field.");
    return wrong.input.focus();
  }
  const request = requestOf(data, readForm(form), here);
  if (node && !await isConfirmed(form, request, node)) return;
  const started = performance.now();
  const passed = () => performance.now() - started;
  send.textContent = "Stop";
  // A screen reader is not told each second.
  const seconds = element("span", { ariaHidden: "true" });
  status.replaceChildren("Sending …", seconds);
  const timer = setInterval(() => {
    seconds.textContent = ` ${Math.round(passed() / 1000)} s`;
  }, 1000);
  try {
    const response = await fetch(...toFetch(form, request, signal));
    const bytes = await readBytes(response);
    showResult(form, response, bytes, passed());
  } catch (error) {
    showFailure(form, request.url, error, passed());
  } finally {
    clearInterval(timer);
    send.textContent = "Send";
  }
}

/** Asks before something may be changed; says why nothing is sent to another node than before. */
async function isConfirmed(
  { title, status, fields, body }: Form,
  request: FormRequest,
  atOpening: Promise<Identity>,
): Promise<boolean> {
  status.replaceChildren();
  const [before, now] = await Promise.all([atOpening, readIdentity()]);
  const reason = reasonAgainst(before, now);
  if (reason) {
    status.replaceChildren(element("b", { className: "bad", textContent: reason }));
    return false;
  }
  const values = [...fields, ...body ? [body] : []]
    .map(({ name, input }) => [name, input.value] as const);
  return await confirm(title, request, values, now!, plain);
}

function toFetch(
  { token }: Form,
  { method, url, headers: given, body }: FormRequest,
  signal: AbortSignal,
): [url: string, init: RequestInit] {
  const headers = new Headers(given as [string, string][]);
  const secret = token?.input.value.trim();
  if (secret && new URL(url).origin === location.origin) {
    headers.set("Authorization", `Bearer ${secret}`);
  }
  // Over plain http a browser does not say where a request is from.
  if (isCall(url)) headers.set("X-Nodeface", "1");
  return [url, {
    ...{ method, headers, signal },
    ...body !== undefined && { body },
    cache: "no-store",
    redirect: secret ? "error" : "follow",
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
  return new Blob(parts).arrayBuffer();
}

function showFailure(form: Form, url: string, error: unknown, ms: number): void {
  const { name, message } = error as Error;
  if (name === "AbortError") return showStatus(form, false, `Cancelled after ${timeOf(ms)}`);
  const why = error instanceof RangeError
    ? message
    : new URL(url).origin === location.origin
    ? "this service is not running, or the line is cut"
    : "the server cannot be reached, or does not let this page read its responses";
  showStatus(form, false, `No response: ${why}`, timeOf(ms));
}
