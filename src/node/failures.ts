/**
 * Failures to query the node or another source.
 *
 * @module
 */
import { excerpt, quote, startOf } from "../untrusted-text.ts";

export const NO_ANSWER = [
  "connection_refused",
  "timeout",
  "dns",
  "tls",
  "not_tls",
  "reset",
  "bad_gateway",
] as const;

export const WRONG_ANSWER = [
  "unauthorized",
  "forbidden",
  "no_credentials",
  "unknown_kind",
  "wrong_kind",
  "bad_answer",
] as const;

/** The machine-readable code of a failure. */
export type FailureCode = (typeof NO_ANSWER)[number] | (typeof WRONG_ANSWER)[number];

/** Returns the message of an error as words that complete the sentence "the node …". */
export const clauseOf = (message: string): string =>
  message === REFUSED ? `cannot be reached: ${message}` : message;

/** The one message that completes no sentence, since it is also shown alone. */
const REFUSED = "connection refused";

/**
 * The message completes the sentence "the node …" (see {@linkcode clauseOf}). The message is
 * public, so it must not contain secrets or paths.
 */
export class SourceError extends Error {
  override name = "SourceError";
  readonly code: FailureCode;
  /** The code of a JSON-RPC error, or the status of an HTTP response. */
  readonly number: number | undefined;
  /** True if the node lacks the method or path. */
  readonly isAbsent: boolean = false;
  /** True if the file or program of the source is missing. */
  readonly isMissing: boolean = false;
  /** True if the response is larger than what is read. */
  readonly isTooLarge: boolean = false;
  /** True if the response cannot come from a node of the expected kind. */
  readonly isOtherKind: boolean;
  /** A hint is never public, since hints may name settings and paths. */
  readonly hint: string | undefined;
  readonly looksLike: string | undefined;
  readonly isQuoting: boolean = false;
  /** The start of what an HTTP server refused the request with; never shown. */
  readonly text: string | undefined;
  constructor(
    code: FailureCode,
    message: string,
    details: Partial<Omit<SourceError, keyof Error | "code" | "isResponse">> = {},
  ) {
    super(message);
    this.code = code;
    this.isOtherKind = details.isAbsent ?? false;
    Object.assign(this, details);
  }

  get isResponse(): boolean {
    return (WRONG_ANSWER as readonly string[]).includes(this.code);
  }
}

/** File servers respond to POST with 501. */
export const ABSENT: readonly number[] = [404, 405, 501];

const TEXT_MAX = 400;

/** Tells whether a status means that the node has too much to do. */
export const isBusy = (status: number | undefined): boolean => status === 429 || status === 503;

/** Tells whether a text says that the node has too much to do: that of Bitcoin Core before 22. */
export const saysBusy = (status: number, text: string): boolean =>
  status === 500 && text.startsWith("Work queue depth exceeded");

export function failureOfStatus(status: number, text: string = ""): SourceError {
  return new SourceError("bad_answer", `responded with ${status}`, {
    number: saysBusy(status, text) ? 503 : status,
    isAbsent: ABSENT.includes(status),
    text: text.slice(0, TEXT_MAX),
  });
}

/** A gateway responds with these statuses if the node behind it does not. */
export const isOfGateway = (status: number | undefined): boolean =>
  status !== undefined && GATEWAY_STATUSES.includes(status);

/** Those from 520 on are Cloudflare's. */
const GATEWAY_STATUSES: readonly number[] = [502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];

/** The failure of a node behind a gateway that responds with this status in its place. */
export const failureOfGateway = (status: number): SourceError =>
  new SourceError("bad_gateway", `does not respond, according to a proxy (${status})`, {
    number: status,
  });

/** What gateways say with 503, as no node does: nothing, a page, or words of Traefik and Envoy. */
const GATEWAY_TEXT =
  /^\s*(?:$|<|no available server\b|no healthy upstream\b|upstream connect error\b(?!.*overflow))/;

