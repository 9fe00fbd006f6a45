/**
 * Limits how much larger a description becomes since operations repeat what they share, such as the
 * parameters of their path items.
 *
 * @module
 */
import { estimateSize } from "../json/values.ts";
import { LIMITS } from "./diagnostics.ts";

export class CopyBudget {
  #left: number = LIMITS.added;
  readonly #sizes = new Map<unknown, number>();

  /** Tells whether the value may be copied once more, or `times` more. */
  take(value: unknown, times = 1): boolean {
    const size = estimateSize(value, this.#sizes) * times;
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }
}
