/**
 * What `await using` disposes of, with types for TypeScript before 5.2 and for hosts whose `lib` lacks them.
 *
 * @module
 */
declare global {
  interface SymbolConstructor {
    /** What `await using` calls. */
    readonly asyncDispose: unique symbol;
  }
}

/** What can be closed, also by `await using`. */
export interface Closeable {
  close(): Promise<void>;
  /** Closes it. */
  [Symbol.asyncDispose](): Promise<void>;
}
