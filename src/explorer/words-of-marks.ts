/**
 * The marks of an operation in plain words. `src/kinds/interface.ts` says what each means.
 *
 * @module
 */
import { CALL_MARK } from "../gateway/annotate-operations.ts";
import type { OperationMarks } from "../kinds/interface.ts";
import { type Json, textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";

/** The marks that are shown: the name, its value, the word for it, and what that says. */
export const MARK_WORDS: readonly (readonly [
  name: keyof OperationMarks | typeof CALL_MARK,
  value: string | true,
  word: string,
  text: string,
])[] = [
  ["x-access", "read", "read", "changes nothing, and shows what anybody may see"],
  ["x-access", "write", "write", "may change something"],
  ["x-access", "secret", "private", "changes nothing, and shows what is private"],
  ["x-cost", "heavy", "heavy", "may keep the node busy for seconds"],
  ["x-streaming", true, "streams", "does not end, or waits until something happens"],
  [CALL_MARK, "open", "open", "can be called here by anybody"],
  [CALL_MARK, "token", "token", "can be called here with the operator's token"],
  [CALL_MARK, "refused", "not forwarded", "cannot be called here"],
];

/** In UTF-16 code units. */
const SINCE_LENGTH_MAX = 20;

/**
 * The words for what an operation is marked with.
 *
 * @param operation untrusted
 */
export function wordsOf(operation: Json): string[] {
  const words = MARK_WORDS.filter(([name, value]) => operation[name] === value)
    .map(([, , word]) => word);
  const since = excerpt(textOf(operation["x-since"]) ?? "", SINCE_LENGTH_MAX);
  return since ? [...words, `since ${since}`] : words;
}
