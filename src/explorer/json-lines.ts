/**
 * Indents JSON token by token: parsing would lose digits of numbers, and recursion would limit the
 * depth.
 *
 * @module
 */
import { parsed, readTokens } from "./form-request.ts";

export interface JsonLine {
  text: string;
  /** The name of the member on this line. The items of a list have the name of the list. */
  name: string;
  /**
   * The string or number on this line, as JSON. Empty if the line contains no string and no number.
   */
  value: string;
  /** The index of the line on which this line's value ends. */
  end: number;
  count: number;
}

export function readLines(text: string): readonly JsonLine[] | undefined {
  if (parsed(text) === undefined) return undefined;
  const lines: JsonLine[] = [];
  const open: { line: number; isList: boolean }[] = [];
  let key = "", last = "";
  const indent = () => "  ".repeat(Math.min(open.length, 64));
  const add = (text: string, value: string) => {
    const parent = open.at(-1);
    const name = key ? JSON.parse(key) : parent?.isList ? lines[parent.line]!.name : "";
    if (parent) lines[parent.line]!.count++;
    const end = lines.length;
    lines.push({ text: indent() + (key && `${key}: `) + text, name, value, end, count: 0 });
    key = "";
  };
  for (const [token] of readTokens(text)) {
    if (token === ",") lines.at(-1)!.text += ",";
    else if (token === "{" || token === "[") {
      add(token, "");
      open.push({ line: lines.length - 1, isList: token === "[" });
    } else if (token === "}" || token === "]") {
      const { line } = open.pop()!;
      if (last === "{" || last === "[") lines[line]!.text += token;
      else {
        lines[line]!.end = lines.length;
        lines.push({ text: indent() + token, name: "", value: "", end: lines.length, count: 0 });
      }
    } else if (token !== ":") {
      const isKey = !key && open.length > 0 && !open.at(-1)!.isList;
      if (isKey) key = token;
      else add(token, /^["\d-]/.test(token) ? token : "");
    }
    last = token;
  }
  return lines;
}
