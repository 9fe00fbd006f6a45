/**
 * Why a node, or another source of the info, gave nothing: one table of codes and sentences. The runtimes name the same
 * failure differently: Node and Bun by a code, Deno by words. Seen on Node 20, 22 and 26, Bun 1.4 and Deno 2.9.
 *
 * @module
 */
import { excerpt } from "../untrusted-text.ts";

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

/** The meaning of an error. */
interface Meaning {
  /** For `CODE message`, or the message alone where there is no code. */
  readonly pattern: RegExp;
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
}

const SET_CA = "node.tls.ca_file names the certificate authority to trust";

/** The first that fits. */
const MEANINGS: readonly Meaning[] = [
  {
    pattern: /^ECONNREFUSED|^tcp connect error: Connection refused/,
    code: "connection_refused",
    message: "connection refused",
  },
  {
    pattern: /^bad port$|^Fetch failed: Requests to port \d+ are blocked/,
    code: "connection_refused",
    message: "has a port that this runtime does not call",
  },
  {
    pattern: /^EAI_AGAIN|Temporary failure in name resolution/,
    code: "dns",
    message: "has a host name that cannot be looked up now",
  },
  {
    pattern: /^ENOTFOUND|^dns error/,
    code: "dns",
    message: "has a host name that is not found",
  },
  {
    pattern: /^CERT_HAS_EXPIRED|^invalid peer certificate: Expired/,
    code: "tls",
    message: "has a certificate that has expired",
  },
  {
    pattern: /^CERT_NOT_YET_VALID|^invalid peer certificate: NotValidYet/,
    code: "tls",
    message: "has a certificate that is not valid yet",
    hint: "one of the two clocks may be wrong",
  },
  {
    pattern:
      /^ERR_TLS_CERT_ALTNAME_INVALID|^invalid peer certificate: (certificate not valid for|NotValidFor)/,
    code: "tls",
    message: "has a certificate for another name",
    hint: "node.url has to name the node as its certificate does",
  },
  {
    pattern: /^invalid peer certificate: Other\(OtherError\(CaUsedAsEndEntity/,
    code: "tls",
    message: "has a certificate that is not trusted",
    hint: `it is that of an authority, which this runtime does not take for a server; ${SET_CA}`,
  },
  {
    pattern: /^(UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CERT_|INVALID_CA|invalid peer certificate)/,
    code: "tls",
    message: "has a certificate that is not trusted",
    hint: SET_CA,
  },
  {
    pattern:
      /alert (certificate required|bad certificate)|fatal alert: (CertificateRequired|BadCertificate)/i,
    code: "tls",
    message: "wants a client certificate, which Nodeface does not have",
  },
  {
    pattern:
      /wrong version number|packet length too long|InvalidContentType|Does the server speak TLS/i,
    code: "not_tls",
    message: "does not speak TLS; try http://",
  },
  {
    pattern: /^(EPROTO|ERR_SSL_|ERR_TLS_)|fatal alert|^received corrupt message/,
    code: "tls",
    message: "breaks off the TLS handshake",
  },
  {
    pattern: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)|^tcp connect error: .*timed out/,
    code: "timeout",
    message: "cannot be reached in time",
  },
  {
    pattern:
      /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)|^tcp connect error: .*(No route|unreachable)/,
    code: "connection_refused",
    message: "cannot be reached: there is no route to it",
  },
  {
    pattern:
      /^(HPE_|Malformed_HTTP|InvalidHTTP|UND_ERR_HEADERS_OVERFLOW)|^Response does not match|^invalid HTTP/,
    code: "bad_answer",
    message: "does not answer in HTTP",
  },
  {
    pattern:
      /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ConnectionClosed|ERR_STREAM_PREMATURE_CLOSE)|reset by peer|connection closed|handshake eof|^error reading a body|Broken pipe/,
    code: "reset",
    message: "closed the connection without an answer",
  },
];

/**
 * Says why a request failed.
 *
 * @param error what a socket, `fetch` or a body threw; its own text may hold headers, and is not passed on
 */
export function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const text = textOf(error);
  const meaning = MEANINGS.find(({ pattern }) => pattern.test(text));
  if (meaning) return new SourceError(meaning.code, meaning.message, { hint: meaning.hint });
  const name = /^[A-Z][A-Z\d_]+\b/.exec(text)?.[0] ?? (error as Error | undefined)?.name ??
    "an error";
  return new SourceError("reset", `cannot be asked here (${excerpt(name, 40)})`);
}

function textOf(error: unknown): string {
  const { code, cause, message } = (error ?? {}) as {
    code?: unknown;
    message?: unknown;
    cause?: { code?: unknown; message?: unknown };
  };
  const known = cause?.code ?? code;
  // Deno's message begins with the URL.
  const words = String(cause?.message ?? message ?? "")
    .replace(/^.*?client error \(\w+\): /, "");
  return typeof known === "string" ? `${known} ${words}` : words;
}
