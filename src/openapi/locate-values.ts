/**
 * Finds where values stand in the text they were read from. It is done when something is wrong with
 * them, so that a right description never pays for it.
 *
 * @module
 */
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { contentStart, nameOf, ofText, splitBlock } from "./yaml-blocks.ts";
import { JsonScanner } from "../json/scan.ts";
import type { Path } from "../json/values.ts";
import { parsingOptions } from "./parse-yaml.ts";

/** Where a value stands: the offset of its first character, and of the one after its last. */
export type Range = readonly [start: number, end: number];

/** What is looked for within a value: the members, and what is to be told of its own place. */
interface Wanted {
  readonly found: ((range: Range) => void)[];
  readonly members: Map<string, Wanted>;
}

/**
 * Finds the values at some paths; of a path that leads nowhere, the nearest value that is there.
 *
 * @param text JSON or YAML
 * @param isJson which of both it is
 * @param paths where the values are
 * @returns the ranges in the order of the paths
 */
export function locate(text: string, isJson: boolean, paths: readonly Path[]): Range[] {
  const ranges: Range[] = paths.map(() => [0, 0]);
  const root: Wanted = { found: [], members: new Map() };
  paths.forEach((path, i) => {
    let wanted = root;
    for (const key of path) {
      wanted.found.push((range) => ranges[i] = range);
      const next = wanted.members.get(key) ?? { found: [], members: new Map() };
      wanted.members.set(key, next);
      wanted = next;
    }
    wanted.found.push((range) => ranges[i] = range);
  });
  if (isJson) locateJson(text, root);
  else locateYaml(text, contentStart(ofText(text)), text.length, root);
  return ranges;
}

function tell({ found }: Wanted, start: number, end: number): void {
  for (const each of found) each([start, end]);
}

/** Looks in a part of a YAML text, and has only the smallest entries read by the library. */
function locateYaml(text: string, start: number, end: number, wanted: Wanted): void {
  const block = splitBlock(ofText(text), start, end);
  if (!block) return locateNode(parsePart(text, start, end), wanted, start);
  for (const entry of block.entries) {
    const inner = wanted.members.get(nameOf(entry));
    if (!inner) continue;
    tell(inner, entry.keyStart, entry.keyStart + entry.key.length);
    if (entry.isBare && inner.members.size > 0) {
      locateYaml(text, entry.bodyStart, entry.end, inner);
      continue;
    }
    const members = new Map([[nameOf(entry), inner]]);
    locateNode(parsePart(text, entry.start, entry.end), { found: [], members }, entry.start);
  }
}

function parsePart(text: string, start: number, end: number): Node | null {
  const part = text.slice(start, end);
  const document = parseDocument(part, parsingOptions(part));
  return document.contents;
}

function locateNode(part: Node | null | undefined, wanted: Wanted, base: number): void {
  if (!part?.range) return;
  // The value of a block collection begins where its first key does.
  tell(wanted, base + part.range[0], base + part.range[1]);
  if (isAlias(part)) return;
  for (const [key, inner] of wanted.members) {
    if (isMap(part)) {
      const pair = part.items.findLast((item) =>
        isScalar(item.key) && String(item.key.value) === key
      );
      const name = pair?.key as Node | undefined;
      if (name?.range) tell(inner, base + name.range[0], base + name.range[1]);
      locateNode(pair?.value as Node | undefined, inner, base);
    } else if (isSeq(part)) locateNode(part.items[Number(key)] as Node | undefined, inner, base);
  }
}

/** Looks in a JSON text. */
function locateJson(text: string, root: Wanted): void {
  const scanner = new JsonScanner(text);
  /** The objects and lists around the place. */
  const around: { wanted: Wanted | undefined; isList: boolean; index: number }[] = [];
  let wanted: Wanted | undefined = root;
  while (scanner.next()) {
    const { kind, start, end } = scanner;
    if (kind === "}" || kind === "]") {
      around.pop();
      continue;
    }
    const parent = around.at(-1);
    if (kind === "key") wanted = parent?.wanted?.members.get(scanner.string);
    else if (parent?.isList) wanted = parent.wanted?.members.get(String(parent.index++));
    // A value is told after its key, and its place is the one that counts.
    if (wanted) tell(wanted, start, end);
    if (kind === "{" || kind === "[") around.push({ wanted, isList: kind === "[", index: 0 });
  }
}
