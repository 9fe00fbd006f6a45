/**
 * Texts in which `*` stands for any characters: names in settings, and what a parameter must not hold. To match one
 * takes time linear in the text, whoever wrote both.
 *
 * @module
 */

/** Whether a text fits a pattern, from its start to its end. */
export function fits(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Whether parts of a path, one after the other, fit those of a pattern such as `ipns/*.*`; in any letter case. */
export function holdsParts(path: string, pattern: string): boolean {
  const wanted = partsOf(pattern);
  const parts = partsOf(path);
  return parts.some((_, at) =>
    wanted.every((part, i) => at + i < parts.length && fits(part, parts[at + i]!))
  );
}

const partsOf = (path: string): string[] => path.toLowerCase().split("/").filter(Boolean);
