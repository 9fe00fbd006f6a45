/**
 * Finds the operation that matches a path. The path is later forwarded to the node byte for byte.
 *
 * @module
 */
import { decodePercent, parsePercent } from "../decode.ts";
import { byRank, foldPath, normalizePath, readSegment } from "../http/path-template.ts";
import { isUnambiguous } from "../http/target.ts";
import type { MultiSegment } from "../kinds/interface.ts";
import { memoize } from "../lazy.ts";
import { type PathEntry, pathEntryOf, type QueryEntry, queryEntryOf } from "./path-entry.ts";
import { CALL_METHODS, type PolicyEntry } from "./policy.ts";
import {
  ALWAYS,
  type Differs,
  hasRival,
  isGuardedMore,
  isHandledOtherwise,
  needsMoreRights,
  runnableAmong,
} from "./rivals.ts";

export interface PathMatch {
  readonly entry: PolicyEntry;
  readonly parameters: ReadonlyMap<string, string>;
  /** The first parameter in the path that breaks a rule. */
  readonly wrong: { readonly name: string; readonly rule: string } | undefined;
}

/** Control characters, and characters that parsers change or treat as separators. */
const FORBIDDEN =
  /[\\\p{Cc}\u2024\u2025\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe52\ufe68\uff0e\uff0f\uff3c\ufffd]/u;

/**
 * Stands for a `%2F` that the node does not treat as a slash. A parameter cannot contain NUL,
 * because `FORBIDDEN` matches NUL.
 */
const OPAQUE_SLASH = "\0";

/** The operations that are called by their paths. Paths are percent-encoded. */
export class PathTable {
  readonly #operations: readonly PathEntry[];
  readonly #withQuery: readonly QueryEntry[];
  readonly #matchesAt = memoize((path) => this.#match(path));
  /** The methods of one template have the same folded path. */
  readonly #fittingFolded = memoize((path) => {
    const folded = foldPath(path);
    return this.#operations.filter((one) => one.folded.match(folded));
  });
  constructor(policy: readonly PolicyEntry[]) {
    this.#operations = policy.filter(({ operation }) => !operation.isMethod).map(pathEntryOf)
      .filter(({ template }) => template.isShort).sort(byRank);
    this.#withQuery = this.#operations.flatMap((one) => queryEntryOf(one) ?? []);
  }

  /**
   * Returns `undefined` if no operation has the path and the method, or if the node might run
   * another operation.
   */
  find(path: string, method: string): PathMatch | undefined {
    return this.#matchesAt(path).get(method);
  }

  /** Returns the methods that do not get 405, or `undefined` for an unknown path. */
  methodsAt(path: string): readonly string[] | undefined {
    const matches = this.#matchesAt(path);
    return matches.size > 0 ? [...matches.keys()] : undefined;
  }

  /**
   * Returns the operations that a call of `own` with this query may run, and that more rights are
   * needed for. Their paths have the query in them, so that they cannot be called by their names.
   */
  withQuery(own: PolicyEntry, path: string, query: string): PolicyEntry[] {
    if (this.#withQuery.length === 0 || query === "") return [];
    const given = new URLSearchParams(query);
    const normalized = normalizePath(path);
    const foldedPaths = [path, path.replaceAll(/%2f/gi, encodeURIComponent(OPAQUE_SLASH))]
      .map((path) => foldPath(decodePercent(path)));
    const takesPath = ({ template, folded }: QueryEntry) =>
      template.match(normalized) !== undefined ||
      foldedPaths.some((path) => folded.match(path) !== undefined);
    const matching = this.#withQuery.filter((one) =>
      one.query.every(([name, value]) =>
        /^$|[{}]/.test(value) ? given.has(name) : given.getAll(name).includes(value)
      ) && takesPath(one)
    );
    const { all } = runnableAmong(matching, own, ({ entry }) => entry.operation.path);
    return all.map(({ entry }) => entry).filter((entry) => needsMoreRights(own, entry));
  }

  /** Returns the operations at a path by their methods. */
  #match(path: string): ReadonlyMap<string, PathMatch> {
    const matches = new Map<string, PathMatch>();
    const candidates = this.#candidatesAt(path);
    // The path may be long, and most paths that clients ask for have no operation.
    if (candidates.length === 0) return matches;
    const normalized = normalizePath(path);
    for (const method of CALL_METHODS) {
      const own = candidates.find((one) => one.method === method) ??
        (method === "HEAD" ? candidates.find((one) => one.method === "GET") : undefined);
      if (!own || hasRival(own, candidates, ALWAYS)) continue;
      const texts = own.template.match(normalized) ?? [];
      const { parameters, wrong } = readParameters(own, texts);
      if (!wrong && this.#isTakenByOther(own, texts)) continue;
      matches.set(method, { entry: own.entry, parameters, wrong });
    }
    return matches;
  }

  #candidatesAt(path: string): readonly PathEntry[] {
    if (!isUnambiguous(path)) return [];
    const normalized = normalizePath(path);
    const matching = matchingAt(this.#operations, normalized);
    if (matching.length > 0) return matching;
    const bases = this.#operations.filter(({ entry }) => entry.operation.isBase);
    return matchingAt(bases, `${normalized}/`);
  }

  /**
   * Tells whether a lenient server might route the path to another operation: with the address
   * `connect`, `/peers/{address}` becomes `/peers/connect`.
   */
  #isTakenByOther(own: PathEntry, texts: readonly string[]): boolean {
    const { template: { names, source }, literals, multiSegment } = own;
    const isOpaque = (text: string, at: number) =>
      multiSegment.get(names[at]!) === "encoded" && text.includes("%2F");
    const pathWith = (slash: string) =>
      literals.map((literal, at) => {
        const text = texts[at] ?? "";
        return literal + decodePercent(isOpaque(text, at) ? text.replaceAll("%2F", slash) : text);
      }).join("");
    const isTaken = (path: string, differs: Differs) =>
      hasRival(own, this.#fittingFolded(path), differs);
    const path = pathWith(OPAQUE_SLASH);
    // A parameter that is marked `encoded` by mistake must not allow calls to restricted
    // operations.
    if (isTaken(path, isHandledOtherwise)) return true;
    if (texts.some(isOpaque) && isTaken(pathWith("/"), isGuardedMore)) return true;
    // Rails and Spring read the end of `/users/export.json` as a format.
    const folded = foldPath(path), bare = folded.replace(/(?<=[^/])\.\w{1,10}$/, "");
    const mayEndWithFormat = source.endsWith("{}") && !source.endsWith(".{}");
    return mayEndWithFormat && bare !== folded && isTaken(bare, isHandledOtherwise);
  }
}

