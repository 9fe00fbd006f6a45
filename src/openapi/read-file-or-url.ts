/**
 * Fetches the files of a description from a disk or over HTTP, within bounds.
 *
 * @module
 */
import { findFile, PlatformError, readFile } from "../platform.ts";
import { decodePercent } from "../percent-decode.ts";
import { type Bytes, gatherBytes } from "../bytes.ts";
import { digest } from "../http/content-coding.ts";
import { formatSize, LIMITS } from "./limits.ts";

/** A file as it was at one time. */
export interface File {
  /** Where it is: its own URL, after links and redirects. */
  readonly url: URL;
  readonly bytes: Bytes;
  /** Whether it says of itself that it is JSON, by its name or its media type. */
  readonly isJson: boolean;
  /** Differs where the content does: of a file its time and size, of a URL its `ETag`. */
  readonly stamp: string;
}

/** Reads a file; `undefined` where it is still the one with that stamp. */
export type Reader = (url: URL, stamp?: string) => Promise<File | undefined>;

/** Asks for a URL of HTTP; what it throws as a {@linkcode ReadError} is said as it is. */
export type FetchUrl = (
  url: URL,
  init: { headers: Record<string, string>; redirect: "manual"; signal: AbortSignal },
) => Promise<Response>;

/** Why a file cannot be had, as the end of a sentence about it. */
export class ReadError extends Error {
  override name = "ReadError";
}

/** What a file may be large, in bytes. */
const SIZE_MAX = LIMITS.json;

/** How long a disk has, or a server for the whole of its answer, in milliseconds. */
const TIMEOUT = 10_000;

/** How many redirects are followed. */
const REDIRECTS_MAX = 5;

const JSON_NAME = /\.json$/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

const TOO_LARGE = `is larger than ${formatSize(SIZE_MAX)}`;

/**
 * Makes a reader.
 *
 * @param fetch asks for URLs of HTTP
 * @param options whether `file:` URLs are read
 */
export function createReader(
  fetch: FetchUrl,
  { files = true }: { files?: boolean } = {},
): Reader {
  return async (url, stamp) => {
    if (url.protocol === "file:" && files) return await readFromDisk(url, stamp);
    if (url.protocol === "file:") throw new ReadError("a text refers to no files");
    if (/^https?:$/.test(url.protocol)) return await readUrl(fetch, url, stamp);
    throw new ReadError(`${url.protocol} is neither a file nor HTTP`);
  };
}

async function readFromDisk(path: URL, stamp?: string) {
  try {
    const { url, stamp: current } = await findFile(path);
    if (current === stamp) return undefined;
    const bytes = await readFile(url, { limit: SIZE_MAX, timeout: TIMEOUT });
    return { url, bytes, isJson: JSON_NAME.test(url.pathname), stamp: current };
  } catch (error) {
    if (error instanceof PlatformError) throw new ReadError(error.message);
    throw error;
  }
}

async function readUrl(
  fetch: FetchUrl,
  asked: URL,
  stamp?: string,
): Promise<File | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const accept = "application/json, application/yaml;q=0.9, */*;q=0.5";
  const condition: Record<string, string> = stamp?.startsWith('"')
    ? { "if-none-match": stamp }
    : {};
  // Credentials are sent, and are in nothing that is shown: what is served is relative to this URL.
  const login = loginOf(asked);
  let url = new URL(asked);
  url.username = url.password = "";
  try {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const headers = { accept, ...condition, ...login };
      const answer = await fetch(url, { headers, redirect: "manual", signal });
      const location = answer.headers.get("location");
      if (answer.status >= 300 && answer.status < 400 && location) {
        await answer.body?.cancel();
        const next = new URL(location, url);
        if (next.origin !== asked.origin) {
          throw new ReadError(
            `it redirects to another origin, ${next.origin}, and is not followed`,
          );
        }
        url = next;
        continue;
      }
      if (answer.status === 304 && stamp !== undefined) return undefined;
      if (!answer.ok) {
        await answer.body?.cancel();
        throw new ReadError(`the server answers ${answer.status}`);
      }
      const bytes = await readBounded(answer);
      const etag = answer.headers.get("etag");
      // A weak one may stay while the content changes (RFC 9110, section 8.8.1).
      const current = etag?.startsWith('"') ? etag : await digest(bytes);
      if (current === stamp) return undefined;
      const type = answer.headers.get("content-type") ?? "";
      const isJson = JSON_TYPE.test(type) || JSON_NAME.test(url.pathname);
      return { url, bytes, isJson, stamp: current };
    }
  } catch (error) {
    if (error instanceof ReadError) throw error;
    const isLate = (error as Error).name === "TimeoutError";
    throw new ReadError(
      isLate ? `the server takes longer than ${TIMEOUT / 1000} s` : "the server cannot be reached",
      { cause: error },
    );
  }
  throw new ReadError(`it redirects more than ${REDIRECTS_MAX} times`);
}

/** The header for the user and the password of a URL (RFC 7617). */
function loginOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const bytes = new TextEncoder().encode(`${decodePercent(username)}:${decodePercent(password)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

async function readBounded({ body }: Response): Promise<Bytes> {
  if (!body) return new Uint8Array();
  const bytes = await gatherBytes(body, SIZE_MAX);
  if (!bytes) throw new ReadError(TOO_LARGE);
  return bytes;
}
