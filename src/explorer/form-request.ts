/**
 * The request that a form makes: what is filled in at first, what is wrong with it, where it goes, and the line of
 * `curl` that sends the same. The page's script and the first HTML use it; it needs nothing of a browser.
 *
 * @module
 */
import type { NodeExamples } from "../info/source-cache.ts";
import type { Reference } from "../kinds/kind.ts";
import { isNodeValue } from "../untrusted-text.ts";

// The data of a form are lists without what is empty at their ends, in which 0 stands for what is omitted.

/** The form of an operation: its address begins with `/` where it is at this service. */
export type FormData = readonly [
  method: string,
  address: string,
  fields?: readonly FieldData[] | 0,
  body?: BodyData | 0,
  tokenScheme?: string | 0,
  /** 1 for what may change something: it is sent after a confirmation. */
  isWrite?: number,
  /** The units of the members of its response, as `writeUnits` of `units.ts` writes them. */
  units?: string,
];

export type FieldData = readonly [
  name: string,
  place: string,
  type?: string | 0,
  bits?: number,
  example?: string | 0,
  values?: readonly string[] | 0,
  pattern?: string | 0,
  /** The place of a value that the node itself has. */
  source?: Reference | 0,
  /** A sentence about what to enter where there is no example. */
  hint?: string | 0,
];

export type BodyData = readonly [
  type: string,
  example?: string | 0,
  isRequired?: number,
  /** An example of another node, where none can be filled in. */
  hint?: string | 0,
];

/** The bits: required; several values by the name again for each, or by commas; may hold slashes; the example is filled in. */
export const REQUIRED = 1, AGAIN = 2, COMMA = 4, SPANS = 8, FILLED = 16;

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
export function fillIn(
  [, , fields, body]: FormData,
  examples: NodeExamples = {},
): Filled {
  return {
    fields: (fields || []).map(([, , , bits = 0, example, values, pattern, source]) => {
      if (source && pattern) return nodeValue(examples, source, pattern);
      // Of a choice that has to be made, something is chosen.
      const chosen = values && bits & REQUIRED ? values[0] : "";
      return (bits & FILLED ? example : "") || chosen || "";
    }),
    body: body && body[1] || "",
  };
}

function nodeValue(examples: NodeExamples, source: Reference, pattern: string): string {
  const value = Object.hasOwn(examples, source) ? examples[source] : "";
  return isNodeValue(value, pattern) ? value : "";
}

/** Says what is wrong with what is typed into a field; an empty text if it can be sent. */
export function mistakeIn(
  [name, place, type, bits, , values, pattern]: FieldData,
  text: string,
): string {
  if (text.trim() === "") return bits! & REQUIRED ? `${name} is required` : "";
  // Browsers take these out of an address, and would ask for another one.
  if (place === "path" && /^\.\.?$/.test(text)) return `${name} cannot be ${text}`;
  if (place === "header" && !/^[\t -~\x80-\xff]*$/.test(text)) {
    return `${name} can have the characters of ISO 8859-1 alone`;
  }
  if (bits! & (AGAIN | COMMA)) return "";
  const [types = ""] = (type || "").split(", ");
  if (/^integer( or null)?$/.test(types) && !/^-?\d+$/.test(text)) {
    return `${name} must be a whole number`;
  }
  if (/^number( or null)?$/.test(types) && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) {
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
export function mistakeInBody([type, , isRequired]: BodyData, text: string): string {
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
  [method, address, fields, ofBody]: FormData,
  { fields: texts, body: content }: Filled,
  base: string,
): FormRequest {
  const given = (fields || []).map(([name, place, , bits = 0], at) => ({
    ...{ name, place, bits, text: texts[at] ?? "" },
  })).filter(({ text }) => text !== "");
  const at = (wanted: string) => given.filter(({ place }) => place === wanted);
  let path = address;
  for (const { name, text, bits } of at("path")) {
    const encoded = bits & SPANS
      ? text.split("/").map(percentEncode).join("/")
      : percentEncode(text);
    path = path.replaceAll(`{${name}}`, () => encoded);
  }
  const query = at("query").flatMap(({ name, text, bits }) => {
    const list = bits & (AGAIN | COMMA) ? text.split(",").map((one) => one.trim()) : [text];
    const encoded = list.map(percentEncode);
    return (bits & AGAIN ? encoded : [encoded.join(",")]).map((one) =>
      `${percentEncode(name)}=${one}`
    );
  });
  const [origin = base] = /^https?:\/\/[^/]*/.exec(address) ?? [];
  const rest = path.startsWith("/") ? path : path.slice(origin.length);
  const whole = query.length > 0 ? `${rest}?${query.join("&")}` : rest;
  const body = ofBody && content.trim() ? content : undefined;
  const headers = at("header").map(({ name, text }) => [name, text] as const);
  return {
    method,
    url: origin + encodeParts(whole),
    headers: body === undefined ? headers : [...headers, ["Content-Type", (ofBody as BodyData)[0]]],
    body,
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
export function canBeSent([, , fields, body]: FormData, filled: Filled): boolean {
  return (fields || []).every((field, at) => mistakeIn(field, filled.fields[at] ?? "") === "") &&
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
export const readTokens = (text: string): RegExpStringIterator<RegExpExecArray> =>
  text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g);
