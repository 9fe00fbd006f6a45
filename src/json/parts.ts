/**
 * Where the parts of a JSON text stand, so that they can be passed on as they are: no number is read and printed
 * again.
 *
 * @module
 */
import { JsonScanner, JsonSyntaxError, type TokenKind } from "./scan.ts";

/** A value in a text. */
export interface Part {
  /** How it begins. */
  readonly kind: Exclude<TokenKind, "}" | "]" | "key">;
  /** Offsets in UTF-16 code units. */
  readonly start: number;
  end: number;
  /** Of an object, as deep as is asked for. */
  readonly members?: Map<string, Part>;
  /** Of a list, as deep as is asked for. */
  readonly items?: Part[];
}

/** An object that has a key twice. */
export class DuplicateKeyError extends JsonSyntaxError {
  override name = "DuplicateKeyError";
}

/**
 * Reads where the parts of a text stand.
 *
 * @param levels how many levels of objects and lists are told; what is deeper is checked alone
 * @param depthMax how many levels there may be
 * @throws {DuplicateKeyError} where an object at any depth has a key twice
 * @throws {JsonSyntaxError} where it is no JSON, or is nested deeper
 */
export function readParts(text: string, levels: number, depthMax: number): Part {
  const scanner = new JsonScanner(text, depthMax);
  /** The objects and lists that are open; `part` of those that are told. */
  const open: { part: Part | undefined; keys: Set<string> | undefined; key: string }[] = [];
  let root: Part | undefined;
  while (scanner.next()) {
    const { kind, start, end } = scanner;
    const holder = open.at(-1);
    if (kind === "key") {
      const key = scanner.string;
      if (holder!.keys!.has(key)) {
        throw new DuplicateKeyError("this key stands a second time in its object", start);
      }
      holder!.keys!.add(key);
      holder!.key = key;
      continue;
    }
    if (kind === "}" || kind === "]") {
      const { part } = open.pop()!;
      if (part) part.end = end;
      continue;
    }
    const isTold = open.length === 0 || (holder!.part !== undefined && open.length <= levels);
    let part: Part | undefined;
    if (isTold) {
      const hasParts = open.length < levels;
      part = {
        ...{ kind, start, end },
        ...hasParts && kind === "{" && { members: new Map() },
        ...hasParts && kind === "[" && { items: [] },
      };
      root ??= part;
      holder?.part?.members?.set(holder.key, part);
      holder?.part?.items?.push(part);
    }
    if (kind === "{" || kind === "[") {
      open.push({ part, keys: kind === "{" ? new Set() : undefined, key: "" });
    }
  }
  return root!;
}

/** The text of a part. */
export const textOfPart = (text: string, { start, end }: Part): string => text.slice(start, end);
