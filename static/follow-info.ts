/**
 * Follows the info while the page is visible: by a stream of its changes, by requests where there is none, and seldom by
 * one beside it, since a stream does not tell that the service hangs.
 */
import type { Info } from "../src/explorer/head.ts";
import { isObject, type Json } from "../src/json/values.ts";
import { setClock, showAges, showChange, showHistory, showInfo, showSilence } from "./head.ts";

/** The time between two requests, in milliseconds. It doubles after each failure, up to the maximum. */
const INTERVAL = 5_000;
const INTERVAL_MAX = 60_000;

/** The time between two requests beside a stream, and between two for the history. */
const INTERVAL_BESIDE = 30_000;

/**
 * The time after which a stream that has ended is opened again: half of it to all of it, since other pages have lost
 * theirs at the same moment. It doubles while the service responds and has no stream.
 */
const RETRY = 4_000;

/** The most objects within each other in what a stream tells. */
const DEPTH_MAX = 32;

/**
 * Keeps the head current.
 *
 * @param base where the service is
 * @param isClockSet whether something else tells the service's time, which a stream does not
 * @param isIdle tells whether the document may be loaded again without loss, for another description
 */
export function followInfo(base: URL, isClockSet: boolean, isIdle: () => boolean): void {
  const address = new URL("v1/info", base);
  const events = new URL("v1/events?events=info,description", base);
  /** `undefined` where what changes cannot be told from what is known. */
  let info: Info | undefined;
  let told = 0;
  let source: EventSource | undefined;
  let isStreaming = false;
  let isRequesting = false;
  let isPlotted = false;
  let interval = INTERVAL;
  let retry = RETRY;
  let requesting: ReturnType<typeof setTimeout> | undefined;
  let listening: ReturnType<typeof setTimeout> | undefined;

  const schedule = () => {
    clearTimeout(requesting);
    requesting = setTimeout(request, isStreaming ? INTERVAL_BESIDE : interval);
  };

  const show = (info: Info) => {
    showInfo(info);
    // A service alone has no past.
    if (!info.api || isPlotted || !("history" in document.getElementById("node")!.dataset)) return;
    isPlotted = true;
    readHistory();
    setInterval(readHistory, INTERVAL_BESIDE);
  };

  const readHistory = async () => {
    const found = document.hidden ? undefined : await fetchObject(new URL("v1/history", base));
    if (found) showHistory(found);
  };

  /** The time of stale values is not told. */
  const isIncomplete = () => !info || info.status === "stale" || info.updated_at !== undefined;

  const request = async (): Promise<void> => {
    if (document.hidden || isRequesting) return;
    isRequesting = true;
    const before = told;
    const found = await fetchObject(address);
    isRequesting = false;
    // What was told meanwhile is newer.
    if (told === before) {
      interval = found ? INTERVAL : Math.min(2 * interval, INTERVAL_MAX);
      if (found) show(info = found);
      else {
        showSilence();
        // A new stream begins with the whole info as soon as the service is back.
        listen();
      }
    } else if (isIncomplete()) return request();
    schedule();
  };

  const take = (event: MessageEvent<string>, known: Info | undefined) => {
    info = known && patchInfo(known, event.data);
    if (info) {
      told++;
      show(info);
    }
    if (isIncomplete()) request();
  };

  const listen = () => {
    clearTimeout(listening);
    source?.close();
    isStreaming = false;
    if (document.hidden) return;
    const opened = source = new EventSource(events);
    opened.addEventListener("snapshot", (event) => {
      isStreaming = true;
      interval = INTERVAL;
      retry = RETRY;
      schedule();
      take(event, {});
    });
    opened.addEventListener("info", (event) => take(event, info));
    opened.addEventListener("description", () => {
      // One that changes again and again does not load the document each time.
      const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      if (isIdle() && visit?.type !== "reload") location.reload();
      else showChange();
    });
    // Browsers differ in the failures after which they open it again.
    opened.addEventListener("error", () => {
      opened.close();
      if (isStreaming) {
        isStreaming = false;
        schedule();
      }
      if (interval > INTERVAL) retry = RETRY;
      listening = setTimeout(listen, retry * (1 - Math.random() / 2));
      retry = Math.min(2 * retry, INTERVAL_MAX);
    });
  };

  document.addEventListener("visibilitychange", () => {
    // Browsers allow six connections to an origin: a hidden page keeps none.
    listen();
    request();
  });
  setInterval(showAges, 1000);
  listen();
  if (isClockSet) schedule();
  else request();
}

async function fetchObject(address: URL): Promise<Json | undefined> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(INTERVAL) });
    setClock(response.headers.get("date"));
    return response.ok ? parseInfo(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

/** The strings and the numbers of a JSON text. */
const SCALARS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[-+.\deE]*/g;

/**
 * Reads the info; an integer of 16 digits or more becomes a `bigint`. Not every browser gives the source of a number
 * to who revives it, so its digits are read as a string that begins with NUL.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseInfo(text: string): Json | undefined {
  const marked = text.replaceAll(
    SCALARS,
    (scalar) => /^-?\d{16,}$/.test(scalar) ? `"\\u0000${scalar}"` : scalar,
  );
  const info: unknown = JSON.parse(
    marked,
    (_, value) =>
      typeof value === "string" && /^\0-?\d+$/.test(value) ? BigInt(value.slice(1)) : value,
  );
  return isObject(info) ? info : undefined;
}

/** Applies what an event tells; `undefined` where it cannot be applied. */
export function patchInfo(info: Info, data: string): Info | undefined {
  try {
    const patch = parseInfo(data);
    return patch && applyPatch(info, patch, DEPTH_MAX) as Json;
  } catch {
    return undefined;
  }
}

/** Applies a JSON Merge Patch (RFC 7396). The objects that it makes have no prototype, which a name could change. */
function applyPatch(target: unknown, patch: unknown, depth: number): unknown {
  if (!isObject(patch)) return patch;
  if (depth === 0) throw new RangeError("The patch is too deep");
  const patched: Json = { __proto__: null, ...isObject(target) && target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete patched[key];
    else patched[key] = applyPatch(patched[key], value, depth - 1);
  }
  return patched;
}
