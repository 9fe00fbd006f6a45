/**
 * The type of objects for `await using`. The `reference` directive declares `Symbol.asyncDispose`,
 * which the `lib` setting of a host may lack.
 *
 * @module
 */
/// <reference lib="esnext.disposable" preserve="true" />
/** An object to close with `close` or `await using`. */
export interface Closeable {
  close(): Promise<void>;
  /** Does the same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}
