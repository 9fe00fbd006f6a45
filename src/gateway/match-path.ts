/**
 * Finds the operation of a path of the node. A path is matched against templates; its parameters are decoded once,
 * and checked.
 *
 * @module
 */
import { memoize } from "../http/memoize.ts";

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
}

/** Why a path is none. */
export type PathRefusal =
  /** No template fits. */
  | { readonly refusal: "unknown" }
  /** A parameter holds what none may hold. */
  | { readonly refusal: "wrong"; readonly name: string; readonly rule: string };

/** Matches paths. */
export interface PathTable<T> {
  /**
   * Finds what a path stands for.
   *
   * @param path as it came, percent-encoded
   */
  match(path: string): readonly PathMatch<T>[] | PathRefusal;
  /** All that a path stands for, without regard to case and to a slash at its end. */
  similar(path: string): readonly T[];
}

/** The longest parameter that does not span, in characters. */
const LENGTH_MAX = 256;

/** Dot segments, separators, what a parser changes or takes for one of these, and control characters. */
const FORBIDDEN = /[/\\\p{Cc}\u2024\u2025\u2044\u2215\u29f8\ufe68\uff0e\uff0f\uff3c]/u;

/** The same where slashes are allowed. */
const FORBIDDEN_SPANNING = /[\\\p{Cc}\u2024\u2025\u2044\u2215\u29f8\ufe68\uff0e\uff0f\uff3c]/u;

interface Compiled<T> extends Template<T> {
  readonly pattern: RegExp;
  readonly anyCase: RegExp;
  readonly names: readonly string[];
  /** The most specific one comes first: literals before names, names before what spans. */
  readonly rank: string;
}

/** Makes a table of templates. */
export function createPathTable<T>(templates: readonly Template<T>[]): PathTable<T> {
  const compiled = templates.map(compile).sort((a, b) => a.rank < b.rank ? -1 : 1);
  const fits = memoize((path: string) => compiled.filter(({ pattern }) => pattern.test(path)));
  return {
    match(path) {
      if (!isPlain(path)) return { refusal: "unknown" };
      const [first] = fits(path);
      if (!first) return { refusal: "unknown" };
      const parameters = readParameters(first, path);
      if ("refusal" in parameters) return parameters;
      // Several methods may stand at one template.
      return fits(path).filter(({ rank }) => rank === first.rank)
        .map(({ value }) => ({ value, parameters: parameters.values }));
    },
    similar(path) {
      const bare = path.replace(/\/+$/, "");
      const [first] = compiled.filter(({ anyCase }) => anyCase.test(bare));
      return first
        ? compiled.filter(({ rank }) => rank === first.rank).map(({ value }) => value)
        : [];
    },
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
      source += escape(part);
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
    ...{ path, spans, value, names, rank },
    pattern: new RegExp(`^${source}$`),
    anyCase: new RegExp(`^${bare}$`, "i"),
  };
}

/** A literal, which a caller may have encoded or not. */
function escape(literal: string): string {
  const encoded = encodeURI(literal).replaceAll("%25", "%");
  return encoded.replaceAll(
    /%[\da-f]{2}|[.*+?^${}()|[\]\\]/gi,
    (part) =>
      part.startsWith("%")
        ? part.replaceAll(/[a-f]/gi, (x) => `[${x.toUpperCase()}${x.toLowerCase()}]`)
        : `\\${part}`,
  );
}

function readParameters<T>(
  { pattern, names, spans }: Compiled<T>,
  path: string,
): { readonly values: ReadonlyMap<string, string> } | Extract<PathRefusal, { refusal: "wrong" }> {
  const found = pattern.exec(path)!;
  const values = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const value = decode(found[at + 1]!);
    const rule = value === undefined ? "must be encoded as UTF-8" : faultOf(value, spans.has(name));
    if (rule !== undefined) return { refusal: "wrong", name, rule };
    values.set(name, value!);
  }
  return { values };
}

function faultOf(value: string, spans: boolean): string | undefined {
  if (!spans && value.length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`;
  const parts = spans ? value.split("/") : [value];
  if (parts.some((part) => part === "." || part === ".." || (spans && part === ""))) {
    return "must not be . or ..";
  }
  return (spans ? FORBIDDEN_SPANNING : FORBIDDEN).test(value)
    ? "must not hold slashes, backslashes or control characters"
    : undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

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
  return template.split(/(\{[^{}]*\})/).map((part) => {
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined) return encodeURI(part).replaceAll("%25", "%");
    const value = parameters.get(name) ?? "";
    return spans.has(name)
      ? value.split("/").map(encodeURIComponent).join("/")
      : encodeURIComponent(value);
  }).join("");
}
