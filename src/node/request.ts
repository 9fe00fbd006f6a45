/**
 * Sends queries to the node, with limits on time and size. Redirects are not followed, since a
 * redirect could leak a secret.
 *
 * @module
 */
import { LightSignal, onAbort, withSignal } from "../abort-signal.ts";
import { encodeText } from "../bytes.ts";
import { formatMilliseconds, formatSize } from "../units.ts";
import { excerpt, startOf, withoutKeys } from "../untrusted-text.ts";
import { withTimeout } from "../with-timeout.ts";
import type { AuthorizedResponse, Credentials, SecretChoice } from "./credentials.ts";
import { failureOf, SourceError } from "./failures.ts";
import { isRedirect, type NodeResponse, type ResponseHead } from "./http1.ts";
import { OWN_NAME } from "./own-headers.ts";

export const RESPONSE_MAX: number = 1024 * 1024;
/** With `fetch`, a node can make each byte a part of its own. */
const PARTS_MAX = 65_536;

/** The error of a response that is not read to its end. */
export const tooLarge = (message: string = moreThan(RESPONSE_MAX)): SourceError =>
  new SourceError("bad_answer", message, { isTooLarge: true });

const moreThan = (limit: number) => `sent a response of more than ${formatSize(limit)}`;

export interface RequestLimits {
  /** The time limit for the whole response, in milliseconds. */
  readonly timeout: number;
  readonly signal: LightSignal;
}

/** A request that may be sent twice, and therefore must not change anything at the node. */
export interface TextRequest extends Partial<RequestLimits>, SecretChoice {
  /** With `HEAD`, any response will do: its status is returned. */
  readonly method: "GET" | "HEAD" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The limit of the response's size in bytes, if it is not `RESPONSE_MAX`. */
  readonly limit?: number | undefined;
}

/** A response that has been read to its end. */
export interface TextResponse extends ResponseHead {
  readonly text: string;
  /** The number of bytes of `text` as the node sent it. */
  readonly size: number;
}

export async function requestText(
  node: Pick<Credentials, "send">,
  url: URL,
  request: TextRequest & RequestLimits,
): Promise<TextResponse> {
  const { timeout, signal } = request;
  // `AbortSignal.any` would leave an entry at a signal that lasts, such as the node's.
  const ended = new LightSignal();
  const removeListener = onAbort(signal, (reason) => ended.abort(reason));
  try {
    const { method, headers = {}, body, limit } = request;
    const sent = {
      url,
      method,
      headers: { "user-agent": OWN_NAME, ...headers },
      body: body === undefined ? undefined : encodeText(body),
      signal: ended,
      isSentOnce: false,
    };
    const read = (exchanged: AuthorizedResponse) => {
      const { status, headers } = exchanged.response;
      return method === "HEAD"
        ? { status, headers, text: "", size: 0 }
        : readTextResponse(exchanged, url, limit);
    };
    const exchanged = node.send<TextResponse>(sent, read, request);
    // Waiting ends when the signal is aborted, even if a `fetch` ignores the signal.
    return await withTimeout(withSignal(exchanged, ended), timeout, () => {
      const time = formatMilliseconds(timeout);
      throw new SourceError("timeout", `did not finish its response within ${time}`, {
        hint: `raise node.timeout, or the timeout of the source (now ${time})`,
      });
    });
  } catch (error) {
    ended.abort();
    if (signal.aborted) throw new SourceError("timeout", "did not respond before the query ended");
    throw withScheme(failureOf(error), url);
  } finally {
    removeListener();
  }
}

/** etcd closes a connection that uses the wrong scheme. */
function withScheme(failure: SourceError, { protocol }: URL): SourceError {
  if (failure.code !== "reset" || failure.hint) return failure;
  const [uses, other] = protocol === "https:" ? ["does not use", "http"] : ["uses", "https"];
  return new SourceError("reset", failure.message, {
    hint: `if the node ${uses} TLS, node.url must begin with ${other}://`,
  });
}

async function readTextResponse(
  { response, rejection }: AuthorizedResponse,
  url: URL,
  limit?: number,
): Promise<TextResponse> {
  const { status, headers } = response;
  if (rejection) throw rejection;
  if (isRedirect(status)) {
    const what = `responded with a redirect (${status}), which is not followed`;
    const hint = hintOfRedirect(headers.get("location"), url);
    throw new SourceError("bad_answer", what, { hint });
  }
  // A compressed response may become a thousand times larger when it is decoded.
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") {
    const name = excerpt(startOf(coding, 400), 40);
    throw new SourceError("bad_answer", `compressed its response (${name}) without being asked to`);
  }
  const { text, size } = await decodeContent(response, limit);
  if (status === 400 && WANTS_TLS.test(text)) {
    throw new SourceError("bad_answer", "speaks TLS; try https://", { number: status });
  }
  return { status, headers, text, size };
}

/**
 * The path is omitted if the redirect leads to another server, since the path may contain a secret.
 */
function hintOfRedirect(location: string | null, from: URL): string | undefined {
  if (location === null || !URL.canParse(location, from)) return undefined;
  const to = new URL(location, from);
  const place = to.origin === from.origin
    ? excerpt(startOf(withoutKeys(to.origin + to.pathname).slice(to.origin.length), 400))
    : to.hostname === from.hostname
    ? to.origin
    : "another server";
  return `the redirect points to ${place}`;
}

const WANTS_TLS = new RegExp([
  "HTTP request to an HTTPS server",
  "plain HTTP request was sent to HTTPS port",
  "speaking plain HTTP to an SSL-enabled",
].join("|"));

async function decodeContent(
  response: NodeResponse,
  limit: number = RESPONSE_MAX,
): Promise<Pick<TextResponse, "text" | "size">> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0, parts = 0;
  try {
    for (let part = await response.next(); part; part = await response.next()) {
      size += part.byteLength;
      if (size > limit) throw tooLarge(moreThan(limit));
      if (++parts > PARTS_MAX) {
        throw new SourceError("bad_answer", "sent its response in too many small parts");
      }
      text += decoder.decode(part, { stream: true });
    }
  } catch (error) {
    const failure = failureOf(error);
    throw failure.code === "reset" ? new SourceError("reset", "broke off its response") : failure;
  }
  return { text: text + decoder.decode(), size };
}
