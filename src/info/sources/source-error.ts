/**
 * Why a source gave nothing.
 *
 * @module
 */

/** Codes of a node that does not answer. */
export const NO_ANSWER = [
  "connection_refused",
  "timeout",
  "dns",
  "tls",
  "not_tls",
  "reset",
] as const;

/** Codes of a node that answers something else than what was asked for. */
export const WRONG_ANSWER = [
  "unauthorized",
  "forbidden",
  "no_credentials",
  "unknown_kind",
  "wrong_kind",
  "bad_answer",
] as const;

/** Why a source gave nothing, for programs. */
export type FailureCode = (typeof NO_ANSWER)[number] | (typeof WRONG_ANSWER)[number];

/** What may be said of a failure besides its message. */
export interface FailureDetails {
  /** The code of a JSON-RPC error, or the status of an HTTP response. */
  readonly number?: number | undefined;
  /** Whether the node says that it has no such method or path. */
  readonly isAbsent?: boolean;
  /** Whether this is no response of a node of any kind that would be asked so, such as a page of HTML. */
  readonly isForeign?: boolean;
  /** What an operator can do, for the log: it may name settings and paths. */
  readonly hint?: string | undefined;
  /** The kind that the refusal shows. */
  readonly looksLike?: string | undefined;
}

/**
 * A failure of a source. Its message is for everybody: a clause that completes "the node …", without secrets,
 * paths or a stack, on one line.
 */
export class SourceError extends Error {
  override name = "SourceError";
  readonly code: FailureCode;
  readonly number: number | undefined;
  readonly isAbsent: boolean;
  readonly isForeign: boolean;
  readonly hint: string | undefined;
  readonly looksLike: string | undefined;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message);
    this.code = code;
    this.number = details.number;
    this.isAbsent = details.isAbsent ?? false;
    this.isForeign = details.isForeign ?? this.isAbsent;
    this.hint = details.hint;
    this.looksLike = details.looksLike;
  }

  /** Whether the node answered. */
  get isAnswer(): boolean {
    return (WRONG_ANSWER as readonly string[]).includes(this.code);
  }
}

/** Statuses of a path that is not there, or not for this method. A server of files has 501 for POST. */
export const ABSENT: readonly number[] = [404, 405, 501];

/** The failure of an answer whose status is not one of success. */
export function failureOfStatus(status: number): SourceError {
  return new SourceError("bad_answer", `answers ${status}`, {
    number: status,
    isAbsent: ABSENT.includes(status),
  });
}
