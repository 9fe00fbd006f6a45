/**
 * The request that a form makes: what is filled in at first, what is wrong with it, where it goes, and the line of
 * `curl` that sends the same. The page's script and the first HTML use it; it needs nothing of a browser.
 *
 * @module
 */
import type { NodeExamples } from "../info/source-cache.ts";
import type { Reference } from "../kinds/kind.ts";
import type { Place } from "../openapi/callable-operations.ts";
import { isNodeValue } from "../untrusted-text.ts";
import type { Units } from "./units.ts";

/** The form of an operation, which the first HTML has as data of the page's script. */
export interface FormData {
  readonly method: string;
  /** Begins with `/` where it is at this service. */
  readonly address: string;
  readonly fields: readonly FieldData[];
  readonly body?: BodyData | undefined;
  /** The scheme of the token that it needs at this service. */
  readonly token?: string | undefined;
  /** True for what may change something: it is sent after a confirmation. */
  readonly isWrite?: boolean | undefined;
  /** True if its response does not end, so that a page cannot send it. */
  readonly isEndless?: boolean | undefined;
  /** The units of the members of its response, by their names. */
  readonly units?: Units | undefined;
}

export interface FieldData {
  readonly name: string;
  readonly in: Place;
  /** Such as `integer` or `string, date-time`. */
  readonly type?: string | undefined;
  readonly isRequired?: boolean | undefined;
  /** The way of several values: by the name again for each, or by commas. */
  readonly list?: "again" | "comma" | undefined;
  /** True if its value may hold slashes that separate segments of the path. */
  readonly spans?: boolean | undefined;
  /** The example or the default as text. */
  readonly example?: string | undefined;
  /** True if the example is filled in, and not only shown while the field is empty. */
  readonly isFilled?: boolean | undefined;
  /** The choice of values, where not anything may be written. */
  readonly values?: readonly string[] | undefined;
  /** An expression that takes no longer for a long text than a reader waits. */
  readonly pattern?: string | undefined;
  /** The place of the node's own value that is filled in. */
  readonly source?: Reference | undefined;
  /** A sentence about what to enter, where nothing is filled in. */
  readonly hint?: string | undefined;
}

export interface BodyData {
  readonly type: string;
  readonly isRequired?: boolean | undefined;
  /** Examples, the longest first: the first that is short enough is shown. */
  readonly examples: readonly string[];
  /** True if an example of another node is only shown while the body is empty. */
  readonly isAsked?: boolean | undefined;
}

/** What is filled in: the texts of the fields, in their order, and the content. */
export interface Filled {
  readonly fields: readonly string[];
  readonly body: string;
}

/** A request without the token, which is added when it is sent. */
export interface FormRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

/** In UTF-16 code units: longer texts are not held against a pattern. */
const MATCHED_MAX = 1000;

/** Fills a form in with its examples; one that is the node's own has to fit the pattern of its field. */
export function fillIn({ fields, body }: FormData, examples: NodeExamples = {}): Filled {
  return {
    fields: fields.map(({ source, pattern, values, isRequired, isFilled, example = "" }) => {
      if (source && pattern) return nodeValue(examples, source, pattern);
      // Of a choice that has to be made, something is chosen.
      return (isFilled && example) || (isRequired && values?.[0]) || "";
    }),
    body: (!body?.isAsked && body?.examples[0]) || "",
  };
}

function nodeValue(examples: NodeExamples, source: Reference, pattern: string): string {
  const value = Object.hasOwn(examples, source) ? examples[source] : "";
  return isNodeValue(value, pattern) ? value : "";
}

/** Says what is wrong with what is typed into a field; an empty text if it can be sent. */
export function mistakeIn(field: FieldData, text: string): string {
  const { name, in: place, type = "", isRequired, list, values, pattern } = field;
  if (text.trim() === "") return isRequired ? `${name} is required` : "";
  // Browsers take these out of an address, and would ask for another one.
  if (place === "path" && /^\.\.?$/.test(text)) return `${name} cannot be ${text}`;
  if (place === "header" && !/^[\t -~\x80-\xff]*$/.test(text)) {
    return `${name} can have the characters of ISO 8859-1 alone`;
  }
  if (list) return "";
  if (/^integer( or null)?(,|$)/.test(type) && !/^-?\d+$/.test(text)) {
    return `${name} must be a whole number`;
  }
  if (/^number( or null)?(,|$)/.test(type) && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) {
    return `${name} must be a number`;
  }
  if (values && !values.includes(text)) return `${name} must be one of ${values.join(", ")}`;
  return !pattern || fits(text, pattern) ? "" : `${name} must match ${pattern}`;
}

function fits(text: string, pattern: string): boolean {
  try {
    return text.length > MATCHED_MAX || new RegExp(pattern, "u").test(text);
  } catch {
    // Not every expression of a description is one of this language.
    return true;
  }
}

