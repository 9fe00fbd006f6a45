/**
 * From the answers of the sources to the keys of the info.
 *
 * @module
 */
import type { FieldOptions, Reference } from "../kinds/kind.ts";
import { convert, isKnown } from "./conversions.ts";
import { exact } from "../json/lossless.ts";
import { textOf } from "../json/values.ts";
import { parseReference } from "./source-reference.ts";

/** What was taken from a source's answer, by pointer. */
export type Taken = ReadonlyMap<string, unknown>;

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
  height: number,
  peers: number,
  synced: (value) => typeof value === "boolean" ? value : undefined,
};

/**
 * Reads the fields. A key whose value is not known is left out.
 *
 * @param fields where each key comes from
 * @param taken what each source gave, by its name
 * @param previous the values before these
 * @param now milliseconds since 1970
 */
export function readFields(
  fields: Readonly<Record<string, FieldOptions>>,
  taken: ReadonlyMap<string, Taken>,
  previous: Readonly<Record<string, unknown>>,
  now: number,
): Record<string, unknown> {
  const at = (reference: Reference) => {
    const [source, pointer] = parseReference(reference);
    return taken.get(source)?.get(pointer);
  };
  const values: Record<string, unknown> = {};
  for (const [key, { from, as, unless }] of Object.entries(fields)) {
    if (unless && at(unless)) continue;
    const found = (typeof from === "string" ? [from] : from).map(at).filter(isKnown);
    if (found.length === 0) continue;
    const value = convert(found, as, { now, previous: previous[key] });
    const formed = FORMS[key] ? FORMS[key](value) : value;
    if (isKnown(formed)) values[key] = formed;
  }
  return values;
}

function number(value: unknown): number | bigint | undefined {
  if (typeof value === "string" && /^\d{1,308}$/.test(value)) return exact(BigInt(value));
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}
