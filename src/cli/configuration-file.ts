/**
 * The configuration file: YAML, of which JSON is a part. Everything that is wrong in it is found at
 * once and has its position.
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
import type { InfoSettings, NodeSettings } from "../info/settings.ts";
import { KINDS } from "../kinds/index.ts";
import type { Field, Kind } from "../kinds/kind.ts";
import { configuration } from "../options-schema.ts";
import { describeMistake, type Mistake, type Path, readValue } from "../settings/check.ts";
import type { LOGS } from "../settings/command.ts";
import { didYouMean, nearest } from "../settings/nearest.ts";
import { show } from "../settings/show.ts";
import { hasKind, unknownSources } from "../settings/unknown-sources.ts";
import { ConfigError } from "./configuration-error.ts";

/** What a configuration file may say. */
export interface FileConfig {
  listen?: { host: string; port: number };
  log?: (typeof LOGS)[number];
  hosts?: readonly string[] | "*";
  cors?: readonly string[] | "*";
  /** A path as the process sees it, a URL, or `none`. */
  description?: string;
  node?: NodeSettings;
  info?: InfoSettings;
}

/**
 * Reads a configuration file.
 *
 * @param text what is in it
 * @param name its own path, which messages call it by and paths in it are relative to
 * @param given what flags and variables say of the node, which goes before the file
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function parseFile(
  text: string,
  name: string,
  given: Pick<NodeSettings, "url" | "kind"> = {},
): FileConfig {
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
  const broken = document.errors.map((error) => `${at(error.pos[0])} ${describeYaml(error)}`);
  if (broken.length > 0) throw new ConfigError(broken);
  let value: unknown;
  try {
    // Aliases that stand for more and more aliases are refused here.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${name}: ${(error as Error).message}`]);
  }
  const schema = configuration((path) => locateBeside(path, name));
  const { value: read, mistakes } = readValue(value, schema);
  const config = withoutMistakes(read, mistakes) as FileConfig;
  const kinds = kindsOf({ ...config.node, ...given });
  const found = [
    ...mistakes,
    ...unknownSources(withRightFields(config.info), kinds),
    ...unknownKeys(config),
  ];
  if (found.length === 0) return config;
  const offset = ({ path, isKey }: Mistake) =>
    offsetOf(document.contents, path, isKey, (alias) => alias.resolve(document));
  const placed = found.map((mistake) => ({ mistake, offset: offset(mistake) }));
  placed.sort((a, b) => a.offset - b.offset);
  throw new ConfigError(
    placed.map(({ mistake, offset }) => `${at(offset)} ${describeMistake(mistake)}`),
  );
}

/**
 * A path of a configuration file, as the process sees it: relative to that file, wherever the command
 * runs. A URL, the word `none` and what is in the home directory stay what they are.
 */
function locateBeside(path: string, file: string): string {
  if (path === "none" || /^(https?:|file:|~\/)/i.test(path)) return path;
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** The same value with `undefined` where something is wrong. */
function withoutMistakes(value: unknown, mistakes: readonly Mistake[]): unknown {
  const root = { value };
  for (const { path } of mistakes) {
    const keys = ["value", ...path];
    const last = keys.pop()!;
    let around: unknown = root;
    for (const key of keys) around = (around as Record<string, unknown> | undefined)?.[key];
    if (around) (around as Record<string, unknown>)[last] = undefined;
  }
  return root.value ?? {};
}

/** What is wrong where a file is not YAML. */
function describeYaml({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "a second document begins here; a configuration is one";
  const unclosed = /^Flow (?:map|sequence).* end with a ([\]}])/.exec(message)?.[1];
  if (unclosed) return `a "${unclosed}" is missing before this: what it closes is still open`;
  return `is not YAML: ${message}`;
}

/** The kinds that the node may be. */
function kindsOf(node: NodeSettings): Kind[] {
  if (!hasKind(node)) return [];
  const kind = KINDS[node.kind ?? ""];
  return kind ? [kind] : Object.values(KINDS);
}

/** The info without the fields that are wrong in themselves, which has been said by then. */
function withRightFields(info: InfoSettings = {}): InfoSettings {
  const fields = Object.entries(info.fields ?? {}).filter(([, field]) => isReadable(field));
  return { ...info, fields: Object.fromEntries(fields) };
}

/** Whether the places that a field names are right; `undefined` stands where they are not. */
function isReadable(field: Field | undefined): boolean {
  if (field === undefined || typeof field === "string") return field !== undefined;
  return [field.from].flat().every((reference) => reference !== undefined);
}

/** Keys of the info that every kind may have, and that can be hidden. */
const COMMON_KEYS = ["name", "software", "version", "started_at"];

/** The keys to be hidden that nothing could show. */
function* unknownKeys(config: FileConfig): Generator<Mistake> {
  const { info } = config;
  const names = new Set(COMMON_KEYS);
  for (const { static: fixed, fields } of [...Object.values(KINDS), info ?? {}]) {
    for (const key of Object.keys({ ...fixed, ...fields })) names.add(key);
  }
  for (const [at, key] of (info?.hide ?? []).entries()) {
    if (key === undefined || names.has(key)) continue;
    const message = `is ${show(key)}, a key that nothing shows${didYouMean(nearest(key, names))}`;
    yield { path: ["info", "hide", at], message, isKey: false };
  }
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
