/**
 * Finds what somebody meant who mistyped a name.
 *
 * @module
 */

/**
 * The name that is most like a mistyped one; `undefined` where none is like it.
 *
 * @param word what was typed, in any letter case
 * @param names what it may have meant
 */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  // One slip in a short word, up to three in a long one.
  const most = Math.min(3, Math.ceil(typed.length / 4));
  let best: string | undefined;
  let least = most + 1;
  for (const name of names) {
    const known = name.toLowerCase();
    const isStart = typed.length >= 3 && known.startsWith(typed);
    const slips = isStart ? 1 : distance(typed, known);
    if (slips < least) [best, least] = [name, slips];
  }
  return best;
}

/** How many letters were added, left out, changed or swapped with their neighbour. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return Infinity;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next.push(Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? older[column - 2]! + 1 : Infinity,
      ));
    }
    [older, last] = [last, next];
  }
  return last[b.length]!;
}

/** The end of a message that names it: `; did you mean kind?`, or nothing. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : `; did you mean ${name}?`;
}
