/**
 * Suggestions for mistyped names.
 *
 * @module
 */
import { distance } from "fastest-levenshtein";

export function nearest(word: string, names: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  const letters = sorted(typed);
  const most = Math.min(3, Math.ceil(typed.length / 4));
  let best: string | undefined;
  let least = most + 1;
  for (const name of names) {
    const known = name.toLowerCase();
    const isStart = typed.length >= 3 && known.startsWith(typed);
    const difference = Math.abs(known.length - typed.length);
    // Each missing letter is a slip, so the other comparisons would take time in vain.
    if (!isStart && difference >= least) continue;
    const isOneSlip = isStart || (difference === 0 && letters === sorted(known));
    const slips = isOneSlip ? 1 : distance(typed, known);
    if (slips < least) [best, least] = [name, slips];
  }
  return best;
}

/** Sorts the letters of a word, so that words with swapped letters become equal. */
const sorted = (word: string) => [...word].sort().join("");

export const didYouMean = (name: string | undefined): string =>
  name === undefined ? "" : `; did you mean ${name}?`;
