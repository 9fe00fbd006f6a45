/**
 * Finds out what kind of node answers: every kind's question is asked, side by side.
 *
 * @module
 */
import type { Kind, Reference } from "../kinds/kind.ts";
import { type AskContext, createAsk } from "./query-sources.ts";
import { createAuth, type Place } from "./sources/credentials.ts";
import { formatJson } from "../json/lossless.ts";
import type { PlannedSource } from "./query-plan.ts";
import { parseReference } from "./source-reference.ts";
import { excerpt } from "../text.ts";
import { SECRET } from "./sources/source-error.ts";

/** All questions together take no longer than this, in milliseconds. */
const TIME = 3000;

/** One kind, or why it is none. */
export type Recognition =
  | { kind: string; because: string }
  | { kind?: never; because: string };

/**
 * Asks a node what it is.
 *
 * @param url the node's URL
 * @param kinds what it may be
 * @param auth where its secret lies, if the operator has said so
 * @param fetch what asks
 */
export async function recognise(
  url: string,
  kinds: Readonly<Record<string, Kind>>,
  auth: Place | undefined,
  fetch: AskContext["fetch"],
): Promise<Recognition> {
  const reasons = new Map<string, number>();
  const test = async ([name, kind]: [string, Kind]) => {
    const ask = createAsk({ url, auth: createAuth(url, auth, kind.auth), fetch, timeout: TIME });
    const outcomes = await ask(questionsOf(kind));
    const evidence: string[] = [];
    for (const [reference, pattern] of Object.entries(kind.recognise)) {
      const [source, pointer] = parseReference(reference as Reference);
      const outcome = outcomes.get(source)!;
      if ("error" in outcome) {
        const { message } = outcome.error;
        reasons.set(message, (reasons.get(message) ?? 0) + 1);
        return undefined;
      }
      const value = outcome.taken.get(pointer);
      if (value === undefined || !new RegExp(pattern).test(String(value))) return undefined;
      evidence.push(`${reference} is ${excerpt(formatJson(value, 2))}`);
    }
    return { kind: name, because: evidence.join(", ") };
  };
  const found = (await Promise.all(Object.entries(kinds).map(test))).filter((kind) => !!kind);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const names = found.map(({ kind, because }) => `${kind} (${because})`).join(" or ");
    return { because: `it may be ${names}; --kind says which` };
  }
  const common = [...reasons].sort(([, a], [, b]) => b - a).map(([reason]) => reason);
  const reason = common.find((reason) => reason.startsWith(SECRET)) ?? common[0];
  return { because: reason ? `it ${reason}` : "its answers are those of no kind known" };
}

/** What a kind is recognised by. */
function questionsOf({ recognise, sources }: Kind): Map<string, PlannedSource> {
  const questions = new Map<string, PlannedSource>();
  for (const reference of Object.keys(recognise)) {
    const [name, pointer] = parseReference(reference as Reference);
    const pointers = [...questions.get(name)?.pointers ?? [], pointer];
    questions.set(name, { source: { ...sources[name]!, timeout: `${TIME}ms` }, pointers });
  }
  return questions;
}
