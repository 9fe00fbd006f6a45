/**
 * Reads each file of a description once. All files must be in the folder of the root file, or at the HTTP origin of the
 * root file.
 *
 * @module
 */
import { type Bytes, gatherBytes } from "../bytes.ts";
import { digest } from "../http/content-coding.ts";
import { decodePercent, excerpt, startOf } from "../untrusted-text.ts";
import { findFile, PlatformError, readFile } from "../platform.ts";
import { explainSize, LIMITS, SIZES, sourceKindOf, Tally, TextError } from "./diagnostics.ts";
import { parse, type Source, unreadable } from "./parse.ts";

export interface File {
  /** The final URL, after symbolic links and redirects. */
  readonly url: URL;
  readonly bytes: Bytes;
  readonly isJson: boolean;
  /** A stamp is an `ETag`, a digest, or the modification time and size of a file. */
  readonly stamp: string;
}

/** Returns `undefined` if the file still has the given stamp. */
export type Reader = (url: URL, stamp?: string) => Promise<File | undefined>;

/** The message of a thrown {@linkcode ReadError} is reported unchanged. */
export type FetchUrl = (
  url: URL,
  init: { headers: Record<string, string>; redirect: "manual"; signal: AbortSignal },
) => Promise<Response>;

/** The error's message is a reason without the file's name, such as `it is a folder`. */
export class ReadError extends Error {
  override name = "ReadError";
}

const TIMEOUT = 10_000, REDIRECTS_MAX = 5;
const JSON_NAME = /\.json$/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

export function createReader(
  fetch: FetchUrl,
  { files = true }: { files?: boolean } = {},
): Reader {
  return async (url, stamp) => {
    if (/^https?:$/.test(url.protocol)) return await readUrl(fetch, url, stamp);
    if (url.protocol !== "file:") {
      throw new ReadError(`unknown protocol "${url.protocol}"; expected http:, https: or file:`);
    }
    if (files) return await readFromDisk(url, stamp);
    throw new ReadError("a description that is given as text cannot refer to files");
  };
}

export async function fileOf(url: URL, bytes: Bytes, stamp?: string): Promise<File | undefined> {
  const current = await digest(bytes);
  return current === stamp ? undefined : { url, bytes, isJson: true, stamp: current };
}

async function readFromDisk(path: URL, stamp?: string) {
  try {
    const { url, size, stamp: current } = await findFile(path);
    if (current === stamp) return undefined;
    const limit = SIZES.bytes.disk;
    if (size > limit) throw new ReadError(`it ${explainSize("bytes", "disk")}`);
    const bytes = await readFile(url, { limit, timeout: TIMEOUT });
    return { url, bytes, isJson: JSON_NAME.test(url.pathname), stamp: current };
  } catch (error) {
    if (error instanceof PlatformError) throw new ReadError(error.message);
    throw error;
  }
}

