/**
 * The files of a description: read from a disk or over HTTP, each once, as long as they stay within its folder or
 * its origin.
 *
 * @module
 */
import { type Bytes, gatherBytes } from "../bytes.ts";
import { digest } from "../http/content-coding.ts";
import { decodePercent } from "../untrusted-text.ts";
import { findFile, PlatformError, readFile } from "../platform.ts";
import { formatSize, LIMITS, TextError } from "./diagnostics.ts";
import { parse, type Source, unreadable } from "./parse.ts";

export interface File {
  /** Its own URL, after links and redirects. */
  readonly url: URL;
  readonly bytes: Bytes;
  /** True if it says of itself that it is JSON, by its name or its media type. */
  readonly isJson: boolean;
  /** Differs where the content does: of a file its time and size, of a URL its `ETag`. */
  readonly stamp: string;
}

/** Reads a file; `undefined` if it still has that stamp. */
export type Reader = (url: URL, stamp?: string) => Promise<File | undefined>;

/** Fetches an http(s) URL; the message of a {@linkcode ReadError} is reported as it is. */
export type FetchUrl = (
  url: URL,
  init: { headers: Record<string, string>; redirect: "manual"; signal: AbortSignal },
) => Promise<Response>;

/** The reason why a file cannot be read, as the end of a sentence about it. */
export class ReadError extends Error {
  override name = "ReadError";
}

const TIMEOUT = 10_000;

const REDIRECTS_MAX = 5;

const JSON_NAME = /\.json$/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

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

/** Makes a file of what is in memory; `undefined` where it is still the one with that stamp. */
export async function fileOf(url: URL, bytes: Bytes, stamp?: string): Promise<File | undefined> {
  const current = await digest(bytes);
  return current === stamp ? undefined : { url, bytes, isJson: true, stamp: current };
}

async function readFromDisk(path: URL, stamp?: string) {
  try {
    const { url, stamp: current } = await findFile(path);
    if (current === stamp) return undefined;
    const bytes = await readFile(url, { limit: LIMITS.json, timeout: TIMEOUT });
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
  // Credentials are sent but never shown: servers are relative to this URL.
  const login = loginOf(asked);
  let url = new URL(asked);
  url.username = url.password = "";
  try {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const headers = { accept, ...condition, ...login };
      const response = await fetch(url, { headers, redirect: "manual", signal });
      const location = response.headers.get("location");
      if (response.status >= 300 && response.status < 400 && location) {
        await response.body?.cancel();
        const next = new URL(location, url);
        if (next.origin !== asked.origin) {
          throw new ReadError(
            `it redirects to another origin, ${next.origin}, and is not followed`,
          );
        }
        url = next;
        continue;
      }
      if (response.status === 304 && stamp !== undefined) return undefined;
      if (!response.ok) {
        await response.body?.cancel();
        throw new ReadError(`the server responded with ${response.status}`);
      }
      const { body } = response;
      const bytes = body ? await gatherBytes(body, LIMITS.json) : new Uint8Array();
      if (!bytes) throw new ReadError(`is larger than ${formatSize(LIMITS.json)}`);
      const etag = response.headers.get("etag");
      // A weak one may stay while the content changes (RFC 9110, section 8.8.1).
      const current = etag?.startsWith('"') ? etag : await digest(bytes);
      if (current === stamp) return undefined;
      const type = response.headers.get("content-type") ?? "";
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

export interface Member extends Source {
  /** Its own, after links and redirects: its references are relative to that (RFC 3986, section 5.1.3). */
  readonly url: string;
}

type LoadedFile = { member: Member } | { member?: undefined; failure: string };

/** The reason why a file is refused for its origin or folder. */
class Refusal extends ReadError {}

export interface Loader {
  readonly members: ReadonlyMap<string, Member>;
  /** Loads the root; where that fails, it has no value and a diagnostic says why. */
  loadRoot(): Promise<Member>;
  load(reference: string, from: Member): Promise<LoadedFile>;
}

export function createLoader(entry: URL, read: Reader): Loader {
  const members = new Map<string, Member>();
  /** By the URL that is asked for; several may be one file. */
  const asked = new Map<string, LoadedFile>();
  let root = entry;
  const until = performance.now() + LIMITS.time;
  let size = 0;

  const refuse = (url: URL): string | undefined => {
    if (url.protocol !== root.protocol || url.host !== root.host) {
      return "leads to another origin and is not followed";
    }
    if (root.protocol !== "file:") return undefined;
    const isInside = url.pathname.startsWith(folderOf(root)) && !/%2f|%5c/i.test(url.pathname);
    return isInside ? undefined : "leads out of the description's folder and is not followed";
  };

  const nameOf = ({ pathname }: URL): string => {
    const folder = folderOf(root);
    const name = pathname.startsWith(folder) ? pathname.slice(folder.length) : pathname;
    return decodePercent(name) || root.host;
  };

  const take = (url: URL, source: Source): Member => {
    const member = { url: url.href, ...source };
    members.set(url.href, member);
    return member;
  };

  const loadUrl = async (url: URL, isRoot: boolean): Promise<Member> => {
    if (members.size >= LIMITS.files) {
      throw new ReadError(`there are more than ${LIMITS.files} files`);
    }
    if (performance.now() > until) {
      throw new ReadError(`all files take more than ${LIMITS.time / 1000} s`);
    }
    const file = await read(url);
    if (!file) throw new ReadError("it has not changed");
    size += file.bytes.length;
    if (isRoot) root = file.url;
    const refusal = refuse(file.url);
    if (refusal) throw new Refusal(refusal);
    if (size > LIMITS.total) {
      throw new ReadError(`all files are larger than ${formatSize(LIMITS.total)}`);
    }
    const at = new URL(file.url);
    at.hash = "";
    return members.get(at.href) ?? take(at, parse(nameOf(at), file));
  };

  return {
    members,
    async loadRoot() {
      try {
        return await loadUrl(entry, true);
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
        return take(
          entry,
          unreadable(nameOf(entry), new TextError(`cannot be read: ${error.message}`)),
        );
      }
    },
    async load(reference, from) {
      if (!URL.canParse(reference, from.url)) return { failure: "is no URL" };
      const url = new URL(reference, from.url);
      url.hash = "";
      const refusal = refuse(url);
      if (refusal) return { failure: refusal };
      const known = members.get(url.href);
      if (known) return { member: known };
      let loaded = asked.get(url.href);
      if (loaded) return loaded;
      try {
        loaded = { member: await loadUrl(url, false) };
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
        const reason = error instanceof Refusal ? "" : "cannot be read: ";
        loaded = { failure: reason + error.message };
      }
      asked.set(url.href, loaded);
      return loaded;
    },
  };
}

const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf("/") + 1);
