/**
 * Turns an operation's form into a request: fills in and checks the fields, builds the URL, and
 * writes a `curl` command. Used by the page's script and for the initial HTML.
 *
 * @module
 */
import { jsonOfText } from "../json/typed-text.ts";
import type { NodeExamples } from "../info/source-cache.ts";
import type { Reference } from "../kinds/parts.ts";
import type { ParameterLocation } from "../openapi/node-operation.ts";
import { isToken, showUnseen, UNSEEN } from "../untrusted-text.ts";
import type { Units } from "./units.ts";

/** The HTML passes this data to the page's script as JSON. */
export interface OperationForm {
  readonly method: string;
  /** The URL template; begins with `/` if this service is the server. */
  readonly address: string;
  /** The parameters, then the body (if any). */
  readonly fields: readonly FieldData[];
  readonly token?: string | undefined;
  readonly isWrite?: boolean | undefined;
  readonly isEndless?: boolean | undefined;
  /** True if the same call can also be sent by `POST`, with the parameters as a JSON object. */
  readonly isPostedToo?: boolean | undefined;
  readonly units?: Units | undefined;
}

export interface FieldData {
  readonly name: string;
  readonly in: ParameterLocation | "body";
  /** The types of its values, such as `integer` and `null`. */
  readonly types?: readonly string[] | undefined;
  /** The `format` of the schema, such as `date-time`. */
  readonly format?: string | undefined;
  /** True if it takes only numbers, and none below 0. */
  readonly isUnsigned?: boolean | undefined;
  /** The media type of a body, and of a parameter with `content`. */
  readonly mediaType?: string | undefined;
  readonly isRequired?: boolean | undefined;
  /** What separates several values: `again` stands for `a=1&a=2`, and `,` for `a=1,2`. */
  readonly list?: "again" | "," | "%7C" | "%20" | undefined;
  /** True if the form cannot write a value in the parameter's style. */
  readonly isUnsupported?: boolean | undefined;
  /** True if slashes in the value separate path segments. */
  readonly spans?: boolean | undefined;
  readonly example?: string | undefined;
  /**
   * True if the example is the field's initial value; false if the example is only a placeholder.
   */
  readonly isFilled?: boolean | undefined;
  readonly values?: readonly string[] | undefined;
  /**
   * The places of values in the node's responses. In `example`, each place is in braces. A place
   * such as `op/getblock#/tx/0` is in the response to another operation of the page.
   */
  readonly sources?: readonly Reference[] | undefined;
  readonly hint?: string | undefined;
}

export interface FormRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

export function fillIn({ fields }: OperationForm, examples: NodeExamples = {}): string[] {
  return fields.map(({ sources, values, isRequired, isFilled, example = "" }) => {
    if (sources) {
      const isKnown = sources.every((source) => Object.hasOwn(examples, source));
      const fill = (text: string, source: Reference) =>
        text.replaceAll(`{${source}}`, () => examples[source]!);
      return isKnown ? sources.reduce(fill, example) : "";
    }
    return (isFilled && example) || (isRequired && values?.[0]) || "";
  });
}

/** Returns an error message, or an empty string if the text is valid. */
export function mistakeIn(field: FieldData, text: string): string {
  const { name, in: place, mediaType, isRequired, list, values, sources = [] } = field;
  const sent = list ? itemsOf(text).join(list) : text;
  if (sent.trim() === "" && isRequired) {
    const [, operation] = /^op\/(.*)#/.exec(sources[0] ?? "") ?? [];
    return `${name} is required${operation ? `, and ${operation} has none now` : ""}`;
  }
  if (text.trim() === "") return "";
  if (field.isUnsupported) return `${name} cannot be sent from here`;
  // Browsers resolve dot segments, so they would request a different path.
  const segments = list ? [sent] : segmentsOf(field, text);
  if (place === "path" && segments.some((part) => /^\.\.?$/.test(part))) {
    return `${name} cannot have the segment . or ..`;
  }
  if (place === "header" && !/^[\t -~\x80-\xff]*$/.test(sent)) {
    return `${name} must consist of ISO 8859-1 characters`;
  }
  if (list) return "";
  if (mediaType !== undefined) {
    try {
      if (isJson(mediaType)) JSON.parse(text);
      return "";
    } catch (error) {
      return `${name} must be JSON: ${(error as Error).message}`;
    }
  }
  if (takesOnly(field, "integer") && !/^-?\d+$/.test(text)) {
    return `${name} must be a whole number`;
  }
  if (takesOnly(field, "number") && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) {
    return `${name} must be a number`;
  }
  if (values && !values.includes(text)) return `${name} must be one of ${values.join(", ")}`;
  // A description's `pattern` is not checked, since a hostile pattern could freeze the page.
  return "";
}

