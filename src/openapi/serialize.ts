/**
 * Writes a document in both forms, in pieces, so that it is never there as one long text.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { isObject, type Json } from "../json/values.ts";

/** How deep objects are taken apart: the paths, their operations, the components of each kind. */
const DEPTH = 4;

/** What may stand as it is, unless YAML or its version 1.1 takes it for something else. */
const PLAIN =
  /^[A-Za-z_/($][\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const NOT_PLAIN = /: |[: ]$| #|^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A key that may stand before a colon as it is. */
const PLAIN_KEY = /^[A-Za-z_/$][\w/{}.$-]*$/;

/** The longest key that may stand before its colon on one line (YAML 1.2.2, section 8.2.2). */
const KEY_MAX = 1000;

/** A text of lines that says the same as a block scalar. */
const LINES =
  /^(?!\s)[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const NOT_LINES = /^[^\n]*$|\n[ \t]+(?:\n|$)/;

/** What `JSON` writes as it is, and YAML does not count among the printable characters. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Writes JSON in one line, piece by piece. */
export function* jsonPieces(value: unknown, depth: number = DEPTH): Generator<string> {
  if (depth === 0 || !isObject(value)) return yield formatJson(value);
  let before = "{";
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    yield* jsonPieces(value[key], depth - 1);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

/** Writes a whole document of YAML for people to read, piece by piece. */
export function* yamlPieces(document: Json, depth: number = DEPTH, pad = ""): Generator<string> {
  const keys = Object.keys(document);
  if (keys.length === 0) yield "{}\n";
  for (const key of keys) {
    const value = document[key];
    if (value === undefined) continue;
    const hasMembers = isObject(value) && Object.values(value).some((each) => each !== undefined);
    if (depth === 1 || !hasMembers) {
      yield formatMember(pad, key, value, pad);
      continue;
    }
    yield `${pad}${formatKey(key, pad)}\n`;
    yield* yamlPieces(value, depth - 1, `${pad}  `);
  }
}

/**
 * Writes an object as a block mapping.
 *
 * @param value what to write
 * @param indent how many spaces stand before each line
 */
export function formatYaml(value: Json, indent = 0): string {
  return formatMembers(value, " ".repeat(indent), " ".repeat(indent));
}

/** Writes the items of a list as a block sequence. */
export function formatItems(items: readonly unknown[], indent: number): string {
  const pad = " ".repeat(indent);
  return items.map((item) => formatItem(item, pad, pad)).join("");
}

/** The members of an object, one after the other; something else may stand before the first. */
function formatMembers(value: Json, lead: string, pad: string): string {
  let text = "";
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) {
      text += formatMember(text === "" ? lead : pad, key, value[key], pad);
    }
  }
  return text;
}

function formatMember(lead: string, key: string, value: unknown, pad: string): string {
  const start = lead + formatKey(key, pad);
  const inner = `${pad}  `;
  if (Array.isArray(value) && value.length > 0) {
    return `${start}\n${value.map((item) => formatItem(item, inner, inner)).join("")}`;
  }
  const members = isObject(value) ? formatMembers(value, inner, inner) : "";
  return members ? `${start}\n${members}` : `${start} ${formatScalar(value, inner)}\n`;
}

function formatItem(value: unknown, lead: string, pad: string): string {
  const start = `${lead}- `;
  const inner = `${pad}  `;
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item, i) => formatItem(item, i === 0 ? start : inner, inner)).join("");
  }
  const members = isObject(value) ? formatMembers(value, start, inner) : "";
  return members || `${start}${formatScalar(value, inner)}\n`;
}

function formatKey(key: string, pad: string): string {
  const text = PLAIN_KEY.test(key) && !NOT_PLAIN.test(key) ? key : quote(key);
  return text.length > KEY_MAX ? `? ${text}\n${pad}:` : `${text}:`;
}

/** Whatever has no members. What follows a text of several lines is on a line of its own. */
function formatScalar(value: unknown, pad: string): string {
  if (Array.isArray(value)) return "[]";
  if (isObject(value)) return "{}";
  // Without a point YAML 1.1 takes 1e-8 for text.
  if (typeof value === "number") return formatJson(value).replace(/^(-?\d+)e/, "$1.0e");
  if (typeof value !== "string") return formatJson(value) ?? "null";
  if (PLAIN.test(value) && !NOT_PLAIN.test(value)) return value;
  if (!LINES.test(value) || NOT_LINES.test(value)) return quote(value);
  const keep = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
  return `|${keep}\n${value.replace(/\n$/, "").replaceAll(/^(?=[^\n])/gm, pad)}`;
}

/** A text in double quotes, in which JSON and YAML agree on what is escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
