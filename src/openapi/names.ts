/**
 * Names: free ones, and those of what is put into components: readable, valid, unique, and the same in whatever order
 * they are made.
 *
 * @module
 */
import { objectOf, type Path } from "../json/values.ts";
import { decodePercent } from "../percent-decode.ts";
import { KEYWORDS } from "./structure.ts";

/**
 * Creates a function that makes names free: with a number behind them where somebody has them already.
 *
 * @param taken the names that are not free; each new one is added
 * @param separator stands before the number
 */
export function createFreeName(
  taken: Set<unknown>,
  separator: string = "",
): (wanted: string) => string {
  const numbers = new Map<string, number>();
  return (wanted) => {
    let free = wanted;
    for (let i = numbers.get(wanted) ?? 2; taken.has(free); numbers.set(wanted, i)) {
      free = `${wanted}${separator}${i++}`;
    }
    taken.add(free);
    return free;
  };
}

/** A name with a capital at its start. */
export const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** A noun with its indefinite article. */
export const withArticle = (noun: string): string =>
  `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** The longest name that is made and that is kept, in characters: each reference repeats it. */
const LENGTH_MAX = 120, KEPT_LENGTH_MAX = 400;

/** Tells whether a name is one of a component (OpenAPI 3.1.1, section 4.8.7.1), and none too long. */
export function isComponentName(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name) && name.length <= KEPT_LENGTH_MAX;
}

/** Something that is to have a name of its own. */
interface Nameable {
  readonly member: { readonly url: string };
  readonly path: Path;
  readonly shape: string;
  readonly value: unknown;
}

/**
 * Names what is put into one section of the components.
 *
 * @param targets in any order
 * @param taken the names that are not free; the new ones are added
 */
export function nameComponents<T extends Nameable>(
  targets: readonly T[],
  taken: Set<unknown>,
): Map<T, string> {
  const freeName = createFreeName(taken);
  return new Map([...targets].sort(compare).map((target) => [target, freeName(nameFor(target))]));
}

/** The name of a target by the last key that its author chose, after the one above where it is a member of that. */
function nameFor({ member, path, shape, value }: Nameable): string {
  const chosen = path.filter((key) => !KEYWORDS.has(key) && !/^[^/]+\/[^/]+$/.test(key));
  const keys = [stemOf(member.url), ...chosen];
  const [above, last] = [keys.at(-2) ?? "", keys.at(-1)!];
  const isMember = path.at(-2) === "properties" || /^(?:\d.*|default)$/.test(last);
  const own = isMember && objectOf(value).name;
  const name = typeof own === "string"
    ? valid(own)
    : isMember
    ? valid(above) + capital(valid(last))
    : valid(last);
  return /[A-Za-z]/.test(name) ? name : capital(shape) + name;
}

const valid = (name: string): string =>
  name.slice(0, LENGTH_MAX).replaceAll(/[^A-Za-z0-9._-]+/g, "_").replaceAll(/^_+|_+$/g, "");

/** The name of a file without what says of what kind it is. */
function stemOf(url: string): string {
  const name = decodePercent(new URL(url).pathname.split("/").at(-1)!);
  return name.replace(/(?:\.(?:schema|response|parameter|example))?\.\w+$/, "");
}

/** An order that does not depend on where they are referred to. */
function compare(a: Nameable, b: Nameable): number {
  if (a.member !== b.member) return a.member.url < b.member.url ? -1 : 1;
  const i = a.path.findIndex((key, i) => key !== b.path[i]);
  if (i === -1) return a.path.length - b.path.length;
  return i >= b.path.length || a.path[i]! > b.path[i]! ? 1 : -1;
}
