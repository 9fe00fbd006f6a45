/**
 * The type of objects that `await using` closes; compiles even if the `lib` of a host lacks `Symbol.asyncDispose`.
 *
 * @module
 */
/// <reference lib="esnext.disposable" preserve="true" />
/** An object that `close` or `await using` closes. */
export interface Closeable {
  close(): Promise<void>;
  /** Does the same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}
