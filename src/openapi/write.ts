/**
 * Writes a document in both forms.
 *
 * @module
 */
import { Document, type Node, type Scalar, type ScalarTag } from "yaml";
import { formatJson } from "../json/lossless.ts";
import type { Json } from "../json/values.ts";

/**
 * What `JSON.stringify` writes as it is, though YAML does not count it among the printable characters
 * (YAML 1.2.2, section 5.1) or YAML 1.1 takes it for the end of a line.
 */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** What is written in double quotes: control characters, and `=` of YAML 1.1. */
const QUOTED =
  // deno-lint-ignore no-control-regex -- these are what it is about
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|^[=<]+$/;

/** Tells whether a text is written in double quotes. PyYAML 6.0 refuses a tab on a single line. */
function isQuoted(text: string): boolean {
  return QUOTED.test(text) || (text.includes("\t") && !text.includes("\n")) || HALF.test(text);
}

/** A half of a pair of UTF-16. */
const HALF = /[\u{d800}-\u{dfff}]/u;

/** A text in double quotes, in which JSON and YAML agree on what is escaped. */
const quotedText: ScalarTag = {
  default: true,
  identify: (value) => typeof value === "string" && isQuoted(value),
  tag: "tag:yaml.org,2002:str",
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }: Scalar) =>
    JSON.stringify(value).replaceAll(
      UNPRINTABLE,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
};

/** Numbers as in JSON. Without a point YAML 1.1 takes `1e-8` for text. */
const number: ScalarTag = {
  default: true,
  identify: (value) => typeof value === "number" || typeof value === "bigint",
  tag: "tag:yaml.org,2002:float",
  test: /(?!)/,
  resolve: Number,
  stringify: ({ value }: Scalar) => formatJson(value).replace(/^(-?\d+)e/, "$1.0e"),
};

export const writeJson = (document: Json): string => formatJson(document);

/** Writes YAML 1.2 that readers of YAML 1.1 understand likewise: without anchors and bare dates. */
export function writeYaml(document: Json): string {
  const yaml = new Document<Node>(null, {
    compat: "yaml-1.1",
    customTags: (tags) => [quotedText, number, ...tags],
  });
  yaml.contents = yaml.createNode(document, { aliasDuplicateObjects: false });
  return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity });
}
