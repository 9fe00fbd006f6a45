/** Makes the forms of the simple page from the data that `src/explorer/render-content.ts` writes. */
import {
  type BodyData,
  canBeSent,
  type FieldData,
  type Filled,
  fillIn,
  type FormData,
  isJson,
  mistakeIn,
  mistakeInBody,
  requestOf,
  writeCurl,
} from "../src/explorer/form-request.ts";
import { readLines } from "../src/explorer/json-lines.ts";
import { element, here } from "./service.ts";

export interface Field {
  readonly name: string;
  /** The location of a parameter, or `body` or `token`. */
  readonly place: string;
  readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  readonly error: HTMLElement;
  readonly box: HTMLElement;
  /** Returns the error in a text; an empty string if the text can be sent. */
  readonly mistakeIn: (text: string) => string;
}

export interface Form {
  readonly title: string;
  readonly data: FormData;
  readonly fields: readonly Field[];
  readonly body: Field | undefined;
  readonly token: Field | undefined;
  readonly command: HTMLElement;
  readonly send: HTMLButtonElement;
  readonly status: HTMLElement;
  readonly result: HTMLElement;
  readonly element: HTMLFormElement;
}

const examples = JSON.parse(document.getElementById("examples")!.textContent!);

/** The tokens that were typed, by security scheme; kept only in memory. */
const tokens = new Map<string, string>();
let fieldCount = 0;

export function makeForm(details: HTMLDetailsElement): Form {
  const data: FormData = JSON.parse(details.dataset.try!);
  const filled = fillIn(data, examples);
  const fields = data.fields.map((field, at) => makeField(field, filled.fields[at]!));
  const body = data.body && makeBody(data.body, filled.body);
  const token = data.token === undefined ? undefined : makeToken(data.token);
  const send = element("button", { textContent: "Send", className: "send" });
  const article = details.closest("article")!;
  const title = article.querySelector("h3")!.textContent!;
  const boxes = [...fields, body, token].flatMap((field) => field?.box ?? []);
  boxes.push(element("p", { className: "actions" }, send));
  const form: Form = {
    ...{ title, data, fields, body, token, send },
    command: article.querySelector<HTMLElement>(".command")!,
    status: element("p", { className: "status", role: "status" }),
    result: element("div", { className: "answer" }),
    element: element("form", { noValidate: true, autocomplete: "off", ariaLabel: title }, ...boxes),
  };
  form.element.addEventListener("input", () => showCommand(form));
  details.append(form.element, form.status, form.result);
  showCommand(form);
  return form;
}

export const readForm = ({ fields, body }: Form): Filled => ({
  fields: fields.map(({ input }) => input.value),
  body: body?.input.value ?? "",
});

/** Marks the fields with errors; returns the first one. */
export function checkForm({ fields, body }: Form): Field | undefined {
  const all = [...fields, ...body ? [body] : []];
  for (const field of all) mark(field, field.mistakeIn(field.input.value));
  return all.find(({ error }) => error.textContent);
}

export function mark({ input, error }: Field, text: string): void {
  error.textContent = text;
  input.ariaInvalid = text ? "true" : null;
}

function showCommand(form: Form): void {
  const filled = readForm(form);
  const line = canBeSent(form.data, filled)
    ? writeCurl(requestOf(form.data, filled, here), form.token !== undefined)
    : undefined;
  form.command.hidden = line === undefined;
  form.command.querySelector("code")!.textContent = line ?? "";
}

function makeField(data: FieldData, value: string): Field {
  const { name, in: place, type = "", isRequired = false, list, example = "", values } = data;
  const options = [...isRequired ? [] : [""], ...values ?? []]
    .map((value) => element("option", { value, textContent: value || "–" }));
  const input = values ? element("select", {}, ...options) : element("input", {
    type: "text",
    placeholder: data.hint ?? (data.isFilled ? "" : example),
    inputMode: /^(integer|number)/.test(type) ? "decimal" : "text",
  });
  input.value = value;
  const facts = [place, type, list ? "comma-separated" : ""];
  const check = (text: string) => mistakeIn(data, text);
  return makeLabelled({ name, place, input, mistakeIn: check }, facts, isRequired);
}

function makeBody(data: BodyData, example: string): Field {
  const { type, isRequired, isAsked, examples: [hint = ""] } = data;
  const lines = isJson(type) ? readLines(example) : undefined;
  const value = lines?.map(({ text }) => text).join("\n") ?? example;
  const rows = Math.min(16, Math.max(3, value.split("\n").length));
  const input = element("textarea", { value, rows, placeholder: isAsked ? hint : "" });
  const check = (text: string) => mistakeInBody(data, text);
  return makeLabelled({ name: "body", place: "body", input, mistakeIn: check }, [type], isRequired);
}

/** Makes the field of a token. Its type is not `password`, since browsers offer to store passwords. */
function makeToken(scheme: string): Field {
  const input = element("input", { type: "text", className: "secret" });
  input.value = tokens.get(scheme) ?? "";
  input.dataset.scheme = scheme;
  input.addEventListener("input", () => {
    tokens.set(scheme, input.value.trim());
    for (const other of document.querySelectorAll<HTMLInputElement>("#plain input.secret")) {
      if (other !== input && other.dataset.scheme === scheme) other.value = input.value;
    }
  });
  const field = { name: "token", place: "token", input, mistakeIn: () => "" };
  return makeLabelled(field, ["kept until you leave this page"]);
}

function makeLabelled(
  { name, place, input, mistakeIn }: Omit<Field, "error" | "box">,
  facts: readonly string[],
  isRequired = false,
): Field {
  const id = `field-${fieldCount++}`;
  const shown = [...facts, isRequired ? "required" : ""].filter(Boolean).join(", ");
  const words = [element("code", { textContent: name }), " ", element("i", { textContent: shown })];
  Object.assign(input, { id, name, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  input.setAttribute("aria-describedby", `${id}-error`);
  if (isRequired) input.ariaRequired = "true";
  const error = element("p", { id: `${id}-error`, className: "error" });
  const label = element("label", { htmlFor: id }, ...words);
  const box = element("div", { className: "field" }, label, input, error);
  const field = { name, place, input, mistakeIn, error, box };
  input.addEventListener("input", () => mark(field, ""));
  return field;
}
