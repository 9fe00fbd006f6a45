/**
 * Files in YAML, of which JSON is a part: the configuration, and kinds of node. Everything that is wrong in one
 * is said with its position.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "node:path";
import * as v from "valibot";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  stringify,
  visit,
  type YAMLError,
} from "yaml";
import { isAnchored } from "../platform.ts";
import type { Kind } from "../kinds/kind.ts";
import { kindSchema } from "../settings/kind.ts";
import { ConfigError, type Diagnostic, formatDiagnostic, readValue } from "../settings/schema.ts";
import { FILE } from "../settings/texts.ts";

export interface YamlFile {
  /** Its path, which messages call it by and paths in it are relative to. */
  readonly name: string;
  /** Whole numbers that `number` cannot hold are `bigint`s. */
  readonly value: unknown;
  /** The keys at its top that have a new name, by which they stand in the value. */
  readonly renamed: readonly string[];
  /** Writes a line for each diagnostic, with its place, in the order of the file. */
  describe(diagnostics: readonly Diagnostic[]): string[];
}

/**
 * Parses a file.
 *
 * @param what one document of it, for messages
 * @param names the new names of keys at its top
 * @throws {ConfigError} where it is not YAML
 */
export function parseYaml(
  text: string,
  name: string,
  what: string,
  names: Readonly<Record<string, string>> = {},
): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Whole numbers above 2^53 keep their digits.
    intAsBigInt: true,
  });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}:`;
  };
  // What follows an unexpected token is unexpected as well.
  const first = document.errors.findIndex(({ code }) => code === "UNEXPECTED_TOKEN");
  const errors = first < 0 ? document.errors : document.errors.slice(0, first + 1);
  if (errors.length > 0) {
    throw new ConfigError(errors.map((error) => `${at(error.pos[0])} ${explain(error, what)}`));
  }
  const renamed = rename(document, names);
  visit(document, {
    Scalar(_, node) {
      const number = typeof node.value === "bigint" ? Number(node.value) : NaN;
      if (Number.isSafeInteger(number)) node.value = number;
    },
  });
  let value: unknown;
  try {
    // Aliases that stand for more and more aliases are refused here.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${name}: ${(error as Error).message}`]);
  }
  const describe = (diagnostics: readonly Diagnostic[]) =>
    diagnostics.map((diagnostic) => ({ diagnostic, offset: offsetOf(document, diagnostic) }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ diagnostic, offset }) => `${at(offset)} ${formatDiagnostic(diagnostic)}`);
  return { name, value, renamed, describe };
}

/** Gives keys at the top their new names, where these are not there as well. */
function rename(document: Document, names: Readonly<Record<string, string>>): string[] {
  const { contents } = document;
  if (!isMap(contents)) return [];
  return Object.entries(names).flatMap(([before, now]) => {
    const pair = contents.items.find(({ key }) => isScalar(key) && key.value === before);
    if (!pair || contents.has(now)) return [];
    (pair.key as { value: unknown }).value = now;
    return [before];
  });
}

function explain({ code, message }: YAMLError, what: string): string {
  if (code === "MULTIPLE_DOCS") return `a second document begins here; ${what} is one`;
  const unclosed = /^Flow (?:map|sequence).* end with a ([\]}])/.exec(message)?.[1];
  if (unclosed) return `a "${unclosed}" is missing before this: what it closes is still open`;
  return `is not YAML: ${message}`;
}

/** The offset of a value or its key; of one that is not there, that of the nearest thing that is. */
function offsetOf(document: Document, { path, isKey }: Pick<Diagnostic, "path" | "isKey">): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    let value: unknown;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      offset = (pair?.key as Node | undefined)?.range?.[0] ?? offset;
      value = pair?.value;
    } else if (isSeq(node)) {
      value = node.items[Number(key)];
      offset = (value as Node | undefined)?.range?.[0] ?? offset;
    }
    node = value;
  }
  return !isKey && isScalar(node) && node.range ? node.range[0] : offset;
}

/**
 * Finds a path that a file names: it is relative to that file, wherever the command runs. What is in the home
 * directory or a credential stays what it is.
 */
export function locateBeside(path: string, file: string): string {
  return isAbsolute(path) || isAnchored(path) ? path : join(dirname(file), path);
}

export function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
}

/**
 * Reads the file of a kind: one of `spec/kinds/`, or an operator's own.
 *
 * @param name its path, which messages call it by and paths in it are relative to
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function parseKind(text: string, name: string): Kind {
  return checkKind(parseYaml(text, name, "a kind"));
}

/**
 * @param place where the kind stands, if it is not the whole file
 * @param base the kind that it adds to
 */
export function checkKind(
  { value, name, describe }: YamlFile,
  place: { readonly at: Diagnostic["path"]; readonly value: unknown } = { at: [], value },
  base?: Kind,
): Kind {
  const path = v.pipe(FILE, v.transform((path) => locateBeside(path, name)));
  const { value: kind, diagnostics } = readValue(place.value, kindSchema(path, base));
  if (diagnostics.length === 0) return kind;
  throw new ConfigError(
    describe(diagnostics.map((one) => ({ ...one, path: [...place.at, ...one.path] }))),
  );
}
