/**
 * The messages to an operator while the service runs.
 *
 * @module
 */
import type { NodeEvent } from "./info/state-log.ts";
import type { Diagnostic } from "./openapi/diagnostics.ts";

/** Takes a message for the operator, and an event with the same content for programs. */
export type Log = (message: string, event: LogEvent) => void;

export type LogEvent = NodeEvent | DescriptionEvent | CallEvent | ErrorEvent;

/** The node's description is wrong or missing. */
export interface DescriptionEvent {
  readonly code: "description";
  readonly level: "info" | "warn" | "error";
  readonly finding?: Diagnostic | undefined;
}

/** A forwarded call of the node, without its path, parameters and body. */
export interface CallRecord {
  /** The name of the method, or the HTTP method and the path template. */
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

/** The calls that are logged: those that failed, all, or none. */
export const LOG_CALLS = ["failed", "all", "off"] as const;
export type LogCalls = (typeof LOG_CALLS)[number];

/** Tells whether a call is logged: 499 (the client has disconnected) and 5xx are failures, a JSON-RPC error is not. */
export function isLogged({ status }: Pick<CallRecord, "status">, calls: LogCalls): boolean {
  return calls === "all" || (calls === "failed" && status >= 499);
}

/** A call was forwarded to the node. */
export interface CallEvent {
  readonly code: "call";
  readonly level: "info";
  readonly call: CallRecord;
}

/** A response was 500, or something else failed unexpectedly. */
export interface ErrorEvent {
  readonly code: "error";
  readonly level: "error";
  readonly error: unknown;
}

export const consoleLog: Log = (message) => console.error(`nodeface: ${message}`);

/** Formats a thrown value, with its stack if it has one. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.stack ?? String(error) : String(error);
}
