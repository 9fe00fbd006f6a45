/**
 * Reads values by schemas and says everything that is wrong with them at once.
 *
 * @module
 */
import * as v from "valibot";
import { type Schema, SECRET } from "./schema-builders.ts";
import { show } from "./show.ts";

/** The keys and indices that lead to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong. */
export interface Mistake {
  readonly path: Path;
  /** What is wrong and what would be right, after the value's name. */
  readonly message: string;
  /** Whether it is about the last key of the path and not its value. */
  readonly isKey: boolean;
}

/**
 * Reads a value.
 *
 * @returns the value, with texts as their rules read them, and all that is wrong with it; what is
 * wrong is as it was
 */
export function readValue(
  value: unknown,
  schema: Schema,
): { value: unknown; mistakes: readonly Mistake[] } {
  const { output, issues = [] } = v.safeParse(schema, value);
  return { value: output, mistakes: issues.map(mistakeOf) };
}

function mistakeOf(issue: v.BaseIssue<unknown>): Mistake {
  const path = issue.path?.map(({ key }) => key as string | number) ?? [];
  const isKey = issue.path?.at(-1)?.origin === "key";
  if (issue.type === "raw_check" || issue.type === "raw_transform") {
    return { path, message: issue.message, isKey };
  }
  if (isKey && issue.type === "loose_object") {
    return { path: path.slice(0, -1), message: `needs ${path.at(-1)}`, isKey: false };
  }
  const isShown = !isKey && issue.input !== SECRET;
  const message = `must be ${issue.message}${isShown ? `, not ${show(issue.input)}` : ""}`;
  return { path, message, isKey };
}

/** A mistake as one line: `node.kind must be …`. */
export function describeMistake({ path, message }: Mistake): string {
  return path.length > 0 ? `${nameOf(path)} ${message}` : message;
}

/** What a value is called: `info.sources.disk.command[0]`. */
function nameOf(path: Path): string {
  return path.map((key, at) => typeof key === "number" ? `[${key}]` : at > 0 ? `.${key}` : key)
    .join("");
}
