/**
 * Messages for the operator while the service runs.
 *
 * @module
 */
import type { NodeEvent } from "./info/state-log.ts";
import type { Diagnostic } from "./openapi/diagnostics.ts";
import { HAS_SOCKETS } from "./platform.ts";

/**
 * A function that takes a message for the operator, and a machine-readable event with the same
 * content.
 *
 * @example
 * ```ts
 * const log: Log = (message, { level, code }) => console.error(level, code, message);
 * ```
 */
export type Log = (message: string, event: LogEvent) => void;

/** The event of a message: see [Embedding](../docs/embedding.md). */
export type LogEvent = NodeEvent | DescriptionEvent | CallEvent | ErrorEvent;

/** A report that the node's description was read, is invalid or is missing. */
export interface DescriptionEvent {
  readonly code: "description";
  readonly level: "info" | "warn" | "error";
  readonly finding?: Diagnostic | undefined;
}

/** The record of a forwarded call, without its path, parameters or body. */
export interface CallRecord {
  /** The name of the JSON-RPC method, or the HTTP method and the path template. */
  readonly operation: string;
  /** The name of the client, or `anonymous`. */
  readonly client: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

export const LOG_CALLS = ["failed", "all", "off"] as const;

/**
 * The calls that are logged: only failed calls, all, or none. See {@linkcode
 * NodefaceOptions.logCalls}.
 */
export type LogCalls = (typeof LOG_CALLS)[number];

/**
 * A failed call has the status 499 (client disconnected) or 5xx. A JSON-RPC error is not a failure.
 */
export function isLogged({ status }: Pick<CallRecord, "status">, calls: LogCalls): boolean {
  return calls === "all" || (calls === "failed" && status >= 499);
}

/** The event for a forwarded call. */
export interface CallEvent {
  readonly code: "call";
  readonly level: "info";
  readonly call: CallRecord;
}

/** An unexpected error, such as one that caused a 500 response. */
export interface ErrorEvent {
  readonly code: "error";
  readonly level: "error";
  readonly error: unknown;
}

/** A worker has no standard error, and its console shows the level. */
export const consoleLog: Log = (message, { level }) =>
  console[HAS_SOCKETS ? "error" : level](`nodeface: ${message}`);

/** @param request the method and path of the request that failed */
export function describeError(error: unknown, request?: string): string {
  const text = error instanceof Error ? error.stack ?? String(error) : String(error);
  return request === undefined ? text : `${request} failed: ${text}`;
}