async function readUrl(fetch: FetchUrl, asked: URL, stamp?: string): Promise<File | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const headers = {
    accept: "application/json, application/yaml;q=0.9, */*;q=0.5",
    "accept-encoding": "identity",
    ...stamp?.startsWith('"') && { "if-none-match": stamp },
    ...loginOf(asked),
  };
  // The login is removed, since this URL becomes the visible base of relative server URLs.
  let url = new URL(asked);
  url.username = url.password = "";
  try {
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const response = await fetch(url, { headers, redirect: "manual", signal });
      const location = response.headers.get("location");
      if (response.status >= 300 && response.status < 400 && location) {
        await response.body?.cancel();
        const next = new URL(location, url);
        if (next.origin !== asked.origin) {
          throw new ReadError(
            `redirects to another origin are not followed: ${next.origin}`,
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
      // Node and Bun decode a compressed body even if it was not asked for, and it may become a thousand times larger.
      const coding = response.headers.get("content-encoding")?.toLowerCase() ?? "identity";
      if (coding !== "identity") {
        await response.body?.cancel();
        const name = excerpt(startOf(coding, 400), 40);
        throw new ReadError(
          `the server compressed it (${name}) without being asked to; serve it uncompressed`,
        );
      }
      const { body } = response;
      const bytes = body ? await gatherBytes(body, SIZES.bytes.network) : new Uint8Array();
      if (!bytes) throw new ReadError(`it ${explainSize("bytes", "network")}`);
      const etag = response.headers.get("etag");
      // A weak ETag may stay the same although the content changes (RFC 9110, section 8.8.1).
      const current = etag?.startsWith('"') ? etag : await digest(bytes);
      if (current === stamp) return undefined;
      const type = response.headers.get("content-type") ?? "";
      const isJson = JSON_TYPE.test(type) || JSON_NAME.test(url.pathname);
      return { url, bytes, isJson, stamp: current };
    }
  } catch (error) {
    if (error instanceof ReadError) throw error;
    const reason = (error as Error).name === "TimeoutError"
      ? `the server did not finish its response within ${TIMEOUT / 1000} s`
      : "the server cannot be reached";
    throw new ReadError(reason, { cause: error });
  }
  throw new ReadError(`it redirects more than ${REDIRECTS_MAX} times`);
}

function loginOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const bytes = new TextEncoder().encode(`${decodePercent(username)}:${decodePercent(password)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

export interface Member extends Source {
  /** The base URL for references (RFC 3986, section 5.1.3). Symbolic links and redirects are resolved in this URL. */
  readonly url: string;
}

type LoadedFile = { member: Member } | { member?: undefined; failure: string };

export interface Loader {
  readonly members: ReadonlyMap<string, Member>;
  /** If the file cannot be loaded, the member has a diagnostic and no value. */
  loadRoot(): Promise<Member>;
  load(reference: string, from: Member): Promise<LoadedFile>;
}

export function createLoader(entry: URL, read: Reader): Loader {
  const members = new Map<string, Member>();
  /** Several URLs may lead to the same file. */
  const loaded = new Map<string, LoadedFile>();
  let root = entry;
  const until = performance.now() + LIMITS.time;
  const tally = new Tally(sourceKindOf(entry));
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

  const add = (url: URL, source: Source): { member: Member } => {
    const member = { url: url.href, ...source };
    members.set(url.href, member);
    loaded.set(url.href, { member });
    return { member };
  };

  const loadUrl = async (url: URL, isRoot = false): Promise<LoadedFile> => {
    const fail = (reason: string) => ({ failure: `cannot be read: ${reason}` });
    if (members.size >= LIMITS.files) return fail(`there are more than ${LIMITS.files} files`);
    if (performance.now() > until) {
      return fail(`loading all files takes more than ${LIMITS.time / 1000} s`);
    }
    let file: File;
    try {
      file = (await read(url))!;
    } catch (error) {
      if (error instanceof ReadError) return fail(error.message);
      throw error;
    }
    if (isRoot) root = file.url;
    const refusal = refuse(file.url);
    if (refusal) return { failure: refusal };
    const at = new URL(file.url);
    at.hash = "";
    const member = members.get(at.href);
    return member ? { member } : add(at, parse(nameOf(at), file, tally));
  };
  return {
    members,
    async loadRoot() {
      const found = await loadUrl(entry, true);
      return (found.member
        ? found
        : add(entry, unreadable(nameOf(entry), new TextError(found.failure)))).member;
    },
    async load(reference, from) {
      if (!URL.canParse(reference, from.url)) return { failure: "is not a valid URL" };
      const url = new URL(reference, from.url);
      url.hash = "";
      const refusal = refuse(url);
      if (refusal) return { failure: refusal };
      const found = loaded.get(url.href) ?? await loadUrl(url);
      loaded.set(url.href, found);
      return found;
    },
  };
}

const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf("/") + 1);
