/**
 * Reads a node's description at startup and when its files change. An invalid description never replaces a valid one.
 *
 * @module
 */
import type { Json } from "../json/values.ts";
import { lazy, runOneAtATime } from "../lazy.ts";
import type { Log } from "../log.ts";
import {
  type Diagnostic,
  diagnosticOfError,
  forLog,
  formatDiagnostic,
} from "../openapi/diagnostics.ts";
import type { DescribedOperation, DocumentOfHost } from "../openapi/merge.ts";
import type { Offer } from "../openapi/kind.ts";
import { KIND_FILES, type Loaded, type LoadJob } from "../openapi/load.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { createReader, type FetchUrl, fileOf, type Reader } from "../openapi/files.ts";
import { type Description, prepareDescription } from "../openapi/serve.ts";
import type { ServerContext } from "../openapi/servers.ts";
import { fileUrl } from "../platform.ts";
import type { Content, Prepare, Prepared, PrepareJob } from "./prepare.ts";

/** The source of a node's description: the path of a file, a URL, or the text itself. */
export type DescriptionPlace =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined };

export interface PlaceOptions extends ServerContext {
  readonly place: DescriptionPlace;
  readonly own: Json;
  readonly operations?: readonly DescribedOperation[];
  readonly documentOfHost?: DocumentOfHost | undefined;
  readonly kind?: LoadJob["kind"];
  /** Returns the operations that the node lists, and the methods that it lacks. */
  readonly offer?: (() => Offer) | undefined;
  readonly forward?: PrepareJob["forward"];
  readonly fetch?: FetchUrl | undefined;
  /** Reads a URL whose scheme is neither `file:` nor `http:` nor `https:`. */
  readonly readOther?: Reader | undefined;
}

export interface WatchOptions<T> extends PlaceOptions {
  readonly prepare: Prepare;
  readonly makePage: (content: Pick<Content, "page" | "origins">) => Promise<T>;
  /** Creates the service's own description, and a page that shows `notice`. */
  readonly alone: (notice: string) => Shown<T>;
  readonly report: (report: DescriptionReport) => void;
}

export interface Shown<T> extends Description {
  readonly page: T;
  readonly operations?: readonly NodeOperation[] | undefined;
  readonly methods?: Loaded["methods"];
}

export interface WatchedDescription<T> {
  readonly current: Shown<T>;
  /** Resolves when the first attempt to read the description has ended; never rejects. */
  readonly ready: Promise<void>;
  refresh(): Promise<void>;
}

const NOTICE = "The node's own description cannot be shown; the log of this service says why";
const NOTICE_BEFORE = "The node's own description is being read; reload this page in a while";

export function keepCurrent<T>(
  { alone, report, makePage, ...options }: WatchOptions<T>,
): WatchedDescription<T> {
  let stamps: Prepared["stamps"] = new Map();
  let shows: "own" | "older" = "own";
  const opened = lazy(() => open(options));
  const live: WatchedDescription<T> & { current: Shown<T> } = {
    current: alone(NOTICE_BEFORE),
    ready: readAgain(),
    refresh: runOneAtATime(look),
  };
  async function readAgain() {
    const { shown, diagnostics, stamps: read } = await prepareShown();
    stamps = read;
    if (shown) {
      live.current = shown;
      shows = "older";
    } else if (shows === "own") live.current = alone(NOTICE);
    report({ diagnostics, shown: shown ? "current" : shows, operations: shown?.operations });
  }

  async function prepareShown() {
    try {
      const { content, diagnostics, methods, stamps } = await (await opened.get()).prepare();
      if (!content) return { diagnostics, stamps };
      const { json, operations } = content;
      const page = await makePage(content);
      const shown = { ...await prepareDescription(json), page, operations, methods };
      return { shown, diagnostics, stamps };
    } catch (error) {
      return { diagnostics: [diagnosticOfError(nameOf(options.place), error)], stamps };
    }
  }

  async function look() {
    await live.ready;
    if (await hasChanged(stamps, (await opened.get()).read)) await readAgain();
  }
  return live;
}

async function open(
  options: PlaceOptions & { prepare: Prepare },
): Promise<{ prepare: () => Promise<Prepared>; read: Reader }> {
  const { place, own, operations = [], documentOfHost, kind, offer, forward, prepare, ...more } =
    options;
  const { fetch: fetchUrl = (url, init) => fetch(url, init), readOther, ...where } = more;
  const { entry, read: readPlace } = await openPlace(place, fetchUrl);
  const read: Reader = (url, stamp) => {
    if (offer && url.href === KIND_FILES.offer) {
      return fileOf(url, new TextEncoder().encode(JSON.stringify(offer())), stamp);
    }
    return readOther && !/^(?:https?|file):$/.test(url.protocol)
      ? readOther(url, stamp)
      : readPlace(url, stamp);
  };
  const job = {
    ...{ entry: entry.href, kind, hasOffer: offer !== undefined, own, operations },
    ...{ documentOfHost, where, forward },
  };
  return { prepare: () => prepare(job, read), read };
}

async function openPlace(
  place: DescriptionPlace,
  fetchUrl: FetchUrl,
): Promise<{ entry: URL; read: Reader }> {
  if (typeof place === "object" && "text" in place) {
    const entry = new URL(encodeURI(place.name ?? "openapi.yaml"), "file:///description/");
    const isJson = entry.pathname.endsWith(".json");
    const { text } = place;
    const read: Reader = (url, stamp) => {
      const bytes = new TextEncoder().encode(text);
      return Promise.resolve(
        stamp === undefined ? { url, bytes, isJson, stamp: "text" } : undefined,
      );
    };
    return { entry, read };
  }
  const read = createReader(fetchUrl);
  if (place instanceof URL) return { entry: place, read };
  if (/^(?:https?|file):\/\//i.test(place)) return { entry: new URL(place), read };
  return { entry: await fileUrl(place), read };
}

function nameOf(place: DescriptionPlace): string {
  const text = typeof place === "object" && "text" in place ? place.name : String(place);
  return text?.split("/").at(-1) || "the description";
}

async function hasChanged(stamps: Prepared["stamps"], read: Reader): Promise<boolean> {
  for (const [url, stamp] of stamps) {
    try {
      if (await read(new URL(url), stamp)) return true;
    } catch {
      // An empty stamp means that the previous attempt to read the file failed too, so nothing has changed.
      if (stamp !== "") return true;
    }
  }
  return false;
}

export interface DescriptionReport {
  readonly diagnostics: readonly Diagnostic[];
  /** The description that is shown: the node's current or previous description, or only the service's own. */
  readonly shown: "current" | "older" | "own";
  /** The operations that can be called at the node; `undefined` if the description cannot be shown. */
  readonly operations?: readonly NodeOperation[] | undefined;
}

export function logReport({ diagnostics, shown }: DescriptionReport, log: Log): void {
  const code = "description";
  const { logged, more } = forLog(diagnostics);
  for (const finding of logged) {
    const level = finding.level === "error" ? "error" : "warn";
    log(formatDiagnostic(finding), { code, level, finding });
  }
  const warn = (message: string) => log(message, { code, level: "warn" });
  if (more > 0) warn(`and ${more} more diagnostics of the description; nodeface check shows all`);
  if (shown === "older") warn("the previous version of the description is still shown");
  if (shown === "own") warn("the node's description cannot be shown");
}