const typesBesideNull = ({ types = [] }: Pick<FieldData, "types">): readonly string[] =>
  types.filter((type) => type !== "null");

const takesOnly = (field: Pick<FieldData, "types">, wanted: string): boolean =>
  typesBesideNull(field).join() === wanted;

/** Tells whether all values of a field are numbers. */
export const isNumeric = (field: Pick<FieldData, "types">): boolean =>
  /^(?:integer|number)(?:,(?:integer|number))*$/.test(typesBesideNull(field).join());

/** Tells whether a field takes numbers, perhaps beside other values. */
export const takesNumbers = ({ types = [] }: Pick<FieldData, "types">): boolean =>
  types.includes("integer") || types.includes("number");

/** Tells whether a field takes numbers or booleans, perhaps beside other values. */
export const takesNumberOrBoolean = (field: Pick<FieldData, "types">): boolean =>
  takesNumbers(field) || field.types?.includes("boolean") === true;

export const isJson = (mediaType: string = ""): boolean =>
  /json/i.test(mediaType) && !/ndjson/i.test(mediaType);

const GROUPED_DIGITS = /^\d{1,3}([ \u00a0\u202f]\d{3})+$/;
/** A number as this page shows it. */
const COPIED_NUMBER = /^\d{1,3}(\u202f\d{3})+$/;

/** Removes spaces around a text, and those between the digits of a number. */
export function cleanText(text: string, field: Pick<FieldData, "types"> = {}): string {
  const grouped = isNumeric(field) ? GROUPED_DIGITS : COPIED_NUMBER;
  return text.trim().replace(grouped, (digits) => digits.replaceAll(/\D/g, ""));
}

/** Addresses such as `/ip4/10.0.0.1/tcp/1634` begin with a slash, which the path already has. */
const segmentsOf = ({ spans }: Pick<FieldData, "spans">, text: string): string[] =>
  spans ? text.replace(/^\/(?=.)/, "").split("/") : [text];

