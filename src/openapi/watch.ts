/**
 * Keeps what is shown of a node's description current: read when the service starts, and again when a
 * file of it has changed. A new version that is broken leaves the old one where it is.
 *
 * @module
 */
import { serialize } from "../lazy.ts";
import { fileUrl } from "../platform.ts";
import type { Representation } from "../http/representation.ts";
import { type Description, prepareForms } from "./serve-description.ts";
import { failureOf, type Finding } from "./diagnostics.ts";
import type { Outcome, Said } from "./load.ts";
import type { DescribedOperation } from "./operations-of-host.ts";
import type { Reader } from "./read-file-or-url.ts";
import type { Whereabouts } from "./servers.ts";
import type { Json } from "../json/values.ts";

/** Where a node's description is: a file's path or URL, or the text itself. */
export type DescriptionPlace = string | URL | { readonly text: string; readonly name?: string };

/** What has become of a description that was read. */
export interface DescriptionReport {
  readonly findings: readonly Finding[];
  /** What is shown: the description, an older version of it, or this service's own alone. */
  readonly shown: "current" | "older" | "own";
}

/** Where a description is, and what goes into it. */
export interface PlaceOptions extends Whereabouts {
  readonly place: DescriptionPlace;
  /** This service's own description, whose operations are added. */
  readonly own: Json;
  /** Further operations of a host, which are added as they are. */
  readonly operations?: readonly DescribedOperation[];
}

/** How a description is kept current. */
export interface LiveOptions extends PlaceOptions {
  /** What is shown where the description cannot be: this service's own with a host's operations. */
  readonly alone: Description;
  /** Is told what has become of the description, each time that it was read. */
  readonly report: (report: DescriptionReport) => void;
}

/** What is shown of a description, all of it made of the same version. */
export interface Shown<T> {
  readonly json: Representation;
  readonly yaml: Representation;
  readonly versioned: Description["versioned"];
  readonly page: T;
}

/** What is shown of a description, as long as it is current. */
export interface Live<T> {
  readonly current: Shown<T>;
  /** Looks whether the description has changed and, if so, reads it again. Never rejects for that. */
  refresh(): Promise<void>;
}

/** What the page says where the node's description cannot be shown. */
const NOTICE = "The node's own description cannot be shown; the log of this service says why";

/**
 * Reads a description and keeps it current.
 *
 * @param options where it is, and what is known of the node
 * @param make makes the page
 */
export async function keepCurrent<T>(
  { alone, report, ...options }: LiveOptions,
  make: (said: Said & Pick<Description, "notice">) => Promise<T>,
): Promise<Live<T>> {
  const { again: load, read } = await open(options, (said) => make({ ...said, notice: undefined }));
  /** Reads it once more; `shown` is `undefined` where it cannot be shown. */
  const again = async (): Promise<Omit<Outcome<T>, "merged"> & { shown: Shown<T> | undefined }> => {
    const { merged, findings, stamps } = await load();
    if (!merged) return { shown: undefined, findings, stamps };
    const { made: page, ...forms } = merged;
    try {
      return { shown: { ...await prepareForms(forms), page }, findings, stamps };
    } catch (error) {
      const failure = failureOf("the description", error);
      return { shown: undefined, findings: [...findings, failure], stamps };
    }
  };
  const first = await again();
  const { json, yaml, versioned } = alone;
  const page = () => make({ ...alone, notice: NOTICE });
  const current = first.shown ?? { json, yaml, versioned, page: await page() };
  const live = { current, refresh: serialize(look) };
  let shows: "own" | "older" = first.shown ? "older" : "own";
  let { stamps } = first;
  report({ findings: first.findings, shown: first.shown ? "current" : "own" });

  async function look() {
    if (!await hasChanged(stamps, read)) return;
    const { shown, findings, stamps: next } = await again();
    if (shown) {
      live.current = shown;
      shows = "older";
    }
    stamps = next;
    report({ findings, shown: shown ? "current" : shows });
  }
  return live;
}

/** Reads a description and says what is wrong with it. */
export async function inspectDescription(options: PlaceOptions): Promise<Outcome<Said>> {
  const { again } = await open(options, (said) => Promise.resolve(said));
  return await again();
}

/** What reads a description, and its files one by one. All that it takes is loaded here. */
async function open<T>(
  { place, own, operations = [], ...where }: PlaceOptions,
  make: (said: Said) => Promise<T>,
): Promise<{ again: () => Promise<Outcome<T>>; read: Reader }> {
  const { createReader } = await import("./read-file-or-url.ts");
  const { load } = await import("./load.ts");
  const { entry, read } = await openPlace(place, createReader);
  return { again: () => load(entry, read, own, operations, where, make), read };
}

async function openPlace(
  place: DescriptionPlace,
  createReader: typeof import("./read-file-or-url.ts").createReader,
): Promise<{ entry: URL; read: Reader }> {
  if (typeof place === "object" && "text" in place) {
    const entry = new URL(encodeURI(place.name ?? "openapi.yaml"), "file:///description/");
    const isJson = entry.pathname.endsWith(".json");
    const bytes = new TextEncoder().encode(place.text);
    const readNothing = createReader(fetch, { files: false });
    const read: Reader = (url, stamp) => {
      if (url.href !== entry.href) return readNothing(url);
      return Promise.resolve(
        stamp === undefined ? { url, bytes, isJson, stamp: "text" } : undefined,
      );
    };
    return { entry, read };
  }
  const read = createReader((input, init) => fetch(input, init));
  if (place instanceof URL) return { entry: place, read };
  if (/^(?:https?|file):\/\//i.test(place)) return { entry: new URL(place), read };
  const entry = await fileUrl(place).catch(({ message }: Error) => {
    throw new Error(`${place}: ${message}`);
  });
  return { entry, read };
}

/** Whether one of the files is another one than it was. */
async function hasChanged(stamps: Outcome<unknown>["stamps"], read: Reader): Promise<boolean> {
  for (const [url, stamp] of stamps) {
    try {
      if (await read(new URL(url), stamp)) return true;
    } catch {
      // What could not be read before is no news.
      if (stamp !== "") return true;
    }
  }
  return false;
}
