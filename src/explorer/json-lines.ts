/**
 * The lines of indented JSON, as it is written: a number that were read would lose digits. Nothing recurses, however
 * deep the text is.
 *
 * @module
 */
import { readTokens } from "./form-request.ts";

/** A line of indented JSON. */
export interface JsonLine {
  readonly text: string;
  /** The name of the member whose value it has, or of the one that holds the list; empty in the outermost. */
  readonly name: string;
  /** The value as it is written, where it is a string or a number. */
  readonly value: string;
  /** The line that closes what it opens, counted from 0; its own where it opens nothing. */
  end: number;
  /** The number of members of what it opens. */
  count: number;
}

/** Deeper objects and lists are not indented any further. */
const LEVELS_MAX = 64;

/** Reads the lines of a text; `undefined` where it is not JSON. */
export function readLines(text: string): JsonLine[] | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const lines: { text: string; name: string; value: string; end: number; count: number }[] = [];
  const open: { line: number; name: string; isList: boolean }[] = [];
  let key = "", last = "";
  const indent = () => "  ".repeat(Math.min(open.length, LEVELS_MAX));
  const add = (text: string, value: string) => {
    const parent = open.at(-1);
    const name = key ? JSON.parse(key) : parent?.isList ? parent.name : "";
    if (parent) lines[parent.line]!.count++;
    const end = lines.length;
    lines.push({ text: indent() + (key && `${key}: `) + text, name, value, end, count: 0 });
    key = "";
    return name;
  };
  for (const [token] of readTokens(text)) {
    if (token === ",") lines.at(-1)!.text += ",";
    else if (token === "{" || token === "[") {
      const name = add(token, "");
      open.push({ line: lines.length - 1, name, isList: token === "[" });
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
