/**
 * Reads YAML or JSON files: the configuration, and kinds of node. Reports each error with its line
 * and column.
 *
 * @module
 */
import { dirname, isAbsolute, join, posix } from "node:path";
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
  type Scalar,
  stringify,
  visit,
  type YAMLError,
} from "yaml";
import { isAnchored } from "../platform.ts";
import type { Kind } from "../kinds/kind.ts";
import { kindSchema } from "../settings/kind-schema.ts";
import {
  ConfigError,
  formatSettingDiagnostic,
  readValue,
  type SettingDiagnostic,
} from "../settings/schema.ts";
import { FILE } from "../settings/texts.ts";
import { quote } from "../untrusted-text.ts";

export interface YamlFile {
  readonly name: string;
  /** Integers that `number` cannot represent exactly are `bigint`s. */
  readonly value: unknown;
  describe(diagnostics: readonly SettingDiagnostic[]): string[];
  /** Returns the place of a value, such as `nodeface.yaml:7:12:`. */
  placeOf(path: SettingDiagnostic["path"]): string;
}

/**
 * @param what a noun that messages use for the content, such as `a kind`
 * @throws {ConfigError}
 */
export function readYaml(text: string, name: string, what: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    intAsBigInt: true,
    // A warning would appear on standard error beside our message.
    logLevel: "error",
  });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}:`;
  };
  // An unexpected token causes further errors, which are omitted.
  const first = document.errors.findIndex(({ code }) => code === "UNEXPECTED_TOKEN");
  const errors = first < 0 ? document.errors : document.errors.slice(0, first + 1);
  throwIfAny(errors.map((error) => `${at(error.pos[0])} ${describeMistake(error, what)}`));
  const strayed: string[] = [];
  const anchors = new Set<string | undefined>();
  visit(document, {
    Value(_, node) {
      anchors.add(node.anchor);
      const number = isScalar(node) && typeof node.value === "bigint" ? Number(node.value) : NaN;
      if (Number.isSafeInteger(number)) (node as Scalar).value = number;
    },
    Alias(_, { source, range }) {
      if (anchors.has(source)) return;
      strayed.push(`${at(range![0])} no anchor before it is named ${quote(source)}; ${STAR}`);
    },
  });
  throwIfAny(strayed);
  let value: unknown;
  try {
    // The limit protects against alias bombs.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${name}: ${(error as Error).message}`]);
  }
  const describe = (diagnostics: readonly SettingDiagnostic[]) =>
    diagnostics.map((diagnostic) => [offsetOf(document, diagnostic), diagnostic] as const)
      .sort(([a], [b]) => a - b)
      .map(([offset, diagnostic]) => `${at(offset)} ${formatSettingDiagnostic(diagnostic)}`);
  return { name, value, describe, placeOf: (path) => at(offsetOf(document, { path })) };
}

/** Each level of a nested list that is not closed has the same error, which is said once. */
function throwIfAny(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
}

const STAR = 'a text that begins with * needs quotes, as in "*"';

function describeMistake({ code, message }: YAMLError, what: string): string {
  if (code === "DUPLICATE_KEY") return "this key occurs twice";
  if (code === "BAD_ALIAS") return `is not YAML: ${message}; ${STAR}`;
  if (code === "MULTIPLE_DOCS") return `a second document begins here; ${what} has only one`;
  const unclosed = /^Flow (?:map|sequence).* end with a ([\]}])/.exec(message)?.[1];
  if (unclosed) return `a closing "${unclosed}" is missing before this place`;
  return `is not YAML: ${message}`;
}

/** If the value is missing, returns the offset of the nearest parent that exists. */
function offsetOf(
  document: Document,
  { path, isKey }: Pick<SettingDiagnostic, "path" | "isKey">,
): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    let found: Node | undefined;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      found = pair?.key as Node | undefined;
      node = pair?.value;
    } else {
      found = isSeq(node) ? node.items[Number(key)] as Node | undefined : undefined;
      node = found;
    }
    offset = found?.range?.[0] ?? offset;
  }
  return !isKey && isScalar(node) && node.range ? node.range[0] : offset;
}

export function locateBeside(path: string, file: string): string {
  if (isAbsolute(path) || isAnchored(path)) return path;
  // On Windows, `join` would write a backslash after `~`, which would stand for no folder then.
  return isAnchored(file) ? posix.join(dirname(file), path) : join(dirname(file), path);
}

export function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
}

/**
 * @param base the kind that the checked kind extends, if any
 * @throws {ConfigError}
 */
export function checkKind(
  { value, name, describe }: YamlFile,
  place: { readonly at: SettingDiagnostic["path"]; readonly value: unknown } = { at: [], value },
  base?: Kind,
): Kind {
  const path = v.pipe(FILE, v.transform((path) => locateBeside(path, name)));
  const { value: kind, diagnostics } = readValue(place.value, kindSchema(path, base));
  if (diagnostics.length === 0) return kind;
  throw new ConfigError(
    describe(diagnostics.map((one) => ({ ...one, path: [...place.at, ...one.path] }))),
  );
}
