/**
 * From the answers of the sources to the keys of the info.
 *
 * @module
 */
import type { FieldOptions } from "../kinds/kind.ts";
import { convert, isKnown } from "./conversions.ts";
import { KNOWN_KEYS } from "./known-keys.ts";
import { answerAt, type Answers } from "./knowledge.ts";
import { parseReference } from "./source-reference.ts";

/** Keys and their values. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Reads the fields. A key whose value is not known is left out.
 *
 * @param fields where each key comes from
 * @param previous the values before these
 */
export function readFields(
  fields: Readonly<Record<string, FieldOptions>>,
  answers: Answers,
  previous: Values,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, { from, as, unless }] of Object.entries(fields)) {
    if (unless && answerAt(answers, unless)) continue;
    const found = (typeof from === "string" ? [from] : from)
      .filter((reference) => isKnown(answerAt(answers, reference)));
    if (found.length === 0) continue;
    const learntAt = answers.get(parseReference(found[0]!)[0])!.date;
    const value = convert(found.map((reference) => answerAt(answers, reference)), as, {
      learntAt,
      previous: previous[key],
    });
    const formed = Object.hasOwn(KNOWN_KEYS, key) ? KNOWN_KEYS[key]!.form(value) : value;
    if (isKnown(formed)) values[key] = formed;
  }
  return values;
}
