/**
 * Lines of text for people.
 *
 * @module
 */

/** A text in lines of at most so many characters; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] ? `${lines[last]} ${word}` : word;
    if (longer.length > width && lines[last]) lines.push(word);
    else lines[last] = longer;
  }
  return lines;
}
