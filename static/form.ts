/** The forms of the simple page, each made of what `src/explorer/render-form.ts` has put into it, when it is opened. */

import {
  AGAIN,
  type BodyData,
  canBeSent,
  COMMA,
  type FieldData,
  FILLED,
  type Filled,
  fillIn,
  type FormData,
  isJson,
  mistakeIn,
  mistakeInBody,
  requestOf,
  REQUIRED,
  writeCurl,
} from "../src/explorer/form-request.ts";
import { readLines } from "../src/explorer/json-lines.ts";
import { element } from "./dom.ts";
import { here } from "./service.ts";

/** A field of a form, and its place for an error. */
export interface Field {
  readonly id: string;
  readonly name: string;
  /** Where a parameter stands, or `body` or `token`. */
  readonly place: string;
  readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  readonly isRequired: boolean;
  readonly error: HTMLElement;
  readonly box: HTMLElement;
}

/** The form of an operation. */
export interface Form {
  /** The name of the operation. */
  readonly title: string;
  readonly data: FormData;
  /** The parameters, in their order. */
  readonly fields: readonly Field[];
  readonly body: Field | undefined;
  readonly token: Field | undefined;
  readonly command: HTMLElement;
  readonly send: HTMLButtonElement;
  readonly status: HTMLElement;
  readonly result: HTMLElement;
  readonly element: HTMLFormElement;
}

const NUMERIC = /^(integer|number)/;

const examples = JSON.parse(document.getElementById("examples")!.textContent!);

/** The tokens that were typed, by their schemes. Nothing is stored: they are held in memory alone. */
const tokens = new Map<string, string>();

let formCount = 0;

/** Makes the form of an operation. */
export function makeForm(details: HTMLDetailsElement): Form {
  const data: FormData = JSON.parse(details.dataset.try!);
  const [, , parameters, ofBody, scheme] = data;
  const id = `try-${formCount++}`;
  const filled = fillIn(data, examples);
  const fields = (parameters || []).map((parameter, at) =>
    makeField(`${id}-${at}`, parameter, filled.fields[at]!)
  );
  const body = ofBody ? makeBody(`${id}-body`, ofBody, filled.body) : undefined;
  const token = scheme ? makeToken(`${id}-token`, scheme) : undefined;
  const send = element("button", { textContent: "Send", className: "send" });
  const article = details.closest("article")!;
  const title = article.querySelector("h3")!.textContent!;
  const boxes = [...fields, body, token].flatMap((field) => field?.box ?? []);
  const actions = element("p", { className: "actions" }, send);
  const form: Form = {
    ...{ title, data, fields, body, token, send },
    command: article.querySelector<HTMLElement>(".command")!,
    status: element("p", { className: "status", role: "status" }),
    result: element("div", { className: "answer" }),
    element: element("form", { noValidate: true, autocomplete: "off" }, ...boxes, actions),
  };
  form.element.setAttribute("aria-label", title);
  form.element.addEventListener("input", () => showCommand(form));
  details.append(form.element, form.status, form.result);
  showCommand(form);
  return form;
}

/** Reads what is filled in. */
export const readForm = ({ fields, body }: Form): Filled => ({
  fields: fields.map(({ input }) => input.value),
  body: body?.input.value ?? "",
});

/** Marks the fields that cannot be sent as they are; returns the first of them. */
export function checkForm({ data: [, , fields, ofBody], ...form }: Form): Field | undefined {
  const all = [...form.fields, ...form.body ? [form.body] : []];
  for (const [at, field] of all.entries()) {
    const { value } = field.input;
    const isBody = field === form.body;
    mark(
      field,
      isBody ? mistakeInBody(ofBody as BodyData, value) : mistakeIn((fields || [])[at]!, value),
    );
  }
  return all.find(({ error }) => error.textContent);
}

export function mark({ input, error }: Field, text: string): void {
  error.textContent = text;
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** Shows the line of `curl` that sends what is filled in, where there is one. */
function showCommand(form: Form): void {
  const filled = readForm(form);
  const line = canBeSent(form.data, filled)
    ? writeCurl(requestOf(form.data, filled, here), form.token !== undefined)
    : undefined;
  form.command.hidden = line === undefined;
  form.command.querySelector("code")!.textContent = line ?? "";
}

function makeField(id: string, data: FieldData, value: string): Field {
  const [name, place, type, bits = 0, example, choices, , , hint] = data;
  const values = choices || [];
  const isRequired = (bits & REQUIRED) > 0;
  const input = values.length > 0 ? makeChoice(values, isRequired) : element("input", {
    type: "text",
    placeholder: hint || (bits & FILLED ? "" : example || ""),
    inputMode: NUMERIC.test(type || "") ? "decimal" : "text",
  });
  input.value = value;
  const list = bits & (AGAIN | COMMA) ? "comma-separated" : "";
  const facts = [place, type, list, isRequired && "required"].filter(Boolean).join(", ");
  return labelled({ id, name, place, input, isRequired }, facts);
}

function makeChoice(values: readonly string[], isRequired: boolean) {
  const options = (isRequired ? values : ["", ...values]).map((value) =>
    element("option", { value, textContent: value || "–" })
  );
  return element("select", {}, ...options);
}

function makeBody(id: string, [type, , needed, hint]: BodyData, example: string): Field {
  const lines = isJson(type) ? readLines(example) : undefined;
  const value = lines?.map(({ text }) => text).join("\n") ?? example;
  const rows = Math.min(16, Math.max(3, value.split("\n").length));
  const isRequired = Boolean(needed);
  const field = {
    id,
    name: "body",
    place: "body",
    input: element("textarea", { value, rows, placeholder: hint || "" }),
  };
  return labelled(
    { ...field, isRequired },
    [type, isRequired && "required"].filter(Boolean).join(", "),
  );
}

/** No password: a browser would offer to keep it. */
function makeToken(id: string, scheme: string): Field {
  const input = element("input", { type: "text", className: "secret" });
  input.value = tokens.get(scheme) ?? "";
  input.dataset.scheme = scheme;
  input.addEventListener("input", () => {
    tokens.set(scheme, input.value.trim());
    for (const other of document.querySelectorAll<HTMLInputElement>("#plain input.secret")) {
      if (other !== input && other.dataset.scheme === scheme) other.value = input.value;
    }
  });
  const field = { id, name: "token", place: "token", input, isRequired: false };
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
