/**
 * Finds the operation that matches a path. The path is later forwarded to the node byte for byte.
 *
 * @module
 */
import { decodePercent, parsePercent } from "../decode.ts";
import { isUnambiguous } from "../http/target.ts";
import {
  byRank,
  foldLetters,
  foldPath,
  normalizePath,
  PathTemplate,
  readSegment,
} from "../http/path-template.ts";
import type { MultiSegment } from "../kinds/interface.ts";
import { memoize } from "../lazy.ts";
import { CALL_METHODS, type PolicyEntry } from "./policy.ts";

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

/** An operation, and the paths at which it is called. */
interface PathEntry {
  readonly entry: PolicyEntry;
  readonly method: string;
  readonly rank: string;
  readonly template: PathTemplate;
  /** The template as the most lenient server would read it. */
  readonly folded: PathTemplate;
  /** What stands between the parameters, decoded. */
  readonly literals: readonly string[];
  readonly multiSegment: ReadonlyMap<string, MultiSegment | undefined>;
}

function multiSegmentOf(
  { operation: { parameters = [] } }: PolicyEntry,
): Map<string, MultiSegment | undefined> {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return new Map(inPath.map(({ name, multiSegment }) => [name, multiSegment]));
}

/** Reads a path as it is, and as the most lenient server would. */
function templatesOf(
  path: string,
  multiSegment: PathEntry["multiSegment"],
): Pick<PathEntry, "template" | "folded"> {
  const spans = (name: string) => multiSegment.get(name) === true;
  const readFolded = (literal: string) => foldLetters(decodePercent(literal));
  return {
    template: new PathTemplate(path, spans),
    folded: new PathTemplate(path.replace(/\/$/, ""), spans, readFolded),
  };
}

function pathEntryOf(entry: PolicyEntry): PathEntry {
  const { method, path } = entry.operation;
  const multiSegment = multiSegmentOf(entry);
  const { template, folded } = templatesOf(path, multiSegment);
  const literals = path.split(/\{[^{}]*\}/).map(decodePercent);
  return { entry, method, rank: template.rank, template, folded, literals, multiSegment };
}

/** An operation whose path has a query. */
interface QueryEntry extends Pick<PathEntry, "entry" | "template" | "folded"> {
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** The templates are those of what is before the query. */
function queryEntryOf({ entry, multiSegment }: PathEntry): QueryEntry | undefined {
  const [, before, query] = /^([^?#]*)\?([^#]+)/.exec(entry.operation.path) ?? [];
  if (before === undefined) return undefined;
  return {
    entry,
    ...templatesOf(before, multiSegment),
    query: [...new URLSearchParams(query)],
  };
}

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
      if (!own || hasRival(own, candidates, ANY)) continue;
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

/**
 * Finds what a node may run in place of `own`, in order: operations with its method (`same`), and
 * those that a node which ignores the method may run, since none at their path has it.
 */
function runnableAmong<T extends Pick<PathEntry, "entry">>(
  others: readonly T[],
  own: PolicyEntry,
  pathOf: (other: T) => string,
): { readonly same: readonly T[]; readonly all: readonly T[] } {
  const hasMethod = ({ entry }: T) => entry.operation.method === own.operation.method;
  const same = others.filter(hasMethod);
  const paths = new Set(same.map(pathOf));
  return { same, all: others.filter((one) => hasMethod(one) || !paths.has(pathOf(one))) };
}

/** Tells whether it matters that the node runs `rival` in place of `own`. */
type Differs = (own: PolicyEntry, rival: PolicyEntry) => boolean;

const ANY: Differs = () => true;

const STRICTNESS = { open: 0, token: 1, refused: 2 } as const;

/**
 * Tells whether the node might run another operation instead of `own`, because the path template of
 * that one is more specific. An operation with another method counts if its permission is stricter.
 * One with the same method also counts if `differs` says so.
 *
 * @param candidates the operations that take the path, the most specific ones first
 */
function hasRival(
  own: PathEntry,
  candidates: readonly PathEntry[],
  differs: Differs,
): boolean {
  const at = candidates.findIndex(({ rank }) => rank === own.rank);
  // If `own` does not take this spelling of the path, whoever does is a rival.
  const moreSpecific = at < 0 ? candidates : candidates.slice(0, at);
  // Of `/books/{id}` and `/{entity}/me`, some nodes take the one that they know first.
  const elsewhere = at < 0
    ? []
    : candidates.slice(at + 1).filter((one) => isElsewhereLiteral(one, own));
  return isOneRival(own, moreSpecific, differs) || isOneRival(own, elsewhere, isHandledOtherwise);
}

function isOneRival(own: PathEntry, others: readonly PathEntry[], differs: Differs): boolean {
  const { same, all } = runnableAmong(others, own.entry, ({ rank }) => rank);
  const isStricter = ({ entry: { permission } }: PathEntry) =>
    STRICTNESS[permission] > STRICTNESS[own.entry.permission];
  return all.some(isStricter) || same.some((one) => differs(own.entry, one.entry));
}

/** Tells whether an operation has a literal where `own` has a parameter. */
function isElsewhereLiteral({ template }: PathEntry, own: PathEntry): boolean {
  if (template.spanning + own.template.spanning > 0) return false;
  const segments = template.source.split("/");
  return own.template.source.split("/").some((segment, at) =>
    segment.includes("{}") && segments[at]?.includes("{}") === false
  );
}

/** Tells whether not everybody who may call `own` may call `rival` in the same way. */
const isGuardedMore: Differs = (own, rival) =>
  rival.operation.isChecked ||
  (rival.permission !== "open" && own.clients.some((name) => !rival.clients.includes(name)));

const needsMoreRights: Differs = ({ operation: own }, { operation: { access, isChecked } }) =>
  (isChecked && !own.isChecked) ||
  (access !== "read" && (access !== undefined || own.access !== undefined));

/** Tells whether a call of `rival` is also handled differently. */
const isHandledOtherwise: Differs = (own, rival) =>
  isGuardedMore(own, rival) || rival.operation.access !== own.operation.access ||
  (["isHeavy", "isStreaming", "isLongPoll"] as const)
    .some((mark) => rival.operation[mark] && !own.operation[mark]);

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
