/**
 * What every part of `http/` gives: an answer as plain data, which `toResponse` makes a `Response` of.
 *
 * @module
 */
import type { Status } from "./status.ts";

/** An answer to GET; for HEAD the same is sent without the body. */
export interface Answer {
  readonly status: Status;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}
