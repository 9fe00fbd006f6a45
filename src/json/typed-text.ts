/**
 * Reads a text, as a query or a form has it, as a JSON value of one of several types.
 *
 * @module
 */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Returns the JSON text of a number, a boolean, a list or an object if the types allow it, or else
 * of a string. A list or an object also counts if no type is given.
 *
 * @param types those of JSON Schema, such as `integer`; others have no effect
 */
export function jsonOfText(text: string, types: readonly string[]): string {
  const word = text.trim();
  const has = (...wanted: readonly string[]) => wanted.some((type) => types.includes(type));
  if (has("integer", "number") && NUMBER.test(word)) return word;
  if (has("boolean") && /^(?:true|false)$/.test(word)) return word;
  if ((!has("string") || has("array", "object")) && isListOrObject(word)) return word;
  // A text of several words is sent as it came: it may be signed.
  return JSON.stringify(/\s/.test(word) ? text : word);
}

function isListOrObject(text: string): boolean {
  try {
    return /^[[{]/.test(text) && JSON.parse(text) !== null;
  } catch {
    return false;
  }
}
