/**
 * Reads JSON of a description: what it says, and what is wrong with it.
 *
 * @module
 */
import { DUPLICATE_KEY, LARGE_NUMBER, type Problem, TOO_MANY_NODES } from "./diagnostics.ts";
import { readNumber } from "../json/lossless.ts";
import { JsonDepthError, JsonScanner, JsonSyntaxError } from "../json/scan.ts";
import { type Json, type Path, setMember } from "../json/values.ts";
import { LIMITS } from "./limits.ts";
import { failedReading, type Reading } from "./parse.ts";

/**
 * Reads a text in one pass.
 *
 * @returns with `isOther` where it is no JSON, but may be YAML
 */
export function readJson(text: string): Reading & { readonly isOther: boolean } {
  const problems: Problem[] = [];
  const fail = (offset: number, message: string, isOther: boolean) => ({
    ...failedReading([{ offset, message, isFatal: true }]),
    isOther,
  });
  const scanner = new JsonScanner(text, LIMITS.depth);
  const root: Json = {};
  const open: (Json | unknown[])[] = [root];
  let key = "";
  try {
    for (let nodes = 0; scanner.next();) {
      const { kind, start } = scanner;
      const parent = open.at(-1)!;
      if (kind === "key") {
        key = scanner.string;
        if (Object.hasOwn(parent, key)) {
          problems.push({ offset: start, message: DUPLICATE_KEY, isFatal: false });
        }
        continue;
      }
      if (kind === "}" || kind === "]") {
        open.pop();
        continue;
      }
      if (++nodes > LIMITS.nodes) return fail(start, TOO_MANY_NODES, false);
      const value = valueOf(scanner);
      if (kind === "number" && typeof value === "string") {
        problems.push({ offset: start, message: LARGE_NUMBER, isFatal: false });
      }
      if (Array.isArray(parent)) parent.push(value);
      else setMember(parent, key, value);
      if (kind === "{" || kind === "[") open.push(value as Json | unknown[]);
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return fail(
      error.offset,
      `is not JSON: ${error.message}`,
      !(error instanceof JsonDepthError),
    );
  }
  const offsetsOf = (paths: readonly Path[]) => locate(text, paths);
  return { value: root[""], problems, isOther: false, offsetsOf };
}

function valueOf(scanner: JsonScanner): unknown {
  const { kind } = scanner;
  if (kind === "{") return {};
  if (kind === "[") return [];
  return kind === "number" ? readNumber(scanner.raw) : JSON.parse(scanner.raw);
}

/** What is looked for within a value: which of the paths lead to it, and the members. */
interface Wanted {
  readonly paths: number[];
  readonly members: Map<string, Wanted>;
}

/** Finds the values at some paths, all in one pass; of one that is not there, what is nearest. */
function locate(text: string, paths: readonly Path[]): number[] {
  const offsets = paths.map(() => 0);
  const root: Wanted = { paths: [], members: new Map() };
  paths.forEach((path, index) => {
    let wanted = root;
    for (const key of path) {
      const next: Wanted = wanted.members.get(key) ?? { paths: [], members: new Map() };
      wanted.members.set(key, next);
      next.paths.push(index);
      wanted = next;
    }
  });
  /** The objects and lists around the place. */
  const around: { wanted: Wanted | undefined; isList: boolean; index: number }[] = [];
  const scanner = new JsonScanner(text);
  let wanted: Wanted | undefined = root;
  while (scanner.next()) {
    const { kind, start } = scanner;
    if (kind === "}" || kind === "]") {
      around.pop();
      continue;
    }
    const parent = around.at(-1);
    if (kind === "key") wanted = parent?.wanted?.members.get(scanner.string);
    else if (parent?.isList) wanted = parent.wanted?.members.get(String(parent.index++));
    // A value comes after its key, and its place is the one that counts.
    for (const index of wanted?.paths ?? []) offsets[index] = start;
    if (kind === "{" || kind === "[") around.push({ wanted, isList: kind === "[", index: 0 });
  }
  return offsets;
}
