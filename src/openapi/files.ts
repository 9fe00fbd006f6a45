/**
 * Reads the file of a description, from disk or over HTTP.
 *
 * @module
 */
import { type Bytes, encodeText, gatherBytes } from "../bytes.ts";
import { decodePercent } from "../decode.ts";
import { digest } from "../http/content-coding.ts";
import { excerpt } from "../untrusted-text.ts";
import { findFile, PlatformError, readFile } from "../platform.ts";
import { explainSize, provenanceOf, SIZES } from "./diagnostics.ts";
import { type DiagnosedFile, parse, unreadable, unreadableBecause } from "./parse.ts";
import { withoutLogin } from "./server-url.ts";

export interface File {
  /** The final URL, after symbolic links and redirects. */
  readonly url: URL;
  readonly bytes: Bytes;
  readonly isJson: boolean;
  /** A stamp is an `ETag`, a digest, or the modification time and size of a file. */
  readonly stamp: string;
}

/** Reads a file. Resolves to `undefined` if the file still has the given stamp. */
export type Reader = (stamp?: string) => Promise<File | undefined>;

/** The parts of a response that are read. */
export interface Fetched extends Pick<Response, "status" | "body"> {
  readonly headers: Pick<Headers, "get">;
}

/** The message of a thrown {@linkcode ReadError} is reported unchanged. */
export type FetchUrl = (
  url: URL,
  init: { headers: Record<string, string>; redirect: "manual"; signal: AbortSignal },
) => Promise<Fetched>;

/** The error's message is a reason without the file's name, such as `it is a folder`. */
export class ReadError extends Error {
  override name = "ReadError";
}

const TIMEOUT_MS = 10_000, REDIRECTS_MAX = 5;
const JSON_NAME = /\.json$/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

export function createReader(url: URL, fetch: FetchUrl): Reader {
  return async (stamp) => {
    if (/^https?:$/.test(url.protocol)) return await readUrl(fetch, url, stamp);
    if (url.protocol !== "file:") {
      throw new ReadError(`unknown protocol "${url.protocol}"; expected http:, https: or file:`);
    }
    return await readFromDisk(url, stamp);
  };
}

export async function fileOf(url: URL, bytes: Bytes, stamp?: string): Promise<File | undefined> {
  const current = await digest(bytes);
  return current === stamp ? undefined : { url, bytes, isJson: true, stamp: current };
}

async function readFromDisk(path: URL, stamp?: string) {
  try {
    const { url, size, stamp: current } = await findFile(path, TIMEOUT_MS);
    if (current === stamp) return undefined;
    const limit = SIZES.bytes.disk;
    if (size > limit) throw new ReadError(`it ${explainSize("bytes", "disk")}`);
    const bytes = await readFile(url, { limit, timeout: TIMEOUT_MS });
    return { url, bytes, isJson: JSON_NAME.test(url.pathname), stamp: current };
  } catch (error) {
    if (error instanceof PlatformError) throw new ReadError(error.message);
    throw error;
  }
}

async function readUrl(fetch: FetchUrl, asked: URL, stamp?: string): Promise<File | undefined> {
  try {
    const { url, response } = await follow(fetch, asked, stamp);
    if (response.status === 304 && stamp !== undefined) return undefined;
    return await readContent(url, response, stamp);
  } catch (error) {
    if (error instanceof ReadError) throw error;
    const reason = (error as Error).name === "TimeoutError"
      ? `${asked.origin} did not finish its response within ${TIMEOUT_MS / 1000} s`
      : `${asked.origin} cannot be reached`;
    throw new ReadError(reason, { cause: error });
  }
}

/** Resolves to the first response that is no redirect. */
async function follow(
  fetch: FetchUrl,
  asked: URL,
  stamp?: string,
): Promise<{ url: URL; response: Fetched }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = {
    accept: "application/json, application/yaml;q=0.9, */*;q=0.5",
    "accept-encoding": "identity",
    ...stamp?.startsWith('"') && { "if-none-match": stamp },
    ...loginOf(asked),
  };
  // The login is removed, since this URL becomes the visible base of relative server URLs.
  let url = new URL(asked);
  url.username = url.password = "";
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await fetch(url, { headers, redirect: "manual", signal });
    const location = response.headers.get("location");
    const isRedirect = response.status >= 300 && response.status < 400 && location;
    if (!isRedirect) return { url, response };
    await response.body?.cancel();
    url = new URL(location, url);
    if (url.origin !== asked.origin) {
      throw new ReadError(`redirects to another origin are not followed: ${url.origin}`);
    }
  }
  throw new ReadError(`it redirects more than ${REDIRECTS_MAX} times`);
}

async function readContent(
  url: URL,
  { status, headers, body }: Fetched,
  stamp?: string,
): Promise<File | undefined> {
  const refusal = faultOfStatus(status, headers.get("content-encoding") ?? "identity");
  if (refusal !== undefined) {
    await body?.cancel();
    throw new ReadError(refusal);
  }
  const bytes = body ? await gatherBytes(body, SIZES.bytes.network) : new Uint8Array();
  if (!bytes) throw new ReadError(`it ${explainSize("bytes", "network")}`);
  const etag = headers.get("etag");
  // A weak ETag may stay the same although the content changes (RFC 9110, section 8.8.1).
  const current = etag?.startsWith('"') ? etag : await digest(bytes);
  if (current === stamp) return undefined;
  const isJson = JSON_TYPE.test(headers.get("content-type") ?? "") || JSON_NAME.test(url.pathname);
  return { url, bytes, isJson, stamp: current };
}

function faultOfStatus(status: number, coding: string): string | undefined {
  if (status < 200 || status > 299) return `the server responded with ${status}`;
  // Node and Bun decode a compressed body even if it was not asked for, and it may become a
  // thousand times larger.
  const name = coding.toLowerCase();
  if (name === "identity") return undefined;
  return `the server compressed it (${
    excerpt(name, 40)
  }) without being asked to; serve it uncompressed`;
}

function loginOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const bytes = encodeText(`${decodePercent(username)}:${decodePercent(password)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Returns the name of a description for its diagnostics. Local paths are never revealed. */
function fileNameOf(entry: string): string {
  const { pathname, host } = new URL(entry);
  return decodePercent(pathname.split("/").at(-1)!) || host;
}

/** Returns a description's name or URL as it is written in commands and settings. */
export function nameInCommand(entry: string): string {
  return quoteIfNeeded(/^http/.test(entry) ? withoutLogin(entry) : fileNameOf(entry));
}

/**
 * Encloses a text in double quotes, as commands and settings need it, unless it has only plain
 * characters.
 */
export const quoteIfNeeded = (text: string): string =>
  /^[\w./:~-]+$/.test(text) ? text : JSON.stringify(text);

/** Reads and parses a description. If this fails, the result has a diagnostic and no value. */
export async function readSource(entry: URL, read: Reader): Promise<DiagnosedFile & { url: URL }> {
  const name = fileNameOf(entry.href);
  try {
    const file = (await read())!;
    return { url: file.url, ...await parse(name, file, provenanceOf(entry)) };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { url: entry, ...unreadable(name, unreadableBecause(error.message)) };
  }
}
