/**
 * Writes a document as JSON and YAML. Both formats are served at the root and below `/v1/`, for
 * example as `/spec.json` and `/v1/spec.json`.
 *
 * @module
 */
import { Document, type Node, type Scalar, type ScalarTag } from "yaml";
import { type Bytes, createCollector, joinBytes } from "../bytes.ts";
import { identityOf, keep, type KeptContent } from "../http/content-coding.ts";
import { buildingJson, formatJson, readNumber, WRITTEN_DEPTH_MAX } from "../json/lossless.ts";
import { JsonScanner } from "../json/scan.ts";
import { isObject, type Json } from "../json/values.ts";
import { inSlices, pause } from "../slices.ts";
import { escapeOf } from "../untrusted-text.ts";
import { mapServers } from "./servers.ts";

/** Characters that JSON does not escape, but YAML 1.2 forbids (section 5.1) or YAML 1.1 treats as line breaks. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** Matches strings with control characters or lone surrogates, and the special YAML 1.1 strings `=` and `<<`. */
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
 * Writes a document with the `yaml` package in small parts. YAML 1.1 and YAML 1.2 parsers read the same values from the
 * output.
 */
async function writeYaml(
  value: Json | unknown[],
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
  const keys = isList ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const member = (value as Json)[key];
    const count = countValues(member, VALUES_PER_PART);
    const head = count > VALUES_PER_PART ? isList ? "- " : headOf(String(key)) : undefined;
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
    await writeYaml(member as Json, emit, inner, isList ? start + head : inner);
    start = indent;
  }
  await emitGroup();
}

/** A value with more values than this is written in several parts. */
const VALUES_PER_PART = 400;

/** Counts few more values than `most`, so that a large value takes no longer than a small one. */
function countValues(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    if (count > most) break;
    count += countValues((value as Json)[key], most - count);
  }
  return count;
}

/** Returns `undefined` if the key needs several lines. */
const headOf = (key: string): string | undefined =>
  /^([^?].*:) 0\n$/.exec(writePart({ [key]: 0 }))?.[1];

function writePart(value: Json | unknown[]): string {
  const yaml = new Document<Node>(null, {
    compat: "yaml-1.1",
    customTags: (tags) => [quotedText, number, ...tags],
  });
  yaml.contents = yaml.createNode(value, { aliasDuplicateObjects: false });
  return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity });
}

/** The levels of a document above its operations and schemas, which are written one at a time. */
const LEVELS = 3;

async function writeJson(value: unknown, emit: Emit, levels: number = LEVELS): Promise<void> {
  await pause();
  if (levels === 0 || !isObject(value)) return emit(formatJson(value));
  let before = "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    emit(`${before}${JSON.stringify(key)}:`);
    await writeJson(member, emit, levels - 1);
    before = ",";
  }
  emit(before === "{" ? "{}" : "}");
}

export interface Written {
  /** The text in UTF-8. */
  readonly bytes: Bytes;
  /**
   * The sorted byte offsets of relative server URLs. For documents below `/v1/`, a dot is inserted at each offset:
   * `./v1/node` becomes `../v1/node`.
   */
  readonly dots: readonly number[];
}

export interface Writer {
  readonly json: () => Promise<Written>;
  readonly yaml: () => Promise<Written>;
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
  const encode = async (write: (emit: Emit) => Promise<void>): Promise<Written> => {
    const encoder = new TextEncoder();
    const collector = createCollector();
    const dots: number[] = [];
    let size = 0;
    await write((part) => {
      for (const [i, text] of part.split(mark).entries()) {
        if (i > 0) dots.push(size);
        const bytes = encoder.encode(text);
        size += bytes.byteLength;
        collector.push(bytes);
      }
    });
    return { bytes: joinBytes(collector.take()), dots };
  };
  return {
    json: () => encode((emit) => writeJson(marked, emit)),
    yaml: () =>
      encode(async (emit) => {
        await writeYaml(marked, emit);
        if (Object.keys(marked).length === 0) emit("{}\n");
      }),
  };
}

export interface Form extends KeptContent {
  readonly dots: readonly number[];
}

export async function encodeForm({ bytes, dots }: Written): Promise<Form> {
  return { ...await keep(bytes), dots };
}

/** Writes the document of a JSON form as YAML. */
export async function yamlFormOf(json: Form): Promise<Form> {
  const text = new TextDecoder().decode(await identityOf(json));
  const scanner = new JsonScanner(text, WRITTEN_DEPTH_MAX);
  const document = await inSlices(buildingJson(scanner, readNumber));
  return await encodeForm(await createWriter(document as Json).yaml());
}

export function rebaseServers(bytes: Bytes, dots: readonly number[]): Bytes {
  const dot = new TextEncoder().encode(".");
  const parts = dots.flatMap((at, i) => [bytes.subarray(dots[i - 1] ?? 0, at), dot]);
  return joinBytes([...parts, bytes.subarray(dots.at(-1) ?? 0)]);
}
