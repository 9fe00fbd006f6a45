/**
 * Checks the options of a host.
 *
 * @module
 */
import type { Operation } from "./operations/operation.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { OPTIONS, optionsWith } from "./options-schema.ts";
import { describeMistake, type Mistake, readValue } from "./settings/check.ts";
import { show } from "./settings/show.ts";
import { hasKind, unknownSources } from "./settings/unknown-sources.ts";

/**
 * Checks all options.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, mistakes } = readValue(options, own.length > 0 ? optionsWith(own) : OPTIONS);
  const found = [...mistakes];
  if (found.length === 0) found.push(...mistakesBetween(value as CheckedOptions));
  if (found.length > 0) {
    const lines = found.map((mistake) => describeMistake(mistake));
    throw new TypeError(lines.length === 1 ? lines[0] : ["wrong options:", ...lines].join("\n  "));
  }
  return value as CheckedOptions;
}

/** What is wrong with options that are right one by one. */
function mistakesBetween({ node = {}, info, operations = [] }: CheckedOptions): Mistake[] {
  // To load the kinds for their sources would delay the start.
  const isWhole = typeof info === "object" && !hasKind(node);
  return [...mistakesInOperations(operations), ...isWhole ? unknownSources(info, []) : []];
}

/** Paths that cannot be served, and operations that OpenAPI takes for the same. */
function* mistakesInOperations(operations: readonly Operation[]): Generator<Mistake> {
  const first = new Map<string, { at: number; path: string }>();
  const taken = new Map<string, number>();
  for (const [at, { method, path }] of operations.entries()) {
    const wrong = mistakeInPath(path);
    if (wrong) yield { path: ["operations", at, "path"], message: wrong, isKey: false };
    if (wrong) continue;
    const template = path.replaceAll(/\{[^}]*\}/g, "{}");
    const earlier = first.get(template);
    const same = taken.get(`${method} ${template}`);
    if (same !== undefined) {
      const message = `is served already: operations[${same}] is ${method} ${earlier!.path}`;
      yield { path: ["operations", at], message: `(${method} ${path}) ${message}`, isKey: false };
    } else if (earlier && earlier.path !== path) {
      const message = `must be ${show(earlier.path)}, as operations[${earlier.at}] has it, not ` +
        `${show(path)}: OpenAPI takes both for the same path`;
      yield { path: ["operations", at, "path"], message, isKey: false };
    }
    if (!earlier) first.set(template, { at, path });
    taken.set(`${method} ${template}`, at);
  }
}

/** Why a path cannot be served; `undefined` where it can. */
function mistakeInPath(path: string): string | undefined {
  const wrong = (right: string) => `must ${right}, not ${show(path)}`;
  if (!path.startsWith("/")) return wrong("begin with a slash");
  if (path !== "/" && path.endsWith("/")) return wrong("have no slash at its end");
  if (/\/\.\.?(\/|$)/.test(path)) return wrong('have no part "." or "..", which URLs leave out');
  if (/[?#]/.test(path)) return wrong('have no "?" and no "#", which end the path of a URL');
  if (/%(?![\dA-Fa-f]{2})/.test(path)) return wrong('have two hexadecimal digits after each "%"');
  if (/[\ud800-\udfff]/u.test(path)) return wrong("be valid Unicode");
  if (/[{}]/.test(path.replaceAll(/\{[^{}/]+\}/g, ""))) {
    return wrong("have a name in each pair of braces");
  }
  const names = path.match(/\{[^}]*\}/g) ?? [];
  if (new Set(names).size < names.length) return wrong("have each name once");
  return undefined;
}
