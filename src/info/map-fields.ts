/**
 * From the answers of the sources to the keys of the info.
 *
 * @module
 */
import type { FieldOptions, Reference } from "../kinds/kind.ts";
import { textOf } from "../json/values.ts";
import { convert, isKnown, numberOf } from "./conversions.ts";
import type { Taken } from "./query-sources.ts";
import { parseReference } from "./source-reference.ts";

/** What a source gave. */
export interface Learnt {
  readonly taken: Taken;
  /** When it was learnt, in milliseconds since 1970. */
  readonly date: number;
}

/** What sources gave, by their names. */
export type Answers = ReadonlyMap<string, Learnt>;

/** Keys and their values. */
export type Values = Readonly<Record<string, unknown>>;

/** The form that a key's value always has, so that clients of every kind can rely on it. */
const FORMS: Readonly<Record<string, (value: unknown) => unknown>> = {
  name: textOf,
  software: textOf,
  version: textOf,
  commit: textOf,
  network: textOf,
  chain_id: textOf,
  node_type: textOf,
  node_id: textOf,
  height: numberOf,
  head_at: time,
  synced: (value) => typeof value === "boolean" ? value : undefined,
  sync_progress: (value) => {
    const number = numberOf(value);
    return number !== undefined && number >= 0 ? Math.min(Number(number), 1) : undefined;
  },
  peers: numberOf,
  started_at: time,
};

/** The value at a place; `undefined` where its source gave nothing. */
export function valueAt(answers: Answers, reference: Reference): unknown {
  const [source, pointer] = parseReference(reference);
  return answers.get(source)?.taken.get(pointer);
}

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
    if (unless && valueAt(answers, unless)) continue;
    const found = (typeof from === "string" ? [from] : from)
      .filter((reference) => isKnown(valueAt(answers, reference)));
    if (found.length === 0) continue;
    const learntAt = answers.get(parseReference(found[0]!)[0])!.date;
    const value = convert(found.map((reference) => valueAt(answers, reference)), as, {
      learntAt,
      previous: previous[key],
    });
    const formed = formOf(key, value);
    if (isKnown(formed)) values[key] = formed;
  }
  return values;
}

/** A value in the form that its key always has. */
export function formOf(key: string, value: unknown): unknown {
  return Object.hasOwn(FORMS, key) ? FORMS[key]!(value) : value;
}

function time(value: unknown): unknown {
  return convert([value], "time", { learntAt: 0 });
}
