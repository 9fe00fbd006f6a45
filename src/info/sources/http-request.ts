/**
 * Requests over HTTP, which trust nothing of the answer: its time and size are limited, and redirects are not
 * followed, since they would lead a secret elsewhere.
 *
 * @module
 */
import { BOUNDS, TOO_LARGE } from "../bound-answer.ts";
import { excerpt, startOf } from "../../untrusted-text.ts";
import type { Attempt, Auth } from "./give-credentials.ts";
import { sourceErrorOf } from "./fetch-failure.ts";
import { SourceError } from "./source-error.ts";
import { withSignal } from "../../with-timeout.ts";

/** How long a source may take, and what ends it early. */
export interface RequestLimits {
  /** In milliseconds, for all of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** What requests are made with. */
export interface HttpContext {
  readonly fetch: typeof fetch;
  readonly auth: Auth;
}

/** One request, which must be a read: it may be sent twice. */
export interface HttpRequest extends RequestLimits {
  url: string;
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string | null;
}

/** An answer, whole. */
export interface HttpAnswer {
  status: number;
  text: string;
}

/**
 * Sends a request, with credentials where the node wants some, and reads its answer.
 *
 * @throws {SourceError} if there is no answer, or one that is too large, a redirect, or wants credentials
 * that nobody has
 */
export async function requestText(
  request: HttpRequest,
  context: HttpContext,
): Promise<HttpAnswer> {
  const { timeout, signal } = request;
  const controller = new AbortController();
  const stop = () => controller.abort();
  const ended = AbortSignal.any([signal, controller.signal]);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeout);
  try {
    const exchanged = context.auth.exchange((owner) => exchange(request, context, owner, ended));
    // Whatever a `fetch` makes of the signal.
    return await withSignal(exchanged, ended);
  } catch (error) {
    // Ends what is left of the answer, and its connection.
    stop();
    if (isLate) {
      throw new SourceError(
        "timeout",
        `gives no whole answer within ${formatTime(timeout)}`,
      );
    }
    if (signal.aborted) throw new SourceError("timeout", "is no longer asked");
    throw withScheme(sourceErrorOf(error), request.url);
  } finally {
    clearTimeout(timer);
  }
}

/** Says of a closed connection that the other scheme may be right: etcd closes those that speak the wrong one. */
function withScheme(failure: SourceError, url: string): SourceError {
  if (failure.code !== "reset" || failure.hint) return failure;
  const [has, other] = url.startsWith("https:") ? ["no TLS", "http"] : ["TLS", "https"];
  return new SourceError("reset", failure.message, {
    hint: `if it speaks ${has} there, node.url begins with ${other}://`,
  });
}

/** Sends a request and reads its answer. */
async function exchange(
  request: HttpRequest,
  context: HttpContext,
  owner: object | undefined,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { response } = await sendWithAuth(request, context, owner, signal);
  const { status } = response;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304)) {
    const hint = hintOfRedirect(response.headers.get("location"), request.url);
    throw new SourceError("bad_answer", `redirects (${status}), which is not followed`, { hint });
  }
  // Nothing was asked to be packed; what is may be a thousand times larger than it looks.
  const coding = response.headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") {
    throw new SourceError(
      "bad_answer",
      `packs its answer (${excerpt(startOf(coding, 400), 40)})`,
    );
  }
  const text = await readText(response);
  if (status === 400 && WANTS_TLS.test(text)) {
    throw new SourceError("bad_answer", "speaks TLS; try https://", {
      number: status,
    });
  }
  return { status, text };
}

/** Says where a redirect leads: a path elsewhere may hold what is meant for one client alone. */
function hintOfRedirect(location: string | null, from: string): string | undefined {
  if (location === null || !URL.canParse(location, from)) return undefined;
  const [to, own] = [new URL(location, from), new URL(from)];
  const place = to.origin === own.origin
    ? excerpt(startOf(to.pathname, 400))
    : to.hostname === own.hostname
    ? to.origin
    : "another server";
  return `it leads to ${place}`;
}

/** What servers with TLS answer to a request without it: Go, nginx, Apache. */
const WANTS_TLS =
  /HTTP request to an HTTPS server|plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled/;

/** Keeps Bun from unpacking a whole answer before anybody can say that it is too large. */
const PACKED = { decompress: false };

/**
 * Sends a request, and tries one secret after the other while the node refuses them.
 *
 * @returns the head of the answer, and whether a secret was sent with the last request
 * @throws {SourceError} if the node wants credentials that nobody has
 */
export async function sendWithAuth(
  { url, method, headers, body = null }: Omit<HttpRequest, keyof RequestLimits>,
  { fetch, auth }: HttpContext,
  owner: object | undefined,
  signal: AbortSignal,
): Promise<{ readonly response: Response; readonly isSecret: boolean }> {
  let attempt: Attempt = await auth.first({ url, method, owner });
  for (;;) {
    const response = await fetchOnceMore(fetch, url, {
      method,
      headers: {
        "accept-encoding": "identity",
        ...headers,
        ...attempt.headers,
      },
      body,
      redirect: "manual",
      signal,
      ...{ ...PACKED, owner },
    });
    const { status } = response;
    if (status !== 401 && status !== 403) {
      return { response, isSecret: Object.keys(attempt.headers).length > 0 };
    }
    attempt = await attempt.next({ status, headers: response.headers });
    // What is short is read, so that its connection can be used again.
    await readText(response);
  }
}

/** A node may close a kept connection just when it is used again: then a fresh one is tried, once. */
async function fetchOnceMore(
  fetch: HttpContext["fetch"],
  url: string,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (sourceErrorOf(error).code !== "reset" || init.signal?.aborted) throw error;
    return await fetch(url, { ...init, keepalive: false });
  }
}

/** Reads a body as UTF-8, as far as the limit. */
async function readText({ body }: Response): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      length += chunk.byteLength;
      if (length > BOUNDS.bytes) throw new SourceError("bad_answer", TOO_LARGE);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    const failure = sourceErrorOf(error);
    throw failure.code === "reset" ? new SourceError("reset", "broke off its answer") : failure;
  }
  return text + decoder.decode();
}

const formatTime = (ms: number) =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
