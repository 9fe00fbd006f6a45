/**
 * Asks over HTTP, and trusts nothing of the answer: its time and size are limited, and redirects
 * are not followed, since they would lead a secret elsewhere.
 *
 * @module
 */
import type { Attempt, Auth } from "./credentials.ts";
import { excerpt } from "../../text.ts";
import { LIMIT, SECRET, SourceError, TOO_LARGE } from "./source-error.ts";

/** One request. */
export interface HttpRequest {
  url: string;
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string | null;
  /** Milliseconds for all of the answer. */
  timeout: number;
}

/** What requests are made with. */
export interface HttpContext {
  fetch: typeof fetch;
  auth: Auth;
}

/** An answer, whole. */
export interface HttpAnswer {
  status: number;
  text: string;
}

/**
 * Sends a request, with a secret where the node wants one, and reads its answer.
 *
 * @throws {SourceError} where there is no answer, or one that is too large, a redirect, or asks for
 * a secret that nobody has
 */
export async function askHttp(request: HttpRequest, context: HttpContext): Promise<HttpAnswer> {
  const controller = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort();
  }, request.timeout);
  try {
    const response = await send(request, context, controller.signal);
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      throw new SourceError(`redirects (${response.status}), which is not followed`);
    }
    // Nothing was asked to be packed; what is may be a thousand times larger than it looks.
    const coding = response.headers.get("content-encoding") ?? "identity";
    if (coding !== "identity") throw new SourceError(`packs its answer (${excerpt(coding)})`);
    return { status: response.status, text: await readText(response) };
  } catch (error) {
    if (isLate) throw new SourceError(`gives no whole answer within ${request.timeout} ms`);
    throw error instanceof SourceError ? error : new SourceError(reasonOf(error));
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Keeps Bun from unpacking a whole answer before anybody can say that it is too large. */
const PACKED = { decompress: false };

/** Tries one secret after the other while the node refuses them. */
async function send(
  { url, method, headers, body = null }: HttpRequest,
  { fetch, auth }: HttpContext,
  signal: AbortSignal,
): Promise<Response> {
  let attempt: Attempt | undefined = await auth.first(url);
  for (;;) {
    const init = {
      method,
      headers: { "accept-encoding": "identity", ...headers, ...attempt.headers },
      body,
      redirect: "manual" as const,
      signal,
      ...PACKED,
    };
    const response = await fetch(url, init);
    if (response.status !== 401 && response.status !== 403) return response;
    const next: Attempt | undefined = await attempt.next(response.headers);
    if (!next) throw new SourceError(`${SECRET} (${response.status}); ${attempt.hint}`);
    await response.body?.cancel();
    attempt = next;
  }
}

/** Reads a body as UTF-8, as far as the limit. */
async function readText({ body }: Response): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    length += chunk.byteLength;
    if (length > LIMIT) throw new SourceError(TOO_LARGE);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What the codes of the runtimes mean; Deno has none, but words. */
const REASONS: readonly [code: RegExp, reason: string][] = [
  [/ECONNREFUSED|Connection ?refused/i, "refuses connections"],
  [/ENOTFOUND|EAI_AGAIN|FailedToOpenSocket|failed to lookup/, "has a host name that is unknown"],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed|reset by peer/, "broke off its answer"],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/, "cannot be reached"],
  [/CERT|SSL|TLS|certificate/, "has a certificate that is not trusted"],
  [/HPE_|UND_ERR|Z_|Zlib|Malformed|InvalidHTTP/i, "does not answer in HTTP"],
];

/** The runtimes' own messages may hold headers, so no more than a code is passed on. */
function reasonOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as {
    code?: unknown;
    cause?: { code?: unknown; message?: unknown };
  };
  const known = cause?.code ?? code;
  const text = String(known ?? cause?.message);
  const reason = REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? "cannot be reached";
  return known ? `${reason} (${excerpt(String(known))})` : reason;
}
