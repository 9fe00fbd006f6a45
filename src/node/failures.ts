/**
 * Failures of the node, and of other sources of the info: one table of codes and sentences. Node, Deno and Bun have the
 * same codes for sockets, and words of their own beside them.
 *
 * @module
 */
import { excerpt } from "../untrusted-text.ts";

/** Codes of a node that does not respond. */
export const NO_ANSWER = [
  "connection_refused",
  "timeout",
  "dns",
  "tls",
  "not_tls",
  "reset",
] as const;

/** Codes of a node that responds with something else. */
export const WRONG_ANSWER = [
  "unauthorized",
  "forbidden",
  "no_credentials",
  "unknown_kind",
  "wrong_kind",
  "bad_answer",
] as const;

/** The code of a failure, for programs. */
export type FailureCode = (typeof NO_ANSWER)[number] | (typeof WRONG_ANSWER)[number];

export interface FailureDetails {
  /** The code of a JSON-RPC error, or the status of an HTTP response. */
  readonly number?: number | undefined;
  /** True if the node says that it has no such method or path. */
  readonly isAbsent?: boolean;
  /** True if no node of a kind that is asked like this responds so, such as with a page of HTML. */
  readonly isForeign?: boolean;
  /** Advice for the operator, for the log: it may name settings and paths. */
  readonly hint?: string | undefined;
  readonly looksLike?: string | undefined;
  /** True if the message has words of the node. */
  readonly isQuoting?: boolean;
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
  readonly isQuoting: boolean;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message);
    this.code = code;
    this.number = details.number;
    this.isAbsent = details.isAbsent ?? false;
    this.isForeign = details.isForeign ?? this.isAbsent;
    this.hint = details.hint;
    this.looksLike = details.looksLike;
    this.isQuoting = details.isQuoting ?? false;
  }

  get isAnswer(): boolean {
    return (WRONG_ANSWER as readonly string[]).includes(this.code);
  }
}

/** Statuses of a path that is not there, or not for this method. A server of files has 501 for POST. */
export const ABSENT: readonly number[] = [404, 405, 501];

export function failureOfStatus(status: number): SourceError {
  return new SourceError("bad_answer", `responded with ${status}`, {
    number: status,
    isAbsent: ABSENT.includes(status),
  });
}

/** The meaning of an error: a pattern for `CODE message`, the code, the sentence, and a hint. */
type Meaning = readonly [pattern: RegExp, code: FailureCode, message: string, hint?: string];

const SET_CA = "node.tls.ca_file names the certificate authority to trust";

const MEANINGS: readonly Meaning[] = [
  [/^ECONNREFUSED/, "connection_refused", "connection refused"],
  [
    /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)/,
    "connection_refused",
    "cannot be reached: there is no route to it",
  ],
  [/^ETIMEDOUT/, "timeout", "cannot be reached in time"],
  [/^EAI_AGAIN/, "dns", "has a host name that cannot be looked up now"],
  [/^ENOTFOUND/, "dns", "has a host name that is not found"],
  [/^CERT_HAS_EXPIRED/, "tls", "has a certificate that has expired"],
  [
    /^CERT_NOT_YET_VALID/,
    "tls",
    "has a certificate that is not valid yet",
    "one of the two clocks may be wrong",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    "tls",
    "has a certificate for another name",
    "node.url has to name the node as its certificate does",
  ],
  [
    /^(UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CERT_|INVALID_CA)/,
    "tls",
    "has a certificate that is not trusted",
    SET_CA,
  ],
  [
    /alert:?[ _](certificate[ _]?required|bad[ _]?certificate)/i,
    "tls",
    "wants a client certificate, which Nodeface does not have",
  ],
  [
    /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/i,
    "not_tls",
    "does not speak TLS; try http://",
  ],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, "tls", "breaks off the TLS handshake"],
  [/^HPE_/, "bad_answer", "does not speak HTTP"],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|ERR_SOCKET_CLOSED)/,
    "reset",
    "closed the connection without a response",
  ],
];

/** Classifies an error of a socket or of `fetch`; its own text may hold headers, and is not passed on. */
export function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const { code, cause, message, name } = (error ?? {}) as Partial<Record<string, unknown>>;
  const inner = cause as { code?: unknown; message?: unknown } | undefined;
  const known = inner?.code ?? code;
  const text = `${typeof known === "string" ? known : ""} ${inner?.message ?? message ?? ""}`;
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text));
  if (meaning) return new SourceError(meaning[1], meaning[2], { hint: meaning[3] });
  const what = /^[A-Z][A-Z\d_]+\b/.exec(text)?.[0] ?? String(name ?? "an error");
  return new SourceError("reset", `cannot be asked here (${excerpt(what, 40)})`);
}
