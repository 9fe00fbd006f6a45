/**
 * Renders the form of an operation for the simple page, and the command for the same request.
 *
 * @module
 */
import {
  BASE,
  canBeSent,
  commandOf,
  type FieldData,
  fillIn,
  type OperationForm,
  requestOf,
} from "./form-request.ts";
import { type Html, joinParts, jsonOf, markup, type Part, V1 } from "./html.ts";

export const COPY: Html = markup`<button type="button" class="copy">Copy</button>`;

/**
 * @param title the title of the operation
 * @param most how many optional parameters the form has, and how long an example body is
 */
export function renderForm(
  form: OperationForm,
  title: string,
  most: Readonly<Record<"items" | "body", number>>,
): Html {
  let left = most.items;
  const fields = form.fields.flatMap((field): FieldData[] => {
    if (field.in !== "body") return field.isRequired || left-- > 0 ? [field] : [];
    return field.example && field.example.length > most.body
      ? [{ ...field, example: undefined }]
      : [field];
  });
  const data: OperationForm = { ...form, fields };
  const classes = form.isWrite ? "try write" : "try";
  return markup`
    ${renderCommand(data)}
    <details class="${classes}" data-try='${jsonOf(data)}'>
      <summary aria-label="Try it: ${title}">Try it</summary>
    </details>
    ${renderLink(data)}`;
}

/** Renders the call that the page makes when it opens, with a place for the response. */
export function renderFirst(form: OperationForm): Html {
  const { url } = requestOf(form, fillIn(form), "");
  return markup`
    <div class="first">
      ${renderCommand(form)}
      <output data-call="${url}" aria-label="Its response"></output>
    </div>`;
}

function renderCommand(data: OperationForm): Html {
  const line = commandOf(data, fillIn(data), data.address.startsWith("/") ? BASE : "");
  const [start = "", ...others] = line.split(BASE);
  const base = others.length > 0 && markup`<var>${BASE}</var>`;
  const breakable = (text: string) => joinParts(text.split("/"), markup`/<wbr>`);
  const shown = markup`${breakable(start)}${base}${breakable(others.join(BASE))}`;
  return markup`
    <div class="command"${line === "" && " hidden"}><pre><code>${shown}</code></pre>${COPY}</div>`;
}

function renderLink(data: OperationForm): Part {
  const { method, address, token, isWrite } = data;
  const texts = fillIn(data);
  const { url, headers } = requestOf(data, texts, "");
  const isLink = method === "GET" && address.startsWith("/") && headers.length === 0;
  if (!isLink || token || isWrite || !canBeSent(data, texts)) return "";
  return markup`<noscript><a href="${V1}..${url}">Open</a></noscript>`;
}
