/**
 * The places of the parts of a JSON text, so that they can be passed on as they are: no number is read and printed
 * again.
 *
 * @module
 */
import { JsonScanner, JsonSyntaxError, type TokenKind } from "./scan.ts";

export interface Part {
  readonly kind: Exclude<TokenKind, "}" | "]" | "key">;
  readonly start: number;
  end: number;
  /** Of an object, as deep as is asked for. */
  readonly members: Map<string, Part> | undefined;
  /** Of a list, as deep as is asked for. */
  readonly items: Part[] | undefined;
  count: number;
}

/** Which parts are told; the others are checked alone. */
interface PartsWanted {
  readonly levels: number;
  readonly items?: number;
  readonly member?: (name: string) => boolean;
  /** True if an object may have a key twice, of which the last one counts. @default false */
  readonly takesDuplicates?: boolean;
}

/**
 * Reads where the parts of a text stand. What is not told costs no memory but for the keys of objects.
 *
 * @throws {JsonSyntaxError} where it is no JSON, is nested deeper, or an object has a key twice
 */
export function readParts(
  text: string,
  {
    levels,
    items: itemsMax = Infinity,
    member: isWanted = () => true,
    takesDuplicates = false,
  }: PartsWanted,
  depthMax: number,
): Part {
  const scanner = new JsonScanner(text, depthMax);
  const isTold = ({ items, members }: Part, key: string) =>
    items ? items.length < itemsMax : members !== undefined && isWanted(key);
  /** The objects and lists that are open, by level: those that are told, the last key of each, and all keys. */
  const parts: (Part | undefined)[] = [];
  const last: string[] = [];
  const keys: (Set<string> | string | undefined)[] = [];
  let depth = 0;
  let root: Part | undefined;
  while (scanner.next()) {
    const { kind, start, end } = scanner;
    if (kind === "key") {
      const key = scanner.string;
      last[depth] = key;
      if (takesDuplicates) continue;
      const known = keys[depth];
      // Most objects have few keys, and a set for each takes longer than all the rest.
      if (known === undefined) keys[depth] = key;
      else if (typeof known === "string" ? known === key : known.has(key)) {
        throw new JsonSyntaxError("this key stands a second time in its object", start);
      } else if (typeof known === "string") keys[depth] = new Set([known, key]);
      else known.add(key);
    } else if (kind === "}" || kind === "]") {
      const part = parts[depth--];
      if (part) part.end = end;
    } else {
      const holder = parts[depth];
      let part: Part | undefined;
      if (depth === 0 || (holder && depth <= levels && isTold(holder, last[depth]!))) {
        const hasParts = depth < levels;
        part = {
          kind,
          start,
          end,
          members: hasParts && kind === "{" ? new Map() : undefined,
          items: hasParts && kind === "[" ? [] : undefined,
          count: 0,
        };
        root ??= part;
        holder?.members?.set(last[depth]!, part);
        holder?.items?.push(part);
      }
      if (holder) holder.count++;
      if (kind === "{" || kind === "[") {
        parts[++depth] = part;
        keys[depth] = undefined;
      }
    }
  }
  return root!;
}

export const textOfPart = (text: string, { start, end }: Part): string => text.slice(start, end);
