/**
 * The configuration file: YAML, of which JSON is a part, with a position for everything that is
 * wrong in it.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "node:path";
import * as v from "valibot";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { parseReference } from "../info/source-reference.ts";
import { referencesOf } from "../info/query-plan.ts";
import { KINDS } from "../kinds/index.ts";
import { ConfigError, describeIssue, pathOf } from "./configuration-error.ts";
import { type FileConfig, FileSchema } from "./configuration-schema.ts";

/**
 * Reads a configuration file.
 *
 * @param text what is in it
 * @param name its own path, which it is called by in messages
 * @param home where `~` is
 * @throws {ConfigError} with everything that is wrong, each with line and column
 */
export function parseFile(text: string, name: string, home = ""): FileConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}:`;
  };
  const broken = document.errors.map(({ pos, message }) => `${at(pos[0])} ${message}`);
  if (broken.length > 0) throw new ConfigError(broken);
  const offset = (path: Path, isKey = false) =>
    offsetOf(document.contents, path, isKey, (alias) => alias.resolve(document));
  let value: unknown;
  try {
    // Aliases that stand for more and more aliases are refused here.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${name}: ${(error as Error).message}`]);
  }
  const result = v.safeParse(FileSchema, value);
  const found: [offset: number, line: (where: string) => string][] = [];
  for (const issue of result.issues ?? []) {
    const path = pathOf(issue);
    const isKey = issue.path?.at(-1)?.origin === "key";
    found.push([offset(path, isKey), (where) => describeIssue(issue, path, where)]);
  }
  if (result.success) {
    for (const [path, message] of unknownSources(result.output)) {
      found.push([offset(path), (where) => `${where} ${path.join(".")} ${message}`]);
    }
    if (found.length === 0) {
      const { description: place, ...rest } = result.output;
      return place === undefined ? rest : { ...rest, description: placeOf(place, name, home) };
    }
  }
  found.sort(([a], [b]) => a - b);
  throw new ConfigError(found.map(([offset, line]) => line(at(offset))));
}

/** A place that the file names: it stands beside the file, wherever the command runs. */
function placeOf(place: string, file: string, home: string): string {
  if (place === "none" || isAbsolute(place) || /^(https?|file):/i.test(place)) return place;
  return place.startsWith("~/") && home ? home + place.slice(1) : join(dirname(file), place);
}

/** The keys that lead to a value. */
type Path = readonly (string | number)[];

/** The fields that name a source which neither the file nor the kind has. */
function* unknownSources({ node, info }: FileConfig): Generator<[path: string[], message: string]> {
  const kinds = node?.kind === "none" ? [] : node?.kind ? [KINDS[node.kind]] : Object.values(KINDS);
  const names = new Set(Object.keys(info?.sources ?? {}));
  for (const kind of kinds) for (const source of Object.keys(kind!.sources)) names.add(source);
  for (const [key, field] of Object.entries(info?.fields ?? {})) {
    for (const reference of referencesOf(field)) {
      const [source] = parseReference(reference);
      if (names.has(source)) continue;
      const known = node?.kind ? [...names] : Object.keys(info?.sources ?? {});
      const right = known.length > 0 ? `; there are ${known.join(", ")}` : "";
      yield [["info", "fields", key], `names the source "${source}", which there is not${right}`];
    }
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
