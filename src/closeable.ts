/**
 * The type of objects that `await using` closes, also for hosts whose `lib` lacks it.
 *
 * @module
 */
/// <reference lib="esnext.disposable" preserve="true" />
/** Can be closed, also by `await using`. */
export interface Closeable {
  close(): Promise<void>;
  /** Closes it. */
  [Symbol.asyncDispose](): Promise<void>;
}