/** A path may have dozens of operations, whose templates are alike. */
function matchingAt(operations: readonly PathEntry[], path: string): PathEntry[] {
  const known = new Map<string, boolean>();
  return operations.filter(({ template }) => {
    let isMatching = known.get(template.key);
    if (isMatching === undefined) {
      isMatching = template.match(path) !== undefined;
      known.set(template.key, isMatching);
    }
    return isMatching;
  });
}

function readParameters(
  { template: { names }, multiSegment }: PathEntry,
  texts: readonly string[],
): Pick<PathMatch, "parameters" | "wrong"> {
  const parameters = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const value = parsePercent(texts[at]!);
    const rule = value === undefined
      ? "must be encoded as UTF-8"
      : brokenRule(value, multiSegment.get(name));
    if (rule !== undefined) return { parameters, wrong: { name, rule } };
    parameters.set(name, value!);
  }
  return { parameters, wrong: undefined };
}

function brokenRule(
  value: string,
  multiSegment: MultiSegment | undefined,
): string | undefined {
  // Some nodes and file systems normalize characters: a full-width dot becomes a dot, and U+2100
  // becomes `a/c`.
  const plain = value.normalize("NFKC");
  const parts = plain.split("/");
  if (parts.map(readSegment).some((part) => part === "." || part === "..")) {
    return 'must not be "." or ".."';
  }
  if (multiSegment === true && parts.includes("")) return "must not have empty segments";
  if (!multiSegment && value.includes("/")) {
    return "must not contain slashes; x-multi-segment in the description allows them";
  }
  return FORBIDDEN.test(value) || plain.includes("\\") ||
      parts.length > value.split("/").length
    ? "must not contain slashes, backslashes or control characters"
    : undefined;
}
