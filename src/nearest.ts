/**
 * Suggestions for mistyped names.
 *
 * @module
 */
import { distance } from "fastest-levenshtein";

export function nearest(word: string, names: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
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

/** Sorts the letters of a word, so that words with swapped letters become equal. */
const sorted = (word: string) => [...word].sort().join("");

export const didYouMean = (name: string | undefined): string =>
  name === undefined ? "" : `; did you mean ${name}?`;
