/** Opens the forms of the simple page, sends their requests, confirmed if needed, and shows the results. */
import { type FormRequest, requestOf } from "../src/explorer/form-request.ts";
import { confirm, type Identity, readIdentity, reasonAgainst } from "./confirm.ts";
import { checkForm, type Form, makeForm, readForm } from "./form.ts";
import { showResult, showStatus, sizeOf, timeOf } from "./result.ts";
import { copyFrom, element, here, isCall } from "./service.ts";

/** The maximum length of a response; a longer one is cancelled. */
const BYTES_MAX = 64 * 1024 * 1024;
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
// These forms were opened before this script ran.
for (const details of plain.querySelectorAll<HTMLDetailsElement>(".try[open]")) openForm(details);

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

/** @param node the node when the form was opened, if its request needs confirmation */
async function submit(form: Form, node: Promise<Identity> | undefined, signal: AbortSignal) {
  const { data, send, result, status } = form;
  // Releases the previous response's download.
  URL.revokeObjectURL(result.querySelector("a")?.href ?? "");
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
  // Hidden, since screen readers would announce each second.
  const seconds = element("span", { ariaHidden: "true" });
  status.replaceChildren("Sending …", seconds);
  const count = () => seconds.textContent = ` ${Math.round(passed() / 1000)} s`;
  const timer = setInterval(count, 1000);
  try {
    const response = await fetch(request.url, { ...optionsOf(form, request), signal });
    showResult(form, response, await readBytes(response), passed());
  } catch (error) {
    showFailure(form, request.url, error, passed());
  } finally {
    clearInterval(timer);
    send.textContent = "Send";
  }
}

/** Asks for a confirmation; refuses if the node has changed. */
async function isConfirmed(form: Form, request: FormRequest, atOpening: Promise<Identity>) {
  const { title, status, fields, body } = form;
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

function optionsOf({ token }: Form, request: FormRequest): RequestInit {
  const { method, url, headers: given, body } = request;
  const headers = new Headers(given as [string, string][]);
  const secret = token?.input.value.trim();
  if (secret && new URL(url).origin === location.origin) {
    headers.set("Authorization", `Bearer ${secret}`);
  }
  // Marks the call as one from the service's page: over plain http, browsers do not send `Origin` with each request.
  if (isCall(url)) headers.set("X-Nodeface", "1");
  const redirect = secret ? "error" : "follow";
  return { method, headers, body: body ?? null, cache: "no-store", redirect };
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
      throw new RangeError(`The response is longer than ${sizeOf(BYTES_MAX)}`);
    }
  }
  return new Blob(parts).arrayBuffer();
}

function showFailure(form: Form, url: string, error: unknown, ms: number): void {
  const { name, message } = error as Error;
  if (name === "AbortError") return showStatus(form, false, `Cancelled after ${timeOf(ms)}`);
  if (error instanceof RangeError) return showStatus(form, false, message, timeOf(ms));
  const why = new URL(url).origin === location.origin
    ? "this service cannot be reached"
    : "the server cannot be reached, or does not allow this page to read its responses (CORS)";
  showStatus(form, false, `No response: ${why}`, timeOf(ms));
}
