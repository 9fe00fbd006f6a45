/**
 * Takes up the description of a node that nobody has named, at the place where nodes of its kind
 * describe themselves. What kind it is, and whether it answers, may be known late or never.
 *
 * @module
 */
import type { Description } from "./description.ts";
import { keepCurrent, type Live, type LiveOptions, type Shown } from "./live.ts";
import type { Said } from "./load.ts";

/** How long a place is left alone when it has been looked at, in milliseconds. */
const AGAIN = 30_000;

/** How the description of a node is found. */
export interface FoundOptions extends Omit<LiveOptions, "place"> {
  /** Where the node answers. */
  readonly url: string;
  /** The path at which it describes itself; `undefined` while that is not known. */
  readonly path: () => Promise<string | undefined>;
  /** Is told, once, that there is nothing at that place. */
  readonly log: (message: string) => void;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** Where a node describes itself. */
export function placeBelow(url: string, path: string): string {
  return url.replace(/\/+$/, "") + path;
}

/**
 * Why there is no description at a place, as the end of a sentence; nothing where there is one.
 *
 * @param place a URL
 */
export async function absenceOf(place: string): Promise<string | undefined> {
  const { createReader, ReadError } = await import("./reader.ts");
  try {
    await createReader(undefined, (input, init) => fetch(input, init))(new URL(place));
    return undefined;
  } catch (error) {
    if (error instanceof ReadError) return error.message;
    throw error;
  }
}

/**
 * Shows something else until the node describes itself, and keeps that current from then on.
 *
 * @param options where it may be, and what is known of the node
 * @param current what is shown until then
 * @param make makes the page
 */
export function keepFound<T>(
  { url, path: find, log, now = Date.now, ...options }: FoundOptions,
  current: Shown<T>,
  make: (said: Said & Pick<Description, "notice">) => Promise<T>,
): Live<T> {
  let found: Live<T> | undefined;
  let told: string | undefined;
  let next = 0;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (now() < next) return;
    const path = await find();
    if (path === undefined) return;
    next = now() + AGAIN;
    if (found) return await found.refresh();
    const place = placeBelow(url, path);
    const absence = await absenceOf(place);
    if (absence === undefined) {
      found = await keepCurrent({ ...options, place, base: url, itself: url }, make);
    } else if (absence !== told) {
      told = absence;
      log(`there is no description of the node at ${place}: ${absence}`);
    }
  }

  return {
    get current() {
      return found?.current ?? current;
    },
    refresh() {
      running ??= look().finally(() => running = undefined);
      return running;
    },
  };
}
