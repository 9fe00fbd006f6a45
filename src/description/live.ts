/**
 * Keeps what is shown of a node's description current: read when the service starts, and again when a
 * file of it has changed. A new version that is broken leaves the old one where it is.
 *
 * @module
 */
import type { Platform } from "../platform.ts";
import { type Description, ownDescription, prepareDescription } from "./description.ts";
import type { Finding } from "./finding.ts";
import { load, type Outcome } from "./load.ts";
import { createReader, type Reader } from "./reader.ts";
import type { Whereabouts } from "./servers.ts";

/** Where a node's description is: a file's path or URL, or the text itself. */
export type DescriptionPlace = string | URL | { readonly text: string; readonly name?: string };

/** What has become of a description that was read. */
export interface DescriptionReport {
  readonly findings: readonly Finding[];
  /** What is shown: the description, an older version of it, or this service's own alone. */
  readonly shown: "current" | "older" | "own";
}

/** How a description is kept current. */
export interface LiveOptions extends Whereabouts {
  /** Where it is; this service's own alone is shown where it is left out. */
  readonly place?: DescriptionPlace | undefined;
  /** The text of this service's own description. */
  readonly own: string;
  readonly platform: Platform;
  /** Is told what has become of the description, each time that it was read. */
  readonly report: (report: DescriptionReport) => void;
}

/** What is made of a description, as long as it is current. */
export interface Live<T> {
  /** All of it was made of the same version. */
  readonly current: T;
  /** Looks whether the description has changed and, if so, reads it again. Never rejects for that. */
  refresh(): Promise<void>;
}

/** What the page says where the node's description cannot be shown. */
const NOTICE = "The node's own description cannot be shown; the log of this service says why";

/**
 * Reads a description and keeps it current.
 *
 * @param options where it is, and what is known of the node
 * @param make makes what is shown, all at once
 */
export async function keepCurrent<T>(
  { place, own, platform, report, ...where }: LiveOptions,
  make: (description: Description) => Promise<T>,
): Promise<Live<T>> {
  const ownOnly = ownDescription(own);
  if (place === undefined) {
    const current = await make(await prepareDescription(ownOnly, undefined, platform));
    return { current, refresh: () => Promise.resolve() };
  }
  const { entry, read } = await openPlace(place, platform);
  const again = () => load(entry, read, ownOnly.document, where);
  const first = await again();
  const live = {
    current: await make(
      await prepareDescription(
        first.merged ?? ownOnly,
        first.merged ? undefined : NOTICE,
        platform,
      ),
    ),
    refresh,
  };
  let shows: "own" | "older" = first.merged ? "older" : "own";
  let { stamps } = first;
  report({ findings: first.findings, shown: first.merged ? "current" : "own" });
  let running: Promise<void> | undefined;

  function refresh(): Promise<void> {
    running ??= look().finally(() => running = undefined);
    return running;
  }

  async function look() {
    if (!await hasChanged(stamps, read)) return;
    const { merged, findings, stamps: next } = await again();
    if (merged) {
      live.current = await make(await prepareDescription(merged, undefined, platform));
      shows = "older";
    }
    stamps = next;
    report({ findings, shown: merged ? "current" : shows });
  }
  return live;
}

/**
 * Reads a description and says what is wrong with it.
 *
 * @param options as for {@linkcode keepCurrent}
 */
export async function inspectDescription(
  { place, own, platform, ...where }: Omit<LiveOptions, "report"> & { place: DescriptionPlace },
): Promise<Outcome> {
  const { entry, read } = await openPlace(place, platform);
  return await load(entry, read, ownDescription(own).document, where);
}

async function openPlace(
  place: DescriptionPlace,
  { disk }: Platform,
): Promise<{ entry: URL; read: Reader }> {
  if (typeof place === "object" && "text" in place) {
    const entry = new URL(encodeURI(place.name ?? "openapi.yaml"), "file:///description/");
    const bytes = new TextEncoder().encode(place.text);
    const readNothing = createReader(undefined, fetch);
    const read: Reader = (url, stamp) => {
      if (url.href !== entry.href) return readNothing(url);
      return Promise.resolve(stamp === undefined ? { url, bytes, stamp: "text" } : undefined);
    };
    return { entry, read };
  }
  const read = createReader(disk, (input, init) => fetch(input, init));
  if (place instanceof URL) return { entry: place, read };
  if (/^(?:https?|file):\/\//i.test(place)) return { entry: new URL(place), read };
  if (!disk) throw new Error(`${place} is a file, and there is no disk here`);
  return { entry: await disk.urlOf(place), read };
}

/** Whether one of the files is another one than it was. */
async function hasChanged(stamps: Outcome["stamps"], read: Reader): Promise<boolean> {
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
