/**
 * Keeps the header of the reference and of the simple page current while the page is visible: requests the info after
 * each event, and from time to time, since the stream of a service that hangs is merely silent.
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
/** The upper limit of the random delay before an ended stream is reopened, in milliseconds; doubled at each attempt. */
const RETRY = 4_000;
/** The service's clock minus the browser's, in milliseconds. */
let clockOffset: number | undefined;
let shownFigures = "";
const header = () => document.getElementById("node")!;

/** @param isIdle tells whether the document may be reloaded when the description changes */
export function followInfo(base: URL, isIdle: () => boolean): void {
  let info: Info | undefined;
  let history: History = {};
  let source: EventSource | undefined;
  let isStreaming = false;
  let isRequesting = false;
  /** True if there was an event after the last request began. */
  let isOutdated = false;
  let isPlotted = false;
  let interval = INTERVAL;
  let retry = RETRY;
  let requesting: ReturnType<typeof setTimeout> | undefined;
  let listening: ReturnType<typeof setTimeout> | undefined;

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

  const request = async (): Promise<void> => {
    if (document.hidden || isRequesting) return;
    clearTimeout(requesting);
    isRequesting = true;
    isOutdated = false;
    const found = await fetchObject(new URL("v1/info", base));
    isRequesting = false;
    if (found) {
      interval = INTERVAL;
      show(found);
    } else {
      interval = Math.min(2 * interval, INTERVAL_MAX);
      showState(describeState("silent"));
      // A new stream begins with an event as soon as the service is back.
      listen();
    }
    if (isOutdated) return request();
    requesting = setTimeout(request, isStreaming ? INTERVAL_BESIDE : interval);
  };

  const requestAgain = () => {
    isOutdated = true;
    request();
  };

  const listen = () => {
    clearTimeout(listening);
    source?.close();
    isStreaming = false;
    if (document.hidden) return;
    const opened = source = new EventSource(new URL("v1/events?events=info,description", base));
    opened.addEventListener("snapshot", () => {
      isStreaming = true;
      retry = RETRY;
      requestAgain();
    });
    opened.addEventListener("info", requestAgain);
    opened.addEventListener("description", () => {
      // A reloaded document only shows a notice, since the description may keep changing.
      const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      if (isIdle() && visit?.type !== "reload") location.reload();
      else showChange();
    });
    // Browsers differ in the failures after which they reconnect a stream.
    opened.addEventListener("error", () => {
      opened.close();
      const wasStreaming = isStreaming;
      isStreaming = false;
      if (interval > INTERVAL) retry = RETRY;
      // A random delay: other pages have lost their streams at the same moment.
      listening = setTimeout(listen, retry * (1 - Math.random() / 2));
      retry = Math.min(2 * retry, INTERVAL_MAX);
      if (wasStreaming) requestAgain();
    });
  };

  document.addEventListener("visibilitychange", () => {
    // Browsers allow six connections to an origin: a hidden page keeps none.
    listen();
    request();
  });
  setInterval(showAges, 1000);
  listen();
  request();
}

/** Sets the service's clock from a `Date` header, since the browser's clock may be wrong. */
function setClock(date: string | null): void {
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
  // A change of the note alone is not announced: the duration in it changes every minute.
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
    const signal = AbortSignal.timeout(INTERVAL);
    const response = await fetch(address, { cache: "no-cache", signal });
    setClock(response.headers.get("date"));
    const content: unknown = JSON.parse(await response.text(), keepDigits);
    return response.ok && isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Reads long integers as `bigint`s. Browsers before 2025 pass no `source`, so such integers are rounded. */
function keepDigits(_: string, value: unknown, { source = "" } = {}): unknown {
  return /^-?\d{16,}$/.test(source) ? BigInt(source) : value;
}
