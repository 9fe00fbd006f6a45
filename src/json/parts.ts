/**
 * Finds where the parts of a JSON text begin and end, so that parts can be forwarded unchanged.
 *
 * @module
 */
import { atOnce, inSlices, isLong, type Lane } from "../slices.ts";
import { JsonScanner, JsonSyntaxError, type TokenKind } from "./scan.ts";

export interface Part {
  readonly kind: Exclude<TokenKind, "}" | "]" | "key" | "piece">;
  readonly start: number;
  end: number;
  /** Set only for objects nested less than `levels` deep. */
  readonly members: Map<string, Part> | undefined;
  /** Set only for the outermost value, if it is a list and `levels` is not 0. */
  readonly items: Part[] | undefined;
  count: number;
}

interface PartsWanted {
  readonly levels: number;
  readonly items?: number;
  readonly member?: (name: string) => boolean;
  /**
   * `refused` refuses duplicate keys at any depth, `refused-if-wanted` only those of wanted
   * members, and `last` uses the last value. To find all duplicates, the keys of each open object
   * are kept, which may take ten times the memory of the text.
   */
  readonly duplicates?: "refused" | "refused-if-wanted" | "last";
  /**
   * True if the parts below `levels` are passed on as they are, to who reads them anew: then only
   * strings and brackets are looked at in them, and their items are not counted.
   */
  readonly isPassedOn?: boolean;
}

/** In UTF-16 code units; takes about a millisecond. */
const STEP = 32_768;

/**
 * Reads a long text in slices: see {@linkcode inSlices}.
 *
 * @throws {JsonSyntaxError} if the text is invalid, is too deep or has duplicate keys
 */
export async function readParts(
  text: string,
  wanted: PartsWanted,
  depthMax: number,
  lane?: Lane,
  check?: () => void,
): Promise<Part> {
  const work = findParts(text, wanted, depthMax);
  return isLong(text.length) ? await inSlices(work, lane, check) : atOnce(work);
}

/**
 * Does the same as `readParts` in steps.
 *
 * @throws {JsonSyntaxError} if the text is invalid, is too deep or has duplicate keys
 */
function* findParts(
  text: string,
  {
    levels,
    items: itemsMax = Infinity,
    member: isWanted = () => true,
    duplicates = "refused",
    isPassedOn = false,
  }: PartsWanted,
  depthMax: number,
): Generator<void, Part> {
  const levelsRead = isPassedOn ? levels : Infinity;
  const scanner = new JsonScanner(text, { depthMax, pieceMax: STEP, levelsRead });
  const isReturned = ({ items, members }: Part, key: string) =>
    items ? items.length < itemsMax : members !== undefined && isWanted(key);
  /** The innermost open object or list, if it is returned. */
  let holder: Part | undefined;
  /** Those around it. */
  const outer: (Part | undefined)[] = [];
  const keys = new OpenKeys();
  let key = "";
  let root: Part | undefined;
  let stepEnd = STEP;
  while (scanner.next()) {
    const { kind, start, end } = scanner;
    if (end >= stepEnd) {
      stepEnd = end + STEP;
      yield;
    }
    if (kind === "piece") continue;
    if (kind === "key") {
      const members = holder?.members;
      if (duplicates !== "refused" && !members) continue;
      key = scanner.string;
      const isRepeated = duplicates === "refused"
        ? !keys.add(outer.length, key)
        : duplicates === "refused-if-wanted" && members!.has(key);
      if (isRepeated) throw new DuplicateKeyError(start);
    } else if (kind === "}" || kind === "]") {
      if (holder) holder.end = end;
      holder = outer.pop();
    } else {
      const hasParts = outer.length < levels;
      const part = !root || (holder && isReturned(holder, key))
        ? {
          kind,
          start,
          end,
          members: hasParts && kind === "{" ? new Map() : undefined,
          // Of lists in a list, nobody needs the items, of which a hostile text may have millions.
          items: hasParts && kind === "[" && !root ? [] : undefined,
          count: 0,
        }
        : undefined;
      root ??= part;
      if (holder) holder.count++;
      if (part) {
        holder?.members?.set(key, part);
        holder?.items?.push(part);
      }
      if (kind === "{" || kind === "[") {
        outer.push(holder);
        holder = part;
        keys.open(outer.length);
      }
    }
  }
  return root!;
}

export class DuplicateKeyError extends JsonSyntaxError {
  override name = "DuplicateKeyError";

  constructor(offset: number) {
    super("duplicate key in an object", offset);
  }
}

/** The keys of the objects that are open, by their depth. */
class OpenKeys {
  /** A single key needs no set: sets for all objects would take most of the parsing time. */
  readonly #keys: (Set<string> | string | undefined)[] = [];

  open(depth: number): void {
    this.#keys[depth] = undefined;
  }

  /** Returns false if the object has the key already. */
  add(depth: number, key: string): boolean {
    const known = this.#keys[depth];
    if (known === undefined) {
      this.#keys[depth] = key;
      return true;
    }
    const keys = typeof known === "string" ? new Set([known]) : known;
    this.#keys[depth] = keys;
    return keys.size < keys.add(key).size;
  }
}

export const textOfPart = (text: string, { start, end }: Part): string => text.slice(start, end);
