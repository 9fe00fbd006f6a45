/**
 * Writes a document as JSON and as YAML.
 *
 * @module
 */
import { Document, type Node, type Scalar, type ScalarTag } from "yaml";
import { createCollector, encodeText, joinBytes } from "../bytes.ts";
import { type KeptContent, withGzip } from "../http/content-coding.ts";
import { formatJson } from "../json/lossless.ts";
import { isObject, type JsonObject } from "../json/values.ts";
import { pause } from "../slices.ts";
import { escapeOf } from "../untrusted-text.ts";

/**
 * Characters that JSON does not escape, but YAML 1.2 forbids (section 5.1) or YAML 1.1 treats as
 * line breaks.
 */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/**
 * Matches strings with control characters or lone surrogates, and the special YAML 1.1 strings `=`
 * and `<<`.
 */
const QUOTED =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\u{d800}-\u{dfff}]|^[=<]+$/u;

/** The `yaml` package takes a second for a text of four million characters. */
const QUOTED_LENGTH = 65_536;

/** PyYAML 6.0 rejects an unquoted tab in a single-line string. */
const isQuoted = (text: string): boolean =>
  text.length > QUOTED_LENGTH || QUOTED.test(text) || (text.includes("\t") && !text.includes("\n"));

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

/** Takes the next part of a text. */
type Emit = (part: string) => void;

/**
 * Writes a document with the `yaml` package in small parts. YAML 1.1 and YAML 1.2 parsers read the
 * same values from the output.
 */
async function writeYamlParts(
  value: JsonObject | unknown[],
  emit: Emit,
  indent: string = "",
  firstIndent: string = indent,
): Promise<void> {
  const isList = Array.isArray(value);
  let start = firstIndent;
  let group: [key: string | number, member: unknown][] = [];
  let size = 0;
  const emitGroup = async () => {
    if (group.length === 0) return;
    const part = isList ? group.map(([, member]) => member) : Object.fromEntries(group);
    emit(start + writePart(part).replaceAll(/\n(?=[^\n])/g, `\n${indent}`));
    [start, group, size] = [indent, [], 0];
    await pause();
  };
  await pause();
  const keys = isList ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const member = (value as JsonObject)[key];
    const count = countValues(member, VALUES_PER_PART);
    const isLarge = count > VALUES_PER_PART && typeof member !== "string";
    const head = !isLarge ? undefined : isList ? "- " : headOf(String(key));
    if (head === undefined) {
      group.push([key, member]);
      size += count;
      if (size > VALUES_PER_PART) await emitGroup();
      continue;
    }
    await emitGroup();
    const inner = `${indent}  `;
    if (!isList) emit(`${start}${head}\n`);
    // In a list, the first line of an item follows the dash.
    await writeYamlParts(member as JsonObject, emit, inner, isList ? start + head : inner);
    start = indent;
  }
  await emitGroup();
}

/** A value with more values than this is written in several parts. */
const VALUES_PER_PART = 400;
/** A text counts as a value for each this many characters, as each of them may be a line. */
const TEXT_PER_VALUE = 100;

/** Counts few more values than `most`, so that a large value takes no longer than a small one. */
function countValues(value: unknown, most: number): number {
  if (typeof value === "string") return 1 + Math.floor(value.length / TEXT_PER_VALUE);
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    if (count > most) break;
    count += countValues((value as JsonObject)[key], most - count);
  }
  return count;
}

/** @throws {unknown} `NOT_IN_BLOCKS` if the key is too long for one line */
function headOf(key: string): string {
  const head = /^([^?].*:) 0\n$/.exec(writePart({ [key]: 0 }))?.[1];
  if (head === undefined) throw NOT_IN_BLOCKS;
  return head;
}

function writePart(value: JsonObject | unknown[]): string {
  const yaml = new Document<Node>(null, {
    compat: "yaml-1.1",
    customTags: (tags) => [quotedText, number, ...tags],
  });
  yaml.contents = yaml.createNode(value, { aliasDuplicateObjects: false });
  return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity });
}

/** The levels of a document above its operations and schemas, which are written one at a time. */
const LEVELS = 3;

async function writeJsonParts(
  value: unknown,
  emit: Emit,
  levels: number = LEVELS,
): Promise<void> {
  await pause();
  if (levels === 0 || !isObject(value)) return emit(formatJson(value));
  let before = "{";
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    emit(`${before}${JSON.stringify(key)}:`);
    await writeJsonParts(member, emit, levels - 1);
    before = ",";
  }
  emit(before === "{" ? "{}" : "}");
}

export const writeJson = (document: JsonObject): Promise<KeptContent> =>
  collect((emit) => writeJsonParts(document, emit));

/** The maximum size of a description in YAML, in bytes. Indentation may multiply its size. */
const BLOCKS_MAX = 33_554_432;
const NOT_IN_BLOCKS = new Error("The description is too long in YAML");

/** Writes JSON, which is YAML 1.2, if indentation would make the text very long. */
export async function writeYaml(document: JsonObject): Promise<KeptContent> {
  try {
    return await collect(async (emit) => {
      await writeYamlParts(document, emit);
      if (Object.keys(document).length === 0) emit("{}\n");
    }, BLOCKS_MAX);
  } catch (error) {
    if (error !== NOT_IN_BLOCKS) throw error;
  }
  return await collect((emit) =>
    writeJsonParts(document, (part) => emit(part.replaceAll(UNPRINTABLE, escapeOf)))
  );
}

async function collect(
  write: (emit: Emit) => Promise<void>,
  most: number = Infinity,
): Promise<KeptContent> {
  const collector = createCollector();
  let left = most;
  await write((part) => {
    const bytes = encodeText(part);
    left -= bytes.length;
    if (left < 0) throw NOT_IN_BLOCKS;
    collector.push(bytes);
  });
  return await withGzip(joinBytes(collector.empty()));
}
