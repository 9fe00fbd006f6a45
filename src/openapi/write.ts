/**
 * Writes a document as JSON and YAML. Both formats are served at the root and below `/v1/`, for
 * example as `/spec.json` and `/v1/spec.json`.
 *
 * @module
 */
import { Document, type Node, type Scalar, type ScalarTag } from "yaml";
import { byteLengthOf, type Bytes, joinBytes } from "../bytes.ts";
import { keep, type KeptContent } from "../http/content-coding.ts";
import { formatJson } from "../json/lossless.ts";
import type { Json } from "../json/values.ts";
import { escapeOf } from "../untrusted-text.ts";
import { mapServers } from "./servers.ts";

/** Characters that JSON does not escape, but YAML 1.2 forbids (section 5.1) or YAML 1.1 treats as line breaks. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** Matches strings with control characters or lone surrogates, and the special YAML 1.1 strings `=` and `<<`. */
const QUOTED =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\u{d800}-\u{dfff}]|^[=<]+$/u;

/** PyYAML 6.0 rejects an unquoted tab in a single-line string. */
const isQuoted = (text: string): boolean =>
  QUOTED.test(text) || (text.includes("\t") && !text.includes("\n"));

const quotedText: ScalarTag = {
  default: true,
  identify: (value) => typeof value === "string" && isQuoted(value),
  tag: "tag:yaml.org,2002:str",
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }: Scalar) => JSON.stringify(value).replaceAll(UNPRINTABLE, escapeOf),
};

/** YAML 1.1 reads `1e-8` as a string, so this number is written as `1.0e-8`. */
const number: ScalarTag = {
  default: true,
  identify: (value) => typeof value === "number" || typeof value === "bigint",
  tag: "tag:yaml.org,2002:float",
  test: /(?!)/,
  resolve: Number,
  stringify: ({ value }: Scalar) => formatJson(value).replace(/^(-?\d+)e/, "$1.0e"),
};

/** YAML 1.1 and YAML 1.2 parsers read the same values from the output. */
export function writeYaml(document: Json): string {
  const yaml = new Document<Node>(null, {
    compat: "yaml-1.1",
    customTags: (tags) => [quotedText, number, ...tags],
  });
  yaml.contents = yaml.createNode(document, { aliasDuplicateObjects: false });
  return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity });
}

export interface Written {
  readonly text: string;
  /**
   * The sorted byte offsets of relative server URLs. For documents below `/v1/`, a dot is inserted at each offset:
   * `./v1/node` becomes `../v1/node`.
   */
  readonly dots: readonly number[];
}

export interface Writer {
  readonly json: () => Written;
  readonly yaml: () => Written;
}

/**
 * Puts a unique mark before each relative server URL, to find the URL in the written text. The mark begins with `@`, so
 * the YAML writer must quote the marked URL.
 */
export function createWriter(document: Json): Writer {
  const mark = `@${crypto.randomUUID()}`;
  const markServer = (server: Json) =>
    typeof server.url === "string" && server.url.startsWith(".")
      ? { ...server, url: mark + server.url }
      : server;
  const marked = mapServers(document, (servers) => servers.map(markServer));
  const read = (written: string): Written => {
    const parts = written.split(mark);
    const dots: number[] = [];
    let at = 0;
    for (const part of parts.slice(0, -1)) dots.push(at += byteLengthOf(part));
    return { text: parts.join(""), dots };
  };
  return { json: () => read(formatJson(marked)), yaml: () => read(writeYaml(marked)) };
}

export interface Form extends KeptContent {
  readonly dots: readonly number[];
}

export async function encodeForm({ text, dots }: Written): Promise<Form> {
  return { ...await keep(text), dots };
}

export function rebaseServers(bytes: Bytes, dots: readonly number[]): Bytes {
  const dot = new TextEncoder().encode(".");
  const parts = dots.flatMap((at, i) => [bytes.subarray(dots[i - 1] ?? 0, at), dot]);
  return joinBytes([...parts, bytes.subarray(dots.at(-1) ?? 0)]);
}
