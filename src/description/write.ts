/**
 * Writes YAML for people to read, in pieces: the library needs many times the size of what it writes.
 *
 * @module
 */
import { stringify } from "yaml";
import { breathe } from "./breathe.ts";
import { isObject, type Json } from "./values.ts";

/** How deep objects are taken apart: the paths, and the components of each kind. */
const DEPTH = 3;

/** Long lines are left long; what YAML 1.1 would take for something else is put in quotes. */
const OPTIONS = { lineWidth: 0, aliasDuplicateObjects: false, compat: "yaml-1.1" } as const;

/** A key that may stand before a colon as it is. */
const PLAIN = /^[\w/][\w/{}.-]*$/;

/**
 * Writes an object as a block mapping.
 *
 * @param value what to write
 * @param indent how many spaces stand before each line
 */
export function formatYaml(value: Json, indent = 0): string {
  return shift(stringify(value, OPTIONS), indent);
}

/** Writes the items of a list as a block sequence. */
export function formatItems(items: readonly unknown[], indent: number): string {
  return shift(stringify(items, OPTIONS), indent);
}

/** Writes a whole document, with pauses. */
export async function writeYaml(document: Json): Promise<string> {
  const pieces: string[] = [];
  const write = async (object: Json, depth: number) => {
    for (const key of Object.keys(object)) {
      const value = object[key];
      const isApart = depth < DEPTH && isObject(value) && PLAIN.test(key) &&
        Object.keys(value).length > 0;
      if (!isApart) pieces.push(formatYaml({ [key]: value }, depth * 2));
      else {
        pieces.push(shift(formatYaml({ [key]: 0 }).replace(/ 0\n$/, "\n"), depth * 2));
        await write(value, depth + 1);
      }
      await breathe();
    }
  };
  await write(document, 0);
  return pieces.length > 0 ? pieces.join("") : "{}\n";
}

/** Puts spaces before every line with a content; `^` would find lines that YAML has not (U+2028). */
function shift(text: string, indent: number): string {
  if (indent === 0) return text;
  const spaces = " ".repeat(indent);
  return spaces + text.replaceAll(/\n(?=[^\n])/g, `\n${spaces}`);
}
