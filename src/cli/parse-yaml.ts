/**
 * Files in YAML, of which JSON is a part. Everything that is wrong in one is said with its position.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "node:path";
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError,
} from "yaml";
import { isAnchored } from "../expand-path.ts";
import { describeMistake, type Mistake, type Path } from "../settings/check.ts";
import { ConfigError } from "./configuration-error.ts";

/** A file that was read. */
export interface YamlFile {
  /** What is in it; whole numbers are `bigint`s. */
  readonly value: unknown;
  /** One line for each mistake, with its place, in the order of the file. */
  describe(mistakes: readonly Mistake[]): string[];
}

/**
 * Reads a file in YAML.
 *
 * @param text what is in it
 * @param name its path, which messages call it by
 * @param what what one document of it is, for messages
 * @throws {ConfigError} where it is not YAML
 */
export function parseYaml(text: string, name: string, what: string): YamlFile {
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
  const broken = errors.map((error) => `${at(error.pos[0])} ${describeYaml(error, what)}`);
  if (broken.length > 0) throw new ConfigError(broken);
  let value: unknown;
  try {
    // Aliases that stand for more and more aliases are refused here.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${name}: ${(error as Error).message}`]);
  }
  const offset = ({ path, isKey }: Mistake) =>
    offsetOf(document.contents, path, isKey, (alias) => alias.resolve(document));
  return {
    value,
    describe(mistakes) {
      const placed = mistakes.map((mistake) => ({ mistake, offset: offset(mistake) }));
      placed.sort((a, b) => a.offset - b.offset);
      return placed.map(({ mistake, offset }) => `${at(offset)} ${describeMistake(mistake)}`);
    },
  };
}

/**
 * A path that a file names, as the process sees it: relative to that file, wherever the command runs. What is
 * in the home directory or a credential stays what it is.
 */
export function locateBeside(path: string, file: string): string {
  return isAbsolute(path) || isAnchored(path) ? path : join(dirname(file), path);
}

/** What is wrong where a file is not YAML. */
function describeYaml({ code, message }: YAMLError, what: string): string {
  if (code === "MULTIPLE_DOCS") return `a second document begins here; ${what} is one`;
  const unclosed = /^Flow (?:map|sequence).* end with a ([\]}])/.exec(message)?.[1];
  if (unclosed) return `a "${unclosed}" is missing before this: what it closes is still open`;
  return `is not YAML: ${message}`;
}

/** Where a value or its key begins; where there is none, the nearest thing that is there. */
function offsetOf(
  root: Node | null,
  path: Path,
  isKey: boolean,
  resolve: (alias: Extract<Node, { source: string }>) => Node | undefined,
): number {
  let node: Node | null | undefined = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = resolve(node as Extract<Node, { source: string }>);
    let value: unknown;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      offset = (pair?.key as Node | undefined)?.range?.[0] ?? offset;
      value = pair?.value;
    } else if (isSeq(node)) {
      value = node.items[Number(key)];
      offset = (value as Node | undefined)?.range?.[0] ?? offset;
    }
    node = value as Node | null | undefined;
  }
  return !isKey && isScalar(node) && node.range ? node.range[0] : offset;
}
