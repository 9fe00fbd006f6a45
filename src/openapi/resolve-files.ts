/**
 * Gathers the files of a description: the one the operator names, and all that its references lead
 * to, as long as they stay within its folder or its origin.
 *
 * @module
 */
import { decodePercent } from "../json/pointer.ts";
import { quote } from "../text.ts";
import { breathe, isDue } from "./yield-to-requests.ts";
import type { Reader } from "./read-file-or-url.ts";
import { ReadError } from "./read-file-or-url.ts";
import { type Reference, referencesOf, splitReference } from "./references.ts";
import { type Complaint, readSource, type Source, unreadable } from "./parse.ts";

/** How many files a description may have, how large they may be in bytes, and what they may take in ms. */
const FILES_MAX = 500, SIZE_MAX = 64 * 1024 * 1024, TIME_MAX = 60_000;

/** A reference with the file it leads to. */
export interface Link extends Reference {
  /** The URL of the file; `undefined` where it is not followed. */
  readonly target: string | undefined;
  readonly fragment: string;
}

/** A file of a description. */
export interface Member {
  readonly url: string;
  readonly source: Source;
  readonly links: readonly Link[];
  /** What is wrong with the references themselves. */
  readonly complaints: readonly Complaint[];
}

/** All files of a description. */
export interface Files {
  readonly root: Member;
  /** By URL, the root first. */
  readonly members: ReadonlyMap<string, Member>;
  /** The stamp of each file by the URL it was asked for at. */
  readonly stamps: ReadonlyMap<string, string>;
}

/**
 * Reads a description and what it refers to. What cannot be read is a finding of the file that refers
 * to it, or of the root itself.
 *
 * @param entry where the root is
 * @param read reads a file
 */
export async function gather(entry: URL, read: Reader): Promise<Files> {
  const stamps = new Map<string, string>();
  const members = new Map<string, Member>();
  const failures = new Map<string, string>();
  const until = Date.now() + TIME_MAX;
  let size = 0;

  const load = async (url: URL, isRoot: boolean, within: Bounds): Promise<Source | undefined> => {
    try {
      if (Date.now() > until) throw new ReadError(`all files take more than ${TIME_MAX / 1000} s`);
      const file = await read(url);
      if (!file) return undefined;
      size += file.bytes.length;
      stamps.set(url.href, file.stamp);
      const refusal = isRoot ? undefined : within.refuse(file.url);
      if (refusal) throw new ReadError(refusal);
      if (size > SIZE_MAX) {
        throw new ReadError(`all files are larger than ${SIZE_MAX / 1024 / 1024} MiB`);
      }
      if (isRoot) within.take(file.url);
      return await readSource(within.nameOf(file.url), file);
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      if (!stamps.has(url.href)) stamps.set(url.href, "");
      failures.set(url.href, error.message);
      return undefined;
    }
  };

  const bounds = createBounds(entry);
  const source = await load(entry, true, bounds) ??
    unreadable(bounds.nameOf(entry), `cannot be read: ${failures.get(entry.href)}`);
  const rootUrl = bounds.root.href;
  const queue: [url: string, source: Source][] = [[rootUrl, source]];
  const seen = new Set([rootUrl]);
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [url, source] = next;
    const links: Link[] = [];
    const complaints: Complaint[] = [];
    for (const reference of referencesOf(source.value)) {
      if (isDue()) await breathe();
      const { path, ref } = reference;
      const [file, fragment] = splitReference(ref);
      const target = file === "" ? new URL(url) : parse(file, url);
      const refusal = target ? bounds.refuse(target) : "is no URL";
      if (!target || refusal) {
        complaints.push({
          path,
          message: `the reference to ${quote(ref)} ${refusal}`,
          isError: true,
        });
        links.push({ ...reference, target: undefined, fragment });
        continue;
      }
      const { href } = target;
      if (!seen.has(href)) {
        seen.add(href);
        if (seen.size > FILES_MAX) failures.set(href, `there are more than ${FILES_MAX} files`);
        else {
          const source = await load(target, false, bounds);
          if (source) queue.push([href, source]);
        }
      }
      const failure = failures.get(href);
      if (failure) {
        const message = `${quote(ref)} cannot be read: ${failure}`;
        complaints.push({ path, message, isError: true });
      }
      links.push({ ...reference, target: failure ? undefined : href, fragment });
    }
    members.set(url, { url, source, links, complaints });
  }
  return { root: members.get(rootUrl)!, members, stamps };
}

/** What a description's references may reach. */
interface Bounds {
  /** Where the root is. */
  root: URL;
  /** Learns where the root really is. */
  take(root: URL): void;
  /** Why a URL may not be reached; nothing where it may. */
  refuse(url: URL): string | undefined;
  /** What a file is called in findings. */
  nameOf(url: URL): string;
}

function createBounds(entry: URL): Bounds {
  const folderOf = ({ pathname }: URL) => pathname.slice(0, pathname.lastIndexOf("/") + 1);
  return {
    root: entry,
    take(root) {
      this.root = root;
    },
    refuse(url) {
      const { root } = this;
      if (url.protocol !== root.protocol || url.host !== root.host) {
        return "leads to another origin and is not followed";
      }
      if (root.protocol !== "file:") return undefined;
      const isInside = url.pathname.startsWith(folderOf(root)) && !/%2f|%5c/i.test(url.pathname);
      return isInside ? undefined : "leads out of the description's folder and is not followed";
    },
    nameOf({ pathname }) {
      const folder = folderOf(this.root);
      const name = pathname.startsWith(folder) ? pathname.slice(folder.length) : pathname;
      return decodePercent(name) || this.root.host;
    },
  };
}

function parse(reference: string, base: string): URL | undefined {
  if (!URL.canParse(reference, base)) return undefined;
  const url = new URL(reference, base);
  url.hash = "";
  return url;
}
