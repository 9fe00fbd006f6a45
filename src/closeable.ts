/**
 * The type of objects for `await using`. Compiles even if the `lib` of a host lacks `Symbol.asyncDispose`.
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
