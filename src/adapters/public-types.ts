/**
 * The types that every adapter exports beside its `serve`.
 *
 * @module
 */
export type { AnswerRecord, Outcome } from "./answer-record.ts";
export type { Closeable } from "../disposable.ts";
export type { App, Callbacks, Listening, ServeOptions } from "./server.ts";
