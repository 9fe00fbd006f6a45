/**
 * What a kind of node may be called: the name of one, or the file of an operator's own.
 *
 * @module
 */
import { KIND_ALIASES, KIND_NAMES } from "../generated/kind-names.js";
import { oneWordOf, type TextRule } from "./text-rules.ts";

/** What would be right. */
const RIGHT = 'a kind of node (see "nodeface kinds") or none';

/** What the file of a kind is called: its name, and `.yaml`, `.yml` or `.json`. */
export const KIND_FILE_RULE: TextRule = {
  right: "a file such as mine.yaml, called as its kind is",
  pattern: /(?:^|[/\\])(?!none\.)([a-z][a-z0-9-]*)\.(?:ya?ml|json)$/,
};

/** The name of a kind by its file: `mine` for `kinds/mine.yaml`; `undefined` for what is no such file. */
export function kindNameOf(path: string): string | undefined {
  return KIND_FILE_RULE.pattern.exec(path)?.[1];
}

/** Whether what stands for a kind is meant to be the file of one. */
export function isKindFile(text: string): boolean {
  return /[/\\]|\.(?:ya?ml|json)$/.test(text);
}

/**
 * The name of a kind that is known, or `none`.
 *
 * @param own the names of the operator's own kinds
 */
export function kindNameRule(own: readonly string[]): TextRule {
  return oneWordOf([...KIND_NAMES, ...own, "none"], RIGHT, KIND_ALIASES);
}

/** A name, which may be that of a kind that is read later, or a file. `readConfig` says which names are none. */
export const KIND_OR_FILE_RULE: TextRule = {
  right: RIGHT,
  pattern: /^[^\r\n]+$/,
  why: (text) =>
    isKindFile(text) && kindNameOf(text) === undefined
      ? `must be ${KIND_FILE_RULE.right}`
      : undefined,
};
