/**
 * Loads the files of a description, as long as they stay within its folder or its origin.
 *
 * @module
 */
import { LIMITS } from "./limits.ts";
import type { Reader } from "./read-file-or-url.ts";
import { decodePercent } from "../percent-decode.ts";
import { ReadError } from "./read-file-or-url.ts";
import { type Complaints, createComplaints } from "./gather-complaints.ts";
import { readSource, type Source, unreadable } from "./parse.ts";
import type { Findable } from "./resolve-reference.ts";

const { files: FILES_MAX, total: SIZE_MAX, time: TIME_MAX } = LIMITS;

/** A file of a description. */
export interface Member extends Findable {
  /** Its own, after links and redirects: its references are relative to that (RFC 3986, section 5.1.3). */
  readonly url: string;
  readonly source: Source;
  /** What is wrong with it. */
  readonly complaints: Complaints;
}

/** A file, or why there is none, as the end of a sentence about the reference to it. */
export type Loaded = { member: Member } | { member?: undefined; failure: string };

/** Why a file that is somewhere else than it was asked for is not taken. */
class Refusal extends ReadError {}

/** Loads files, each once. */
export interface Loader {
  /** By URL, the root first. */
  readonly members: ReadonlyMap<string, Member>;
  /** The stamp of each file by the URL it was asked for at. */
  readonly stamps: ReadonlyMap<string, string>;
  /** Loads the root; where that fails, what it says is not there and a finding says why. */
  loadRoot(): Promise<Member>;
  /** Loads the file that a reference in another one names. */
  load(reference: string, from: Member): Promise<Loaded>;
}

/**
 * Makes a loader.
 *
 * @param entry where the root is
 * @param read reads a file
 */
export function createLoader(entry: URL, read: Reader): Loader {
  const members = new Map<string, Member>();
  const stamps = new Map<string, string>();
  /** By the URL that is asked for; several may be one file. */
  const asked = new Map<string, Loaded>();
  const bounds = createBounds(entry);
  const until = performance.now() + TIME_MAX;
  let size = 0;

  const take = (url: URL, source: Source): Member => {
    const known = members.get(url.href);
    if (known) return known;
    const base = { url: url.href, value: source.value, path: [], isNamed: false };
    const member = { url: url.href, source, base, complaints: createComplaints() };
    members.set(url.href, member);
    return member;
  };

  const loadUrl = async (url: URL, isRoot: boolean): Promise<Member> => {
    if (members.size >= FILES_MAX) throw new ReadError(`there are more than ${FILES_MAX} files`);
    if (performance.now() > until) {
      throw new ReadError(`all files take more than ${TIME_MAX / 1000} s`);
    }
    stamps.set(url.href, "");
    const file = await read(url);
    if (!file) throw new ReadError("it has not changed");
    size += file.bytes.length;
    stamps.set(url.href, file.stamp);
    if (isRoot) bounds.take(file.url);
    const refusal = bounds.refuse(file.url);
    if (refusal) throw new Refusal(refusal);
    if (size > SIZE_MAX) {
      throw new ReadError(`all files are larger than ${SIZE_MAX / 1024 / 1024} MiB`);
    }
    const at = new URL(file.url);
    at.hash = "";
    return members.get(at.href) ?? take(at, await readSource(bounds.nameOf(at), file));
  };

  return {
    members,
    stamps,
    async loadRoot() {
      try {
        return await loadUrl(entry, true);
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
        return take(entry, unreadable(bounds.nameOf(entry), `cannot be read: ${error.message}`));
      }
    },
    async load(reference, from) {
      if (!URL.canParse(reference, from.url)) return { failure: "is no URL" };
      const url = new URL(reference, from.url);
      url.hash = "";
      const refusal = bounds.refuse(url);
      if (refusal) return { failure: refusal };
      let loaded = asked.get(url.href);
      const known = members.get(url.href);
      if (known) return { member: known };
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
