/**
 * Names for what is put into components: readable, valid, unique, and the same whatever else changes.
 *
 * @module
 */
import { type Json, objectOf, type Path } from "../json/values.ts";
import { decodePercent } from "../percent-decode.ts";
import type { Target } from "./resolve-files.ts";
import { KEYWORDS, NAMED_MEMBERS } from "./document-structure.ts";

/** The longest name that is made and that is kept, in characters: each reference repeats it. */
const LENGTH_MAX = 120, KEPT_LENGTH_MAX = 400;

const VALID = /^[A-Za-z0-9._-]+$/;

/** Whether a component may keep its name (OpenAPI 3.1.1, section 4.8.7.1). */
export function isValidName(name: string): boolean {
  return VALID.test(name) && name.length <= KEPT_LENGTH_MAX;
}

/** Makes a name valid: `my pet` becomes `my_pet`. */
export function toValidName(name: string, kind: string): string {
  const text = name.slice(0, LENGTH_MAX).replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return /[A-Za-z]/.test(text) ? text : capital(kind) + text;
}

/**
 * Names targets of one kind. Where several would have the same name, each has the key above its own before
 * it (`Altair.Block`), or else a number after it (`Pet2`).
 *
 * @param targets in any order
 * @param taken the names that are not free; the new ones are added
 */
export function nameTargets(targets: readonly Target[], taken: Set<string>): Map<Target, string> {
  const wanted = new Map<string, { target: Target; longer: string }[]>();
  for (const target of [...targets].sort(compare)) {
    const { name, longer } = hintOf(target);
    const group = wanted.get(name) ?? [];
    group.push({ target, longer });
    wanted.set(name, group);
  }
  const names = new Map<Target, string>();
  const numbers = new Map<string, number>();
  for (const [name, group] of wanted) {
    const isUnique = new Set(group.map(({ longer }) => longer)).size === group.length;
    for (const { target, longer } of group) {
      let free = group.length > 1 && isUnique ? longer : name;
      for (let i = numbers.get(free) ?? 2, stem = free; taken.has(free); numbers.set(stem, i)) {
        free = `${stem}${i++}`;
      }
      taken.add(free);
      names.set(target, free);
    }
  }
  return names;
}

/** What a target could be called, and what it could be called to tell it from others. */
function hintOf({ member, path, shape, value }: Target): { name: string; longer: string } {
  const keys = [stemOf(member.url), ...chosenKeys(path)];
  const [above = "", last = ""] = [keys.length > 1 ? keys.at(-2) : "", keys.at(-1)];
  const isItem = /^\d+$/.test(path.at(-1) ?? "");
  const own = isItem && objectOf(value as Json).name;
  const isMember = path.at(-2) === "properties" || /^(?:\d.*|default)$/.test(last);
  const hint = typeof own === "string" ? own : isMember ? valid(above) + capital(last) : last;
  const name = toValidName(hint, shape);
  return { name, longer: toValidName(`${valid(above)}.${name}`.replace(/^\./, ""), shape) };
}

/** The keys of a path that the author chose: no keywords, positions and media types. */
function chosenKeys(path: Path): string[] {
  const chosen: string[] = [];
  let isChosen = false;
  for (const long of path) {
    // The key of many targets may be very long.
    const key = long.slice(0, KEPT_LENGTH_MAX);
    const isKeyword: boolean = !isChosen && (KEYWORDS.has(key) || /^\d+$/.test(key));
    if (!isKeyword && !/^[^/]+\/[^/]+$/.test(key)) chosen.push(key);
    isChosen = isKeyword && NAMED_MEMBERS.has(key);
  }
  return chosen;
}

/** A file's name without what says of what kind it is. */
function stemOf(url: string): string {
  const name = decodePercent(new URL(url).pathname.split("/").at(-1)!);
  return name.replace(/(?:\.(?:schema|response|parameter|example))?\.\w+$/, "");
}

/** An order that does not depend on where they are referred to. */
function compare(a: Target, b: Target): number {
  if (a.member !== b.member) return a.member.url < b.member.url ? -1 : 1;
  const i = a.path.findIndex((key, i) => key !== b.path[i]);
  if (i === -1) return a.path.length - b.path.length;
  return i >= b.path.length || a.path[i]! > b.path[i]! ? 1 : -1;
}

const valid = (name: string): string =>
  name.slice(0, LENGTH_MAX / 2).replaceAll(/[^A-Za-z0-9._-]+/g, "_").replaceAll(/^_+|_+$/g, "");

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
