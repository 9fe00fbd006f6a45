/**
 * Finds what is wrong with a text that is no JSON, in the same words and at the same place on every
 * runtime (RFC 8259).
 *
 * @module
 */

const GAP = /[ \t\r\n]*/y;
const STRING =
  /"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"/uy;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/** What may stand at a place. */
const EXPECTED = {
  value: "a value",
  first: "a value or ]",
  key: "a key in double quotes",
  firstKey: "a key in double quotes or }",
  colon: "a colon",
  member: "a comma or }",
  item: "a comma or ]",
  end: "nothing more",
} as const;

/** The first mistake in a text that is no JSON: where it is, and what would be right. */
export function findMistake(text: string): { offset: number; message: string } {
  /** Whether each of the values around the place is an object. */
  const around: boolean[] = [];
  let state: keyof typeof EXPECTED = "value";
  let at = skip(GAP, text, 0);
  const after = (): keyof typeof EXPECTED =>
    around.length === 0 ? "end" : around.at(-1) ? "member" : "item";
  for (; at < text.length; at = skip(GAP, text, at)) {
    const character = text[at]!;
    const isValue: boolean = state === "value" || state === "first";
    const isKey: boolean = state === "key" || state === "firstKey";
    if (isValue && (character === "{" || character === "[")) {
      around.push(character === "{");
      state = character === "{" ? "firstKey" : "first";
      at++;
    } else if (
      (character === "}" && (state === "firstKey" || state === "member")) ||
      (character === "]" && (state === "first" || state === "item"))
    ) {
      around.pop();
      state = after();
      at++;
    } else if (character === "," && (state === "member" || state === "item")) {
      state = state === "member" ? "key" : "value";
      at++;
    } else if (character === ":" && state === "colon") {
      state = "value";
      at++;
    } else if (isValue || isKey) {
      const end = skip(character === '"' ? STRING : LITERAL, text, at);
      if (end === at && character === '"') {
        return {
          offset: at,
          message: "this string has no end, or a character that needs an escape",
        };
      }
      if (end === at || (isKey && character !== '"')) break;
      state = isKey ? "colon" : after();
      at = end;
    } else break;
  }
  const found = at === text.length
    ? "the text ends"
    : `${
      text[at] === '"' ? "a string" : JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))
    } stands`;
  return { offset: at, message: `${found} where ${EXPECTED[state]} should be` };
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
