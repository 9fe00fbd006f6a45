/**
 * Renders the form in which an operation is tried, and the line of `curl` that sends the same. `static/form.ts` makes a
 * form of the data; without a script there is one for what is asked by its address alone.
 *
 * @module
 */
import {
  AGAIN,
  BASE,
  canBeSent,
  COMMA,
  type FieldData,
  FILLED,
  fillIn,
  type FormData,
  requestOf,
  REQUIRED,
  SPANS,
  writeCurl,
} from "./form-request.ts";
import { escape, jsonOf, V1 } from "./html.ts";
import type { Field, Form } from "./read-form.ts";
import type { Operation } from "./read-outline.ts";

interface FormDetail {
  /** The length of the example of a body, in characters. */
  readonly body: number;
  /** The most optional parameters. */
  readonly items: number;
}

/** A server without a form is one of HTTP that is elsewhere. */
const ELSEWHERE = /^https?:/;

/** Renders the form of an operation and its line; an empty text where it cannot be tried. */
export function renderForm(operation: Operation, detail: FormDetail): string {
  const { form } = operation;
  if (!form) return "";
  const data = dataOf(operation, form, detail);
  const line = renderCommand(data, form);
  if (form.isEndless) return line;
  return `${line}<details class="try${form.isWrite ? " write" : ""}" data-try='${jsonOf(data)}'>` +
    `<summary aria-label="Try it: ${escape(operation.title)}">Try it</summary></details>${
      renderWithoutScript(operation, form)
    }`;
}

/** The line is there where it can run: the script fills it in and shows it. */
function renderCommand(data: FormData, { isEndless }: Form): string {
  const filled = fillIn(data);
  const isHere = data[1].startsWith("/");
  const line = canBeSent(data, filled)
    ? writeCurl(requestOf(data, filled, isHere ? BASE : ""), Boolean(data[4])) ?? ""
    : "";
  if (line === "" && isEndless) return "";
  const text = escape(isEndless ? `${line} -N` : line).replace(BASE, `<var>${BASE}</var>`);
  return `<div class="command"${line ? "" : " hidden"}><pre><code>${text}</code></pre>` +
    `<button type="button" class="copy">Copy</button></div>`;
}

function dataOf({ method, server, path }: Operation, form: Form, detail: FormDetail): FormData {
  const { fields, body, token } = form;
  let left = detail.items;
  const shown = fields.filter(({ isRequired }) => isRequired || left-- > 0);
  const example = body?.examples.find(({ length }) => length <= detail.body) ?? "";
  return trimmed([
    method,
    server + path,
    shown.map(dataOfField),
    body && trimmed([
      ...body.isAsked ? [body.type, "", 1, example] : [body.type, example, Number(body.isRequired)],
    ]),
    token,
    Number(form.isWrite),
    form.units,
  ]);
}

function dataOfField({ name, type, example, values, pattern, ...field }: Field): FieldData {
  const bits = (field.isRequired ? REQUIRED : 0) | (field.spans ? SPANS : 0) |
    (field.list === "again" ? AGAIN : field.list === "comma" ? COMMA : 0) |
    (field.isFilled ? FILLED : 0);
  const { source, hint } = field;
  return trimmed([
    name,
    field.in,
    type,
    bits,
    source ? "" : example,
    values,
    pattern,
    source,
    hint,
  ]);
}

function trimmed<Data>(list: unknown[]): Data {
  const isEmpty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  const end = list.findLastIndex((value) => !isEmpty(value));
  return list.slice(0, end + 1).map((value) => isEmpty(value) ? 0 : value) as Data;
}

/** Renders a form for a script's absence: only a GET at this service whose parameters are all in the query. */
function renderWithoutScript({ method, server, path }: Operation, form: Form): string {
  const { fields, body, token } = form;
  const isQuery = !path.includes("{") &&
    fields.every((field) => field.in === "query" || (field.in === "header" && !field.isRequired));
  if (method !== "GET" || ELSEWHERE.test(server) || !isQuery || body || token) return "";
  const action = `${V1}..${escape(server + path)}`;
  const inputs = fields.filter((field) => field.in === "query").map(renderInput).join("");
  return `<noscript><form action="${action}">${inputs}<button>Send</button></form></noscript>`;
}

function renderInput({ name, isRequired, isFilled, example, values }: Field): string {
  const [label, value] = [escape(name), escape(example)];
  const required = isRequired ? " required" : "";
  if (values.length > 0) {
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
