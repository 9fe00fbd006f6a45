/**
 * Writes a document in both forms.
 *
 * @module
 */
import { Document, type Node, type Scalar, type ScalarTag } from "yaml";
import { formatJson } from "../json/lossless.ts";
import { isObject, type Json, setMember } from "../json/values.ts";
import { freeMemory } from "../platform.ts";

/**
 * What `JSON.stringify` writes as it is, though YAML does not count it among the printable characters
 * (YAML 1.2.2, section 5.1) or YAML 1.1 takes it for the end of a line.
 */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** What is written in double quotes: control characters, and `=` of YAML 1.1. */
const QUOTED =
  // deno-lint-ignore no-control-regex -- these are what it is about
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|^[=<]+$/;

/** Whether a text is written in double quotes. PyYAML 6.0 refuses a tab on a single line. */
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

/**
 * Writes JSON in one line, part by part: V8 14 writes into a buffer that it doubles, and a process does not
 * give back all that its threads have taken for those.
 */
export function writeJson(document: Json): string {
  return writeParts(document, PARTS_DEPTH);
}

/** How deep an operation or a component lies. */
const PARTS_DEPTH = 3;

function writeParts(value: unknown, depth: number): string {
  if (depth === 0 || !isObject(value)) return formatJson(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${writeParts(member, depth - 1)}`);
  return `{${members.join()}}`;
}

/**
 * Writes YAML 1.2 that readers of YAML 1.1 understand likewise: without anchors and bare dates. Part by part, since
 * what the library makes of a value takes many times the memory of that.
 *
 * @param most how many values a part has, about
 */
export function writeYaml(document: Json, most: number = PART_MAX): string {
  const yaml = new Document<Node>(null, {
    compat: "yaml-1.1",
    customTags: (tags) => [quotedText, number, ...tags],
  });
  const write = (value: unknown): string => {
    yaml.contents = yaml.createNode(value, { aliasDuplicateObjects: false });
    return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity });
  };
  let written = 0;
  const writeMembers = (object: Json, depth: number): string => {
    let text = "";
    let part: Json = {};
    let room = most;
    const writePart = () => {
      if (room < most) text += write(part);
      written += most - room;
      if (written > FREED_AFTER) {
        written = 0;
        freeMemory();
      }
      part = {};
      room = most;
    };
    for (const [key, member] of Object.entries(object)) {
      if (member === undefined) continue;
      let left = roomAfter(member, room);
      if (left < 0 && room < most) {
        writePart();
        left = roomAfter(member, most);
      }
      // A key that is too long for its line begins with a question mark; it is written with its value.
      const line = depth > 0 && left < 0 && isObject(member) ? write({ [key]: null }) : "?";
      if (line.startsWith("?")) {
        setMember(part, key, member);
        room = left;
      } else {
        const members = writeMembers(member as Json, depth - 1);
        text += line.replace(/ null\n$/, "\n") + members.replaceAll(/^(?=.)/gm, "  ");
      }
    }
    writePart();
    return text;
  };
  return writeMembers(document, PARTS_DEPTH) || write({});
}

/** How many values are written at a time, about. */
const PART_MAX = 1000;

/** After how many values the memory that writing them took is given back. */
const FREED_AFTER = 100_000;

/** How many further values a part has room for after one; below 0 where it is too large for what is left. */
function roomAfter(value: unknown, room: number): number {
  if (value === undefined) return room;
  let left = room - 1;
  if (typeof value !== "object" || value === null) return left;
  for (const member of Object.values(value)) {
    if (left < 0) break;
    left = roomAfter(member, left);
  }
  return left;
}
