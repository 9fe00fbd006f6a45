/**
 * The keys of the info that every kind of node may have: their order, their forms, and on which of them the
 * status rests.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { convert, numberFrom } from "./conversions.ts";

/** A key that every kind of node may have. */
interface KnownKey {
  /** Brings a value into the form that clients of every kind can rely on; `undefined` if it has none. */
  readonly form: (value: unknown) => unknown;
  /** Whether the status rests on it, so that it is read even where it is hidden. */
  readonly isJudged?: true;
}

const text = { form: textOf };
const time = { form: (value: unknown) => convert([value], "time", { learntAt: 0 }) };

/** The keys in the order in which they are shown. */
export const KNOWN_KEYS: Readonly<Record<string, KnownKey>> = {
  name: text,
  software: text,
  version: text,
  commit: text,
  network: { ...text, isJudged: true },
  chain_id: { ...text, isJudged: true },
  node_type: text,
  node_id: text,
  height: { form: naturalNumber, isJudged: true },
  head_at: { ...time, isJudged: true },
  synced: { form: (value) => typeof value === "boolean" ? value : undefined, isJudged: true },
  sync_progress: { form: share, isJudged: true },
  peers: { form: naturalNumber, isJudged: true },
  started_at: time,
};

/** Whether the status rests on a key. */
export function isJudged(key: string): boolean {
  return Object.hasOwn(KNOWN_KEYS, key) && KNOWN_KEYS[key]!.isJudged === true;
}

/** A whole number from 0 on. */
function naturalNumber(value: unknown): number | bigint | undefined {
  const number = numberFrom(value);
  const isWhole = typeof number === "bigint" || Number.isInteger(number);
  return isWhole && number! >= 0 ? number : undefined;
}

/** A number from 0 to 1. */
function share(value: unknown): number | undefined {
  const number = numberFrom(value);
  return number !== undefined && number >= 0 ? Math.min(Number(number), 1) : undefined;
}
