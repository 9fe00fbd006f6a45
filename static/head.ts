/**
 * Keeps the header of the reference and of the simple page current while the page is visible: by a stream of changes,
 * and by requests. These are rare while there is a stream, but still needed: if the service hangs, the stream is merely
 * silent.
 */
import {
  describeInfo,
  describeState,
  formatAge,
  type History,
  type Info,
  renderFigures,
  type StateText,
} from "../src/explorer/head.ts";
import { isObject, type Json } from "../src/json/values.ts";

/** Milliseconds between two requests; doubled after each failure, up to the maximum. */
const INTERVAL = 5_000, INTERVAL_MAX = 60_000;
/** Milliseconds between two requests while there is a stream, and between two requests for the history. */
const INTERVAL_BESIDE = 30_000;
/** The longest delay before an ended stream is first reopened, in milliseconds; doubled after each attempt. */
const RETRY = 4_000;
/** The service's clock minus the browser's, in milliseconds. */
let clockOffset: number | undefined;
let shownFigures = "";
const header = () => document.getElementById("node")!;

/**
 * @param isClockSet true if another response provides the service's time; a stream does not
 * @param isIdle tells whether the document may be reloaded when the description changes
 */
export function followInfo(base: URL, isClockSet: boolean, isIdle: () => boolean): void {
  /** `undefined` if events cannot be applied to it. */
  let info: Info | undefined;
  let history: History = {};
  let eventCount = 0;
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

  const plot = async () => {
    const found = document.hidden ? undefined : await fetchObject(new URL("v1/history", base));
    if (found) history = found;
    if (found && info) showHead(info, history);
  };

  const show = (found: Info) => {
    showHead(info = found, history);
    // A service without a node has no history.
    if (!info.api || isPlotted || !("history" in header().dataset)) return;
    isPlotted = true;
    plot();
    setInterval(plot, INTERVAL_BESIDE);
  };

  /** Tells whether only a response has the whole info: events lack the time of stale values. */
  const isIncomplete = () => !info || info.status === "stale" || info.updated_at !== undefined;

  const request = async (): Promise<void> => {
    if (document.hidden || isRequesting) return;
    isRequesting = true;
    const before = eventCount;
    const found = await fetchObject(new URL("v1/info", base));
    isRequesting = false;
    // An event that came during the request is newer than its response.
    if (eventCount !== before) {
      if (isIncomplete()) return request();
    } else if (found) {
      interval = INTERVAL;
      show(found);
    } else {
      interval = Math.min(2 * interval, INTERVAL_MAX);
      showState(describeState("silent"));
      // A new stream begins with the whole info as soon as the service is back.
      listen();
    }
    schedule();
  };

  const apply = (event: MessageEvent<string>, known: Info) => {
    info = patchInfo(known, event.data);
    if (info) eventCount++;
    // Stale values are shown with their time, which only a response has.
    if (info && info.status !== "stale") show(info);
    if (isIncomplete()) request();
  };

  const listen = () => {
    clearTimeout(listening);
    source?.close();
    isStreaming = false;
    if (document.hidden) return;
    const opened = source = new EventSource(new URL("v1/events?events=info,description", base));
    opened.addEventListener("snapshot", (event) => {
      isStreaming = true;
      interval = INTERVAL;
      retry = RETRY;
      schedule();
      apply(event, {});
    });
    opened.addEventListener("info", (event) => info ? apply(event, info) : request());
    opened.addEventListener("description", () => {
      // A reloaded document only shows a notice, since the description may keep changing.
      const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      if (isIdle() && visit?.type !== "reload") location.reload();
      else showChange();
    });
    // Browsers differ in the failures after which they reconnect a stream.
    opened.addEventListener("error", () => {
      opened.close();
      if (isStreaming) {
        isStreaming = false;
        schedule();
      }
      if (interval > INTERVAL) retry = RETRY;
      // A random delay: other pages have lost their streams at the same moment.
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

/** Sets the service's clock from a `Date` header, since the browser's clock may be wrong. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  clockOffset = time - Date.now();
  showAges();
}

function showAges(): void {
  if (clockOffset === undefined) return;
  for (const time of header().querySelectorAll("time")) {
    setText(time, formatAge(Date.now() + clockOffset - Date.parse(time.dateTime)) || time.title);
  }
}

function showHead(info: Info, history: History): void {
  const { title = "", api = "" } = header().dataset;
  const text = describeInfo(info, { title, api }, history);
  const link = find("h1 a");
  if (link.textContent !== text.name) showIcon(text.name);
  setText(link, text.name);
  setText(find(".names p"), text.about);
  document.title = text.title;
  const html = renderFigures(text.figures, history);
  // Replacing equal figures would disturb a reader.
  if (html !== shownFigures) find("dl").innerHTML = shownFigures = html;
  setText(find(".hint"), text.hint);
  showState(text);
  showAges();
}

/** Shows the icon for a new name, unless the icon is a logo. */
function showIcon(name: string): void {
  const image = find<HTMLImageElement>(".icon");
  const address = new URL(image.src);
  if (address.searchParams.has("logo")) return;
  address.search = String(new URLSearchParams({ name }));
  image.src = address.href;
  document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = address.href;
}

function showState({ state, label, note }: StateText): void {
  const element = find(".state");
  const span = element.querySelector("span")!;
  if (element.dataset.state !== state) element.removeAttribute("aria-live");
  // A duration in the note, which changes every minute, is not announced.
  else if (span.textContent !== note) element.setAttribute("aria-live", "off");
  element.dataset.state = state;
  setText(element.querySelector("b")!, label);
  setText(span, note);
}

/** Announces that the description has changed, with a button that shows it. */
function showChange(): void {
  const show = Object.assign(document.createElement("button"), { textContent: "Show it" });
  show.addEventListener("click", () => location.reload());
  document.getElementById("changed")!.replaceChildren("The description has changed. ", show);
}

/** Sets a text only if it differs: a screen reader announces every change. */
function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function find<Found extends HTMLElement>(selector: string): Found {
  return header().querySelector<Found>(selector)!;
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

/** Matches the strings and numbers in a JSON text. */
const SCALARS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[-+.\deE]*/g;

/**
 * Parses the info. Integers of 16 digits or more become `bigint`s: since not every browser gives a reviver the source
 * of a number, their digits are first written as a string that begins with NUL.
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

/** Applies an event's data to an info; `undefined` if that fails. */
export function patchInfo(info: Info, data: string): Info | undefined {
  try {
    const patch = parseInfo(data);
    return patch && applyPatch(info, patch, 32) as Json;
  } catch {
    return undefined;
  }
}

/** Applies a JSON Merge Patch (RFC 7396) up to a depth. The results have no prototype that a key could change. */
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
