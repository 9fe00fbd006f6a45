/**
 * Finds the operation of a path of the node. A path is matched against templates; its parameters are decoded once,
 * and checked.
 *
 * @module
 */
import { memoize } from "../http/memoize.ts";
import { literalPattern } from "../http/path-template.ts";
import { parsePercent } from "../percent-decode.ts";

/** A template, such as `/blocks/{height}`, and what it stands for. */
export interface Template<T> {
  readonly path: string;
  /** The names of its parameters that may hold slashes. */
  readonly spans: ReadonlySet<string>;
  readonly value: T;
}

/** What a path is. */
export interface PathMatch<T> {
  readonly value: T;
  /** The decoded parameters, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The parameter that holds what none may hold, and the rule. */
  readonly fault?: { readonly name: string; readonly rule: string } | undefined;
}

/** Matches paths. */
export interface PathTable<T> {
  /**
   * Finds what a path stands for: several methods may have one template.
   *
   * @param path as it came, percent-encoded
   * @returns nothing where no template fits
   */
  match(path: string): readonly PathMatch<T>[];
  /** All that a path stands for, without regard to case and to a slash at its end. */
  similar(path: string): readonly T[];
}

/** The longest parameter that does not span, in characters. */
const LENGTH_MAX = 256;

/** What parsers change or take for a separator, what stands for bytes that were no UTF-8, and control characters. */
const FORBIDDEN =
  /[\\\p{Cc}\u2024\u2025\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe52\ufe68\uff0e\uff0f\uff3c\ufffd]/u;

interface Compiled<T> extends Template<T> {
  readonly pattern: RegExp;
  readonly anyCase: RegExp;
  readonly names: readonly string[];
  /**
   * The most specific one comes first: literals before names, names before what spans. Case and a slash at the
   * end make no difference.
   */
  readonly rank: string;
}

/** Makes a table of templates. */
export function createPathTable<T>(templates: readonly Template<T>[]): PathTable<T> {
  const compiled = templates.map(compile).sort((a, b) => a.rank < b.rank ? -1 : 1);
  const fits = memoize((path: string) => compiled.filter(({ pattern }) => pattern.test(path)));
  const similar = memoize((bare: string) => {
    const [first] = compiled.filter(({ anyCase }) => anyCase.test(bare));
    return compiled.filter(({ rank }) => rank === first?.rank).map(({ value }) => value);
  });
  return {
    match(path) {
      if (!isPlain(path)) return [];
      const [first] = fits(path);
      return fits(path).filter(({ rank }) => rank === first?.rank)
        .map((template) => ({ value: template.value, ...readParameters(template, path) }));
    },
    similar: (path) => similar(path.replace(/\/+$/, "")),
  };
}

/** Whether a path has nothing that is read in two ways: dot segments, empty ones, backslashes, `;`. */
function isPlain(path: string): boolean {
  if (!/^\/[\w.~!$&'()*+,=:@%/-]*$/.test(path)) return false;
  if (path.includes("//")) return false;
  return !path.split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}

function compile<T>({ path, spans, value }: Template<T>): Compiled<T> {
  const names: string[] = [];
  let source = "";
  let rank = "";
  for (const part of path.split(/(\{[^{}]*\})/)) {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined) {
      source += literalPattern(part);
      rank += part.toLowerCase();
    } else {
      names.push(name);
      const isSpanning = spans.has(name);
      source += isSpanning ? "(.+)" : "([^/]+?)";
      rank += isSpanning ? "\uffff" : "\ufffe";
    }
  }
  const bare = source.replace(/\/$/, "");
  return {
    ...{ path, spans, value, names, rank: rank.replace(/\/$/, "") },
    pattern: new RegExp(`^${source}$`),
    anyCase: new RegExp(`^${bare}$`, "i"),
  };
}

function readParameters<T>(
  { pattern, names, spans }: Compiled<T>,
  path: string,
): Pick<PathMatch<T>, "parameters" | "fault"> {
  const found = pattern.exec(path)!;
  const parameters = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const value = parsePercent(found[at + 1]!);
    const rule = value === undefined ? "must be encoded as UTF-8" : faultOf(value, spans.has(name));
    if (rule !== undefined) return { parameters, fault: { name, rule } };
    parameters.set(name, value!);
  }
  return { parameters };
}

function faultOf(value: string, spans: boolean): string | undefined {
  if (!spans && value.length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`;
  // Some nodes and disks take compatible characters for one another: full-width dots, a/c in one character.
  const plain = value.normalize("NFKC");
  const parts = plain.split("/");
  if (parts.some((part) => part === "." || part === ".." || (spans && part === ""))) {
    return "must not be . or ..";
  }
  const hasSlash = parts.length > (spans ? value.split("/").length : 1);
  return hasSlash || FORBIDDEN.test(value) || plain.includes("\\")
    ? "must not hold slashes, backslashes or control characters"
    : undefined;
}

/** Literals and names in braces, by turns. */
const partsOf = memoize((template: string) => template.split(/(\{[^{}]*\})/));

/**
 * A path built anew of a template and its parameters.
 *
 * @returns percent-encoded
 */
export function buildPath(
  template: string,
  parameters: ReadonlyMap<string, string>,
  spans: ReadonlySet<string>,
): string {
  return partsOf(template).map((part) => {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined) return encodeURI(part).replaceAll("%25", "%");
    const value = parameters.get(name) ?? "";
    return spans.has(name)
      ? value.split("/").map(encodeURIComponent).join("/")
      : encodeURIComponent(value);
  }).join("");
}
