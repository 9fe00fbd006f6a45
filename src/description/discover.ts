/**
 * Takes up the description of a node that nobody has named, at the place where nodes of its kind
 * describe themselves. What kind it is, and whether it answers, may be known late or never.
 *
 * @module
 */
import { serialize } from "../lazy.ts";
import type { Finding } from "../openapi/diagnostics.ts";
import { keepCurrent, type Live, type LiveOptions, type Shown } from "./watch.ts";
import type { DescriptionReport } from "./place.ts";

/** How long a place is left alone when it has been looked at, in ms. */
const AGAIN = 30_000;

/** How the description of a node is found. */
export interface FoundOptions<T> extends Omit<LiveOptions<T>, "place"> {
  /** Where the node answers. */
  readonly url: string;
  /** The path at which it describes itself; `undefined` while that is not known. */
  readonly path: () => Promise<string | undefined>;
  /** Asks the node what it is; called once. */
  readonly ask: () => Promise<unknown>;
  /** Is told, once, that there is nothing at that place. */
  readonly log: (message: string, level?: "info") => void;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** Where a node describes itself. */
export function placeBelow(url: string, path: string): string {
  return url.replace(/\/+$/, "") + path;
}

/** Why a description cannot be shown, as the end of a sentence. */
export function reasonIn(findings: readonly Finding[]): string {
  const message = findings.find(({ isFatal }) => isFatal)?.message ?? "";
  return message.replace(/^cannot be read: /, "");
}

/**
 * Shows something else until the node describes itself, and keeps that current from then on.
 *
 * @param options where it may be, and what is known of the node
 * @param current what is shown until then
 */
export function keepFound<T>(
  { url, path: find, ask, log, report, now = Date.now, ...options }: FoundOptions<T>,
  current: Shown<T>,
): Live<T> {
  let found: Live<T> | undefined;
  let told: string | undefined;
  let next = 0;
  let isAsked = false;

  /** The path, where it is time to look there. */
  async function due(): Promise<string | undefined> {
    let path = await find();
    // From then on it is asked when somebody asks for its info.
    if (path === undefined && !isAsked) {
      isAsked = true;
      await ask();
      path = await find();
    }
    if (path === undefined || now() < next) return undefined;
    next = now() + AGAIN;
    return path;
  }

  async function look(): Promise<void> {
    const path = await due();
    if (path === undefined) return;
    if (found) return await found.refresh();
    const place = placeBelow(url, path);
    let first: DescriptionReport | undefined;
    const tell = (said: DescriptionReport) => {
      if (found) report(said);
      else first = { ...said, findings: [...first?.findings ?? [], ...said.findings] };
    };
    const live = keepCurrent({ ...options, report: tell, place, base: url, itself: url });
    await live.ready;
    if (first?.shown === "current") {
      found = live;
      return report(first);
    }
    // Nobody has named it: that it is not there, or is something else, is no trouble.
    const reason = reasonIn(first?.findings ?? []);
    if (reason !== told) log(`there is no description of the node at ${place}: ${reason}`, "info");
    told = reason;
  }

  return {
    get current() {
      return found?.current ?? current;
    },
    ready: Promise.resolve(),
    refresh: serialize(look),
  };
}
