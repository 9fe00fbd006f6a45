/**
 * Renders the form in which an operation is tried. `static/try.ts` makes a form of the data; without a script there
 * is one for what is asked by its address alone.
 *
 * @module
 */
import { escape, V1 } from "./html.ts";
import type { Field, Form } from "./read-form.ts";
import type { Operation } from "./read-outline.ts";

// The data of a form are lists without what is empty at their ends, in which 0 stands for what is omitted.

/** The form of an operation: its address begins with `/` where it is at this service. */
export type FormData = readonly [
  method: string,
  address: string,
  fields?: readonly FieldData[] | 0,
  body?: BodyData | 0,
  tokenScheme?: string | 0,
];

export type FieldData = readonly [
  name: string,
  place: string,
  type?: string | 0,
  bits?: number,
  example?: string | 0,
  values?: readonly string[] | 0,
];

export type BodyData = readonly [type: string, example?: string | 0, isRequired?: number];

/** The bits: required; several values by the name again for each, or by commas; may hold slashes; the example is filled in. */
export const REQUIRED = 1, AGAIN = 2, COMMA = 4, SPANS = 8, FILLED = 16;

interface FormDetail {
  /** The length of the example of a body, in characters. */
  readonly body: number;
  /** The most optional parameters. */
  readonly items: number;
}

/** A server without a form is one of HTTP that is elsewhere. */
const ELSEWHERE = /^https?:/;

/** Renders the form of an operation; an empty text where it cannot be tried. */
export function renderForm(operation: Operation, detail: FormDetail): string {
  const { form } = operation;
  if (!form) return "";
  return `<details class="try" data-try='${attributeOf(dataOf(operation, form, detail))}'>` +
    `<summary aria-label="Try it: ${escape(operation.title)}">Try it</summary></details>${
      renderWithoutScript(operation, form)
    }`;
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
    body && trimmed([body.type, example, Number(body.isRequired)]),
    token,
  ]);
}

function dataOfField({ name, type, example, values, ...field }: Field): FieldData {
  const bits = (field.isRequired ? REQUIRED : 0) | (field.spans ? SPANS : 0) |
    (field.list === "again" ? AGAIN : field.list === "comma" ? COMMA : 0) |
    (field.isFilled ? FILLED : 0);
  return trimmed([name, field.in, type, bits, example, values]);
}

function trimmed<Data>(list: unknown[]): Data {
  const isEmpty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  const end = list.findLastIndex((value) => !isEmpty(value));
  return list.slice(0, end + 1).map((value) => value ?? 0) as Data;
}

/** Writes JSON for an attribute in single quotes: what HTML would read is written as JSON's own escapes. */
function attributeOf(value: unknown): string {
  return JSON.stringify(value).replace(
    /[&<>'\u007f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
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
