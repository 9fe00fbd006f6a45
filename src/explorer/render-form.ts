/**
 * Renders the form in which an operation is tried, and the line of `curl` that sends the same. `static/form.ts` makes a
 * form of the data; without a script there is one for what is asked by its address alone.
 *
 * @module
 */
import {
  BASE,
  canBeSent,
  type FieldData,
  fillIn,
  type FormData,
  requestOf,
  writeCurl,
} from "./form-request.ts";
import { escape, jsonOf, V1 } from "./html.ts";

/** The length of the example of a body, in characters, and the most optional parameters. */
interface FormDetail {
  readonly body: number;
  readonly items: number;
}

/** Renders the form of an operation and its line; an empty text where it cannot be tried. */
export function renderForm(form: FormData, title: string, detail: FormDetail): string {
  const data = limit(form, detail);
  const line = renderCommand(data);
  if (form.isEndless) return line;
  return `${line}<details class="try${form.isWrite ? " write" : ""}" data-try='${jsonOf(data)}'>` +
    `<summary aria-label="Try it: ${escape(title)}">Try it</summary></details>${
      renderWithoutScript(form)
    }`;
}

/** Omits optional parameters and long examples, of which there may be many. */
function limit({ fields, body, ...form }: FormData, detail: FormDetail): FormData {
  let left = detail.items;
  const example = body?.examples.find(({ length }) => length <= detail.body);
  return {
    ...form,
    fields: fields.filter(({ isRequired }) => isRequired || left-- > 0),
    body: body && { ...body, examples: example ? [example] : [] },
  };
}

/** The line is there where it can run: the script fills it in and shows it. */
function renderCommand(data: FormData): string {
  const filled = fillIn(data);
  const request = requestOf(data, filled, data.address.startsWith("/") ? BASE : "");
  const line = canBeSent(data, filled) ? writeCurl(request, data.token !== undefined) ?? "" : "";
  if (line === "" && data.isEndless) return "";
  const text = escape(data.isEndless ? `${line} -N` : line).replace(BASE, `<var>${BASE}</var>`);
  return `<div class="command"${line ? "" : " hidden"}><small>for sh</small>` +
    `<pre><code>${text}</code></pre><button type="button" class="copy">Copy</button></div>`;
}

/** Renders a form for a script's absence: only a GET of this service that is no write, and whose query says everything. */
function renderWithoutScript(form: FormData): string {
  const { method, address, fields, body, token, isWrite } = form;
  const isQuery = /^\/[^{]*$/.test(address) &&
    fields.every((field) => field.in === "query" || (field.in === "header" && !field.isRequired));
  if (method !== "GET" || !isQuery || body || token || isWrite) return "";
  const inputs = fields.filter((field) => field.in === "query").map(renderInput).join("");
  return `<noscript><form action="${V1}..${
    escape(address)
  }">${inputs}<button>Send</button></form></noscript>`;
}

function renderInput({ name, isRequired, isFilled, example = "", values }: FieldData): string {
  const [label, value] = [escape(name), escape(example)];
  const required = isRequired ? " required" : "";
  if (values) {
    const options = [...isRequired ? [] : [""], ...values].map((one) => {
      const selected = isFilled && one === example ? " selected" : "";
      return `<option${selected}>${escape(one)}</option>`;
    });
    return `<label>${label} <select name="${label}"${required}>${
      options.join("")
    }</select></label>`;
  }
  const filled = value && (isFilled ? ` value="${value}"` : ` placeholder="${value}"`);
  return `<label>${label} <input name="${label}"${filled}${required}></label>`;
}
