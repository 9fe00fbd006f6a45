/**
 * The messages to an operator while the service runs.
 *
 * @module
 */
import type { NodeEvent } from "./info/state-log.ts";
import type { Diagnostic } from "./openapi/diagnostics.ts";

/** Takes what an operator should know: a sentence, and for programs what it is about. */
export type Log = (message: string, event: LogEvent) => void;

/** The subject of a message. */
export type LogEvent = NodeEvent | DescriptionEvent | CallEvent | ErrorEvent;

/** Something is wrong with the node's description, or there is none. */
export interface DescriptionEvent {
  readonly code: "description";
  readonly level: "info" | "warn" | "error";
  /** The mistake in it, and its place. */
  readonly finding?: Diagnostic | undefined;
}

/** A call of the node that was forwarded: never a path, a parameter or a body. */
export interface CallRecord {
  /** The name of the method, or the method of HTTP and the template. */
  readonly operation: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

/** The calls of the node that are logged: those that failed, all, or none. */
export const LOG_CALLS = ["failed", "all", "off"] as const;
export type LogCalls = (typeof LOG_CALLS)[number];

/**
 * Tells whether a call is logged. One has failed that got no response of the node, or a status of 5xx: the node was not
 * reached, too slow, busy or not understood, or the client left (499). An error in JSON-RPC is a response.
 */
export function isLogged({ status }: Pick<CallRecord, "status">, calls: LogCalls): boolean {
  return calls === "all" || (calls === "failed" && status >= 499);
}

/** A call was forwarded to the node, and is one of those that {@linkcode LogCalls} names. */
export interface CallEvent {
  readonly code: "call";
  readonly level: "info";
  readonly call: CallRecord;
}

/** A response was 500, or something else failed that nobody expected. */
export interface ErrorEvent {
  readonly code: "error";
  readonly level: "error";
  readonly error: unknown;
}

/** Writes each message to standard error. */
export const consoleLog: Log = (message) => console.error(`nodeface: ${message}`);

/** Writes what was thrown as text: with its stack, if it has one. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.stack ?? String(error) : String(error);
}