/** Returns the failure of the node if the error is that of a gateway in front of it. */
export function failureBehind(error: SourceError): SourceError {
  const { code, number, text } = error;
  const isGateways = text !== undefined &&
    (isOfGateway(number) || (number === 503 && GATEWAY_TEXT.test(text)));
  if (code !== "bad_answer" || !isGateways) return error;
  return failureOfGateway(number!);
}

export function notJson(text: string): SourceError {
  const start = text.trim() === "" ? "nothing" : quote(excerpt(startOf(text, 400), 40));
  const message = `returned something other than JSON: ${start}`;
  const details = { isOtherKind: true, isQuoting: true, text: text.slice(0, TEXT_MAX) };
  return new SourceError("bad_answer", message, details);
}

/**
 * `pattern` is matched against the code and message of an error. Messages differ between runtimes.
 */
type Meaning = readonly [pattern: RegExp, code: FailureCode, message: string, hint?: string];

const START = "start the node, or correct its address (node.url)";

/** Matches the codes of errors which say that the network does not lead to the node. */
export const NO_ROUTE: RegExp = /^(?:EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)\b/;

const MEANINGS: readonly Meaning[] = [
  [/^ECONNREFUSED/, "connection_refused", REFUSED, START],
  [
    NO_ROUTE,
    "connection_refused",
    "cannot be reached: no route to host",
    "correct node.url, or check the network",
  ],
  [
    /^(Requires net access|EPERM getaddrinfo)/,
    "connection_refused",
    "cannot be reached: Deno needs the permission --allow-net",
    "name the node's address in --allow-net",
  ],
  [/^ETIMEDOUT/, "timeout", "cannot be reached: connection timed out", "look for a firewall"],
  [/^EAI_/, "dns", "has a host name that cannot be resolved at the moment"],
  [/^ENOTFOUND/, "dns", "has a host name that does not exist", "correct the name in node.url"],
  [/^CERT_HAS_EXPIRED/, "tls", "has a certificate that has expired", "renew the certificate"],
  [
    /^CERT_NOT_YET_VALID/,
    "tls",
    "has a certificate that is not valid yet",
    "the clock of either machine may be wrong",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    "tls",
    "has a certificate for another name",
    "node.url must use the host name of the certificate",
  ],
  [
    /^(UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CERT_|INVALID_CA)/,
    "tls",
    "has a certificate that is not trusted",
    "set node.tls.ca_file to trust its certificate authority",
  ],
  [
    /alert:?[ _](certificate[ _]?required|bad[ _]?certificate)/i,
    "tls",
    "requires a client certificate, which Nodeface does not support",
  ],
  [
    /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/i,
    "not_tls",
    "does not speak TLS; try http://",
  ],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, "tls", "aborted the TLS handshake"],
  [/^HPE_/, "bad_answer", "does not speak HTTP"],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|ERR_SOCKET_CLOSED)/,
    "reset",
    "closed the connection without a response",
  ],
];

/** The error's own message is never shown, since the message may contain headers. */
export function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const { code, cause, message, name } = (error ?? {}) as Partial<Record<string, unknown>>;
  const inner = cause as { code?: unknown; message?: unknown } | undefined;
  const known = inner?.code ?? code;
  const text = `${typeof known === "string" ? known : ""} ${inner?.message ?? message ?? ""}`
    .trim();
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text));
  if (meaning) return new SourceError(meaning[1], meaning[2], { hint: meaning[3] });
  const what = /^[A-Z][A-Z\d_]+\b/.exec(text)?.[0] ?? String(name ?? "an error");
  return new SourceError("reset", `cannot be queried (${excerpt(what, 40)})`);
}

const URGENT = ["unauthorized", "forbidden", "no_credentials"] as const;

/** Returns a failure that the operator can fix, or else the most frequent failure. */
export function mainFailure(errors: readonly SourceError[]): SourceError {
  const urgent = URGENT.map((code) => errors.find((error) => error.code === code));
  const found = urgent.find((error) => error !== undefined);
  if (found) return found;
  const count = ({ message }: SourceError) =>
    errors.filter((error) => error.message === message).length;
  return errors.toSorted((a, b) => count(b) - count(a))[0]!;
}
