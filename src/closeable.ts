/**
 * The type of objects for `await using`. The reference below declares `Symbol.asyncDispose` for a host whose `lib`
 * does not declare it.
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
