/**
 * The places of the parts of a JSON text, so that they can be passed on as they are.
 *
 * @module
 */
import { JsonScanner, JsonSyntaxError, type TokenKind } from "./scan.ts";

export interface Part {
  readonly kind: Exclude<TokenKind, "}" | "]" | "key">;
  readonly start: number;
  end: number;
  /** Of an object; `undefined` below the levels that are wanted. */
  readonly members: Map<string, Part> | undefined;
  /** Of a list, likewise. */
  readonly items: Part[] | undefined;
  count: number;
}

/** The parts that are returned; the others are only checked. */
interface PartsWanted {
  readonly levels: number;
  readonly items?: number;
  readonly member?: (name: string) => boolean;
  /** True if an object may have a key twice, of which the last one counts. @default false */
  readonly takesDuplicates?: boolean;
}

/**
 * Finds the parts of a text. The others cost no memory but for the keys of objects.
 *
 * @throws {JsonSyntaxError} if it is not JSON, is nested too deep, or an object has a key twice
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
  const isReturned = ({ items, members }: Part, key: string) =>
    items ? items.length < itemsMax : members !== undefined && isWanted(key);
  // By the level of each open object or list: its part, its last key, and all of its keys.
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
        throw new JsonSyntaxError("duplicate key in an object", start);
      } else if (typeof known === "string") keys[depth] = new Set([known, key]);
      else known.add(key);
    } else if (kind === "}" || kind === "]") {
      const part = parts[depth--];
      if (part) part.end = end;
    } else {
      const holder = parts[depth];
      let part: Part | undefined;
      if (depth === 0 || (holder && depth <= levels && isReturned(holder, last[depth]!))) {
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