/** Says what is wrong with a content that is typed in; an empty text if it can be sent. */
export function mistakeInBody({ type, isRequired }: BodyData, text: string): string {
  if (text.trim() === "") return isRequired ? "body is required" : "";
  if (!isJson(type)) return "";
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `body must be JSON: ${(error as Error).message}`;
  }
}

export const isJson = (type: string): boolean => /json/i.test(type) && !/ndjson/i.test(type);

/** Makes the request of a form, below an address without a slash at the end. */
export function requestOf(
  { method, address, fields, body }: FormData,
  filled: Filled,
  base: string,
): FormRequest {
  const given = fields.map((field, at) => ({ ...field, text: filled.fields[at] ?? "" }))
    .filter(({ text }) => text !== "");
  const at = (wanted: Place) => given.filter(({ in: place }) => place === wanted);
  let path = address;
  for (const { name, text, spans } of at("path")) {
    const encoded = spans ? text.split("/").map(percentEncode).join("/") : percentEncode(text);
    path = path.replaceAll(`{${name}}`, () => encoded);
  }
  const query = at("query").flatMap(({ name, text, list }) => {
    const values = list ? text.split(",").map((one) => one.trim()) : [text];
    const encoded = values.map(percentEncode);
    const shown = list === "again" ? encoded : [encoded.join(",")];
    return shown.map((value) => `${percentEncode(name)}=${value}`);
  });
  const [origin = base] = /^https?:\/\/[^/]*/.exec(address) ?? [];
  const rest = path.startsWith("/") ? path : path.slice(origin.length);
  const headers = at("header").map(({ name, text }) => [name, text] as const);
  const isSent = body !== undefined && filled.body.trim() !== "";
  return {
    method,
    url: origin + encodeParts(query.length > 0 ? `${rest}?${query.join("&")}` : rest),
    headers: isSent ? [...headers, ["Content-Type", body.type]] : headers,
    body: isSent ? filled.body : undefined,
  };
}

/** Percent-encodes a text as a part of an address, also what curl reads as a pattern and a shell as more than a text. */
const percentEncode = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Percent-encodes the same in an address whose parts are separated, and encoded where they have to be. */
const encodeParts = (address: string): string =>
  address.replaceAll(/[^\w.~/?&=:@,+%-]+/g, percentEncode);

/** Tells whether a form can be sent as it is filled in. */
export function canBeSent({ fields, body }: FormData, filled: Filled): boolean {
  return fields.every((field, at) => mistakeIn(field, filled.fields[at] ?? "") === "") &&
    (!body || mistakeInBody(body, filled.body) === "");
}

/** Stands in a line for this service, whose address the first HTML does not know. */
export const BASE = "$BASE_URL";

/**
 * Writes a request as a line of `curl` for POSIX `sh`; `undefined` where there is none that is safe. The token stands in
 * a variable, as the first HTML's own address does.
 */
export function writeCurl(request: FormRequest, hasToken: boolean): string | undefined {
  const { method, url, headers, body } = request;
  const isHere = url.startsWith(`${BASE}/`);
  const parts: (string | undefined)[] = ["curl", isHere ? `"${url}"` : writeShell(url)];
  if (method === "HEAD") parts.push("-I");
  else if (method !== (body === undefined ? "GET" : "POST")) parts.push("-X", writeShell(method));
  for (const [name, value] of headers) {
    parts.push("-H", TOKEN.test(name) ? writeShell(`${name}: ${value}`) : undefined);
  }
  if (hasToken) parts.push("-H", '"Authorization: Bearer $NODEFACE_TOKEN"');
  if (body !== undefined) parts.push("--data-raw", writeShell(writeContent(request)));
  const isSafe = TOKEN.test(method) && parts.every((part) => part !== undefined);
  return isSafe ? parts.join(" ") : undefined;
}

/** The name of a method or of a header (RFC 9110, section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** What is not seen, or changes what is seen: pasted into a terminal it may be pressed keys. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Writes the code units of what is not seen as `\u…`: for JSON, and for people. */
export const showUnseen = (text: string): string =>
  text.replaceAll(
    UNSEEN,
    (character) =>
      character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join(""),
  );

/** Writes a text as one word of `sh`; `undefined` where it has what is not seen. */
export function writeShell(text: string): string | undefined {
  if (text.search(UNSEEN) >= 0) return undefined;
  return /^[\w./:@%+,][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeContent({ headers, body = "" }: FormRequest): string {
  const [, type = ""] = headers.at(-1) ?? [];
  return isJson(type) ? showUnseen([...readTokens(body)].map(([token]) => token).join("")) : body;
}

/** Reads the tokens of JSON, without the white space between them. */
export const readTokens = (text: string): IterableIterator<RegExpMatchArray> =>
  text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g);
