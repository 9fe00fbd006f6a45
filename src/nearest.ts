/**
 * Finds what somebody meant who mistyped a name.
 *
 * @module
 */
import { distance } from "fastest-levenshtein";

/** The name that is most like a mistyped one; `undefined` where none is like it. */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  // One slip in a short word, up to three in a long one.
  const most = Math.min(3, Math.ceil(typed.length / 4));
  let best: string | undefined;
  let least = most + 1;
  for (const name of names) {
    const known = name.toLowerCase();
    const isStart = typed.length >= 3 && known.startsWith(typed);
    const isOneSlip = isStart || sorted(typed) === sorted(known);
    const slips = isOneSlip ? 1 : distance(typed, known);
    if (slips < least) [best, least] = [name, slips];
  }
  return best;
}

/** The letters of a word in the order of the alphabet: the same for words with swapped letters. */
const sorted = (word: string) => [...word].sort().join("");

/** The end of a message that names it: `; did you mean kind?`, or nothing. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : `; did you mean ${name}?`;
}
