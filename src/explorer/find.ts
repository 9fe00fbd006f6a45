/**
 * Finds operations by words that may be misspelled, shortened, or in another order.
 *
 * @module
 */

/** The parts of an operation in which words are found: its name, and everything else. */
export interface Entry {
  readonly title: string;
  readonly text: string;
}

/** Words that mean the same, since each kind of node has words of its own. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(Object.entries({
  best: "newest",
  head: "newest",
  height: "blocknumber",
  last: "newest",
  latest: "newest",
  tip: "newest",
  tx: "transaction",
  txid: "transactionhash",
}));

/** Without separators, so that `getblock` and `get block` both find `eth_getBlock`. */
const foldWords = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}/]+/gu, "");

/** Returns the entries in which every word is found, the best first. */
export function find<E extends Entry>(query: string, entries: readonly E[]): E[] {
  const words = query.split(/\s+/).map(foldWords).filter(Boolean);
  return entries.map((entry) => ({ entry, cost: costOf(words, entry) }))
    .filter(({ cost }) => cost < Infinity)
    .sort((a, b) => a.cost - b.cost)
    .map(({ entry }) => entry);
}

function costOf(words: readonly string[], { title, text }: Entry): number {
  const [name, rest] = [foldWords(title), foldWords(text)];
  const costs = words.map((word) => {
    const other = SYNONYMS.get(word) ?? word;
    const slips = Math.min(editDistanceIn(word, name), editDistanceIn(other, name));
    if (slips <= slipsMax(word)) return 10 * slips + (name.length - word.length) / 100;
    return rest.includes(word) || rest.includes(other) ? 5 : Infinity;
  });
  return costs.reduce((sum, cost) => sum + cost, 0);
}

const slipsMax = (word: string): number => word.length < 4 ? 0 : word.length < 8 ? 1 : 2;

/**
 * Returns the least number of wrong, missing or additional letters with which a text contains a
 * word (Sellers, 1980).
 */
export function editDistanceIn(word: string, text: string): number {
  if (text.includes(word)) return 0;
  const row = Array.from({ length: word.length + 1 }, (_, at) => at);
  let least = word.length;
  for (const letter of text) {
    let diagonal = row[0]!;
    for (let at = 1; at <= word.length; at++) {
      const slips = Math.min(
        diagonal + Number(word[at - 1] !== letter),
        row[at]! + 1,
        row[at - 1]! + 1,
      );
      diagonal = row[at]!;
      row[at] = slips;
    }
    least = Math.min(least, row[word.length]!);
  }
  return least;
}