/** Returns the items of a list: separated by commas, or a JSON list of strings. */
export function itemsOf(text: string): string[] {
  const items = /^\s*\[/.test(text) ? parsed(text) : undefined;
  const isOfStrings = Array.isArray(items) && items.every((item) => typeof item === "string");
  return isOfStrings ? items : text.split(/\s*,\s*/);
}

/** The service refuses a longer target of a request. */
const URL_LENGTH_MAX = 8000;

/**
 * A URL that would be too long is replaced by content.
 *
 * @param base this service's URL, without a trailing slash
 */
export function requestOf(
  form: OperationForm,
  texts: readonly string[],
  base: string,
): FormRequest {
  const { method, address, fields, isEndless, isPostedToo } = form;
  const given = fields.map((field, at) => ({ ...field, text: texts[at] ?? "" }))
    .filter(({ text }) => text !== "");
  const at = (wanted: FieldData["in"]) => given.filter(({ in: place }) => place === wanted);
  let path = address;
  for (const { name, text, spans, list } of at("path")) {
    const parts = list ? itemsOf(text) : segmentsOf({ spans }, text);
    const encoded = parts.map(percentEncode).join(spans ? "/" : list);
    path = path.replaceAll(`{${name}}`, () => encoded);
  }
  const query = at("query").flatMap(({ name, text, list }) => {
    const encoded = (list ? itemsOf(text) : [text]).map(percentEncode);
    const shown = list === "again" ? encoded : [encoded.join(list)];
    return shown.map((value) => `${percentEncode(name)}=${value}`);
  });
  const [origin = base] = /^https?:\/\/[^/]*/.exec(address) ?? [];
  const rest = path.startsWith("/") ? path : path.slice(origin.length);
  const headers = at("header").map(({ name, text, list }) =>
    [name, list ? itemsOf(text).join(list) : text] as const
  );
  if (isEndless) headers.push(["Accept", "text/event-stream"]);
  const [body] = at("body").filter(({ text }) => text.trim() !== "");
  const url = origin + encodeParts(query.length > 0 ? `${rest}?${query.join("&")}` : rest);
  if (isPostedToo && !isEndless && url.length > URL_LENGTH_MAX && given.every(hasKnownType)) {
    const members = at("query").map((field) =>
      `${JSON.stringify(field.name)}:${writeValue(field, field.text)}`
    );
    const type = ["Content-Type", "application/json"] as const;
    const body = `{${members.join(",")}}`;
    return { method: "POST", url: origin + encodeParts(rest), headers: [...headers, type], body };
  }
  return {
    method,
    url,
    headers: body ? [...headers, ["Content-Type", body.mediaType ?? ""]] : headers,
    body: body?.text,
  };
}

/** In a query, the service decides whether such a text is a number, a string or a hash. */
const hasKnownType = (field: FieldData & { readonly text: string }): boolean => {
  const { types, mediaType, text } = field;
  if (types === undefined) return mediaType !== undefined;
  return takesNumbers(field) || !(types.includes("string") && /^\d+$/.test(text));
};

/**
 * Writes a value as JSON, as the service reads it in a query. A field without types may have an
 * object, a list or a boolean.
 */
export function writeValue({ types = ["boolean"], mediaType }: FieldData, text: string): string {
  if (mediaType === undefined) return compact(jsonOfText(text, types));
  return isJson(mediaType) ? compact(text) : JSON.stringify(text);
}

/** Returns `undefined` for a text that is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Percent-encodes a part of a URL, including characters that are special to curl or a shell. */
const percentEncode = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** A path with percent-encoded `$!'()*` would not match a template that has them as they are. */
const encodeParts = (address: string): string =>
  address.replaceAll(/[^\w.~/?&=:@,+%$!'()*-]+/g, percentEncode);

export const canBeSent = ({ fields }: OperationForm, texts: readonly string[]): boolean =>
  fields.every((field, at) => mistakeIn(field, texts[at] ?? "") === "");

export function commandOf(form: OperationForm, texts: readonly string[], base: string): string {
  if (!canBeSent(form, texts)) return "";
  return writeCurl(requestOf(form, texts, base), form) ?? "";
}

/** A placeholder for this service's URL, which is unknown when the HTML is rendered. */
export const BASE = "$BASE_URL";

/**
 * Writes a command for POSIX `sh`, with the token as a variable. Returns `undefined` if the command
 * is unsafe.
 */
export function writeCurl(
  request: FormRequest,
  { token, isEndless }: Pick<OperationForm, "token" | "isEndless">,
): string | undefined {
  const { method, url, headers, body } = request;
  const parts: (string | undefined)[] = ["curl"];
  if (isEndless) parts.push("-N");
  parts.push(writeShellUrl(url));
  if (method === "HEAD") parts.push("-I");
  else if (method !== (body === undefined ? "GET" : "POST")) parts.push("-X", writeShell(method));
  for (const [name, value] of headers) {
    parts.push("-H", isToken(name) ? writeShell(`${name}: ${value}`) : undefined);
  }
  if (token !== undefined) parts.push("-H", '"Authorization: Bearer $NODEFACE_TOKEN"');
  if (body !== undefined) {
    const [, type = ""] = headers.at(-1) ?? [];
    parts.push("--data-raw", writeShell(isJson(type) ? showUnseen(compact(body)) : body));
  }
  const isSafe = isToken(method) && parts.every((part) => part !== undefined);
  return isSafe ? parts.join(" ") : undefined;
}

function writeShellUrl(url: string): string | undefined {
  if (!url.startsWith(`${BASE}/`)) return writeShell(url);
  const path = url.slice(BASE.length);
  return /[$!]/.test(path) ? `"${BASE}"${writeShell(path)}` : `"${url}"`;
}

export function writeShell(text: string): string | undefined {
  if (text.search(UNSEEN) >= 0) return undefined;
  return /^[\w./:@%+,][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Removes the white space between the tokens of a JSON text. */
export const compact = (json: string): string =>
  [...readTokens(json)].map(([token]) => token).join("");

export const readTokens = (text: string): IterableIterator<RegExpMatchArray> =>
  text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g);
