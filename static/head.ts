/** Keeps the header of a visible page up to date, from an event stream and by polling. */
import {
  describeInfo,
  describeState,
  formatAge,
  renderFigures,
  type ShownHistory,
  type ShownInfo,
  type StateText,
  untilNow,
} from "../src/explorer/head.ts";
import { isObject, type JsonObject } from "../src/json/values.ts";
import { base, here } from "./service.ts";

/**
 * Times in milliseconds. Without an event stream, the page polls at least every `INTERVAL_MS`; with
 * one, every `INTERVAL_BESIDE_MS`. The service may wait for its node for twice as long as
 * `node.timeout`, which is at most 10 seconds.
 */
const INTERVAL_MS = 4_000, INTERVAL_BESIDE_MS = 30_000, TIMEOUT_MS = 22_000;
/** The first and the longest delay before a failed stream is opened again, in milliseconds. */
const RETRY_MS = 4_000, RETRY_MAX_MS = 60_000;
/** The service's clock minus the browser's, in milliseconds. */
let clockOffset: number | undefined;
let shownFigures = "";
/** The longest response to the first call that is shown. */
const RESPONSE_MAX = 120;
/** The first call, with the state of the node in which it was made. */
let firstCall: { readonly state: string } | undefined;
const header = () => document.getElementById("node")!;

/** Requests the info after each event, or every few seconds if there is no event stream. */
export class InfoFollower {
  readonly #mayReload: (isChanged: boolean) => boolean;
  #history: ShownHistory = {};
  #plottedAt = -Infinity;
  #stream: EventSource | undefined;
  #isStreaming = false;
  #retry = RETRY_MS;
  #listenAt = 0;
  /** The time of the last look at the description without an event stream. */
  #comparedAt = performance.now();
  #isRequesting = false;
  /** True if an event has arrived since the last request for `/v1/info` began. */
  #isOutdated = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param mayReload tells whether to load the document anew; `isChanged` is false if only example
   * values have changed
   */
  constructor(mayReload: (isChanged: boolean) => boolean) {
    this.#mayReload = mayReload;
    document.addEventListener("visibilitychange", () => {
      // A hidden page closes its connection, since browsers allow only six connections to an
      // origin.
      if (document.hidden) this.#close();
      else void this.#request();
    });
    setInterval(showAges, 1000);
    void showCall(find(".state").dataset.state!);
    void this.#request();
  }

  async #request(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isRequesting) return;
    this.#isRequesting = true;
    clearTimeout(this.#timer);
    while (this.#isOutdated && !document.hidden) {
      this.#isOutdated = false;
      await this.#update();
    }
    this.#isRequesting = false;
    // If many pages lose their streams at the same time, a random delay spreads their requests.
    const interval = this.#isStreaming ? INTERVAL_BESIDE_MS : INTERVAL_MS * (1 - Math.random() / 2);
    if (!document.hidden) this.#timer = setTimeout(() => this.#request(), interval);
  }

  async #update(): Promise<void> {
    const info = await fetchObject(new URL("v1/info", base));
    if (!info) {
      this.#close();
      this.#retry = RETRY_MS;
      this.#listenAt = 0;
      return showState(describeState("silent"));
    }
    showHead(info, this.#history);
    if (document.hidden) return;
    if (!this.#stream && performance.now() >= this.#listenAt) this.#listen();
    if (!this.#isStreaming && performance.now() >= this.#comparedAt + INTERVAL_BESIDE_MS) {
      this.#comparedAt = performance.now();
      void hasOtherDescription();
    }
    // A service without a node has no history.
    if (!info.api || !("history" in header().dataset)) return;
    if (performance.now() < this.#plottedAt + INTERVAL_BESIDE_MS) return;
    this.#plottedAt = performance.now();
    this.#history = await fetchObject(new URL("v1/history", base)) ?? this.#history;
    showHead(info, this.#history);
  }

  #listen(): void {
    const stream = new EventSource(new URL("v1/events?events=info,description", base));
    this.#stream = stream;
    stream.addEventListener("snapshot", () => {
      this.#isStreaming = true;
      this.#retry = RETRY_MS;
      void this.#request();
      void hasOtherDescription();
    });
    stream.addEventListener("info", () => this.#request());
    stream.addEventListener("description", ({ data }) => {
      const { version } = JSON.parse(data) as { version: string };
      const isChanged = showWhetherChanged(version);
      // The description may keep changing, so the page reloads only once and then shows a notice.
      const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      if (visit?.type !== "reload" && this.#mayReload(isChanged)) location.reload();
    });
    // Browsers do not reconnect a stream after every failure, so the page reconnects it.
    stream.addEventListener("error", () => {
      this.#close();
      this.#listenAt = performance.now() + this.#retry;
      this.#retry = Math.min(2 * this.#retry, RETRY_MAX_MS);
      void this.#request();
    });
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.#isStreaming = false;
    // Meanwhile, the node may restart unseen.
    firstCall = undefined;
  }
}

/** The browser's clock may be wrong, so ages are computed with the service's clock. */
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

function showHead(info: ShownInfo, history: ShownHistory): void {
  const { title = "", api = "" } = header().dataset;
  const text = describeInfo(info, { title, api }, history);
  const link = find("h1 a");
  if (link.textContent !== text.name) showIcon(text.name);
  setText(link, text.name);
  setText(find(".names p"), text.about);
  document.title = text.title;
  const html = `${renderFigures(text.figures, untilNow(history, info))}`;
  // Setting the same HTML again would clear the user's text selection.
  if (html !== shownFigures) find("dl").innerHTML = shownFigures = html;
  setText(find(".hint"), text.hint);
  showState(text);
  showAges();
}

function showIcon(name: string): void {
  const image = find<HTMLImageElement>(".icon");
  if (image.src.includes("?logo=")) return;
  image.src = image.src.replace(/\?.*/, `?${new URLSearchParams({ name })}`);
  document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = image.src;
}

function showState({ state, label, note }: StateText): void {
  const element = find(".state");
  const span = element.querySelector("span")!;
  if (element.dataset.state !== state) element.removeAttribute("aria-live");
  // A change of the note alone is not announced, since the duration in the note changes every
  // minute.
  else if (span.textContent !== note) element.setAttribute("aria-live", "off");
  element.dataset.state = state;
  setText(element.querySelector("b")!, label);
  setText(span, note);
  void showCall(state);
}

/** Makes the first call again in each new state in which the node responds, on a visible page. */
async function showCall(state: string): Promise<void> {
  const output = header().querySelector("output");
  if (!output || document.hidden || firstCall?.state === state) return;
  const call = firstCall = { state };
  const isSilent = /^(outdated|stale|unreachable|silent)$/.test(state);
  const text = isSilent ? "" : await responseTo(output.dataset.call!).catch(() => "");
  // A later call may have been faster.
  if (call === firstCall) output.textContent = text;
}

async function responseTo(path: string): Promise<string> {
  const headers = { "X-Nodeface": "1" };
  const response = await fetch(here + path, { headers });
  const { ok, status, statusText } = response;
  return ok ? (await response.text()).slice(0, RESPONSE_MAX) : `${status} ${statusText}`;
}

/**
 * Offers to load the page anew if the service has another description now, as after a start with
 * other settings.
 */
export async function hasOtherDescription(): Promise<boolean> {
  const spec = new URL("spec.json", base);
  const response = await fetch(spec, { method: "HEAD", cache: "no-store" }).catch(() => null);
  const version = response?.ok ? response.headers.get("x-description-version") : null;
  return version !== null && showWhetherChanged(version);
}

function showWhetherChanged(version: string): boolean {
  const isChanged = version !== header().dataset.version;
  const show = Object.assign(document.createElement("button"), { textContent: "Show it" });
  show.addEventListener("click", () => location.reload());
  // While a node starts, the service may have another description for some seconds.
  const notice = isChanged ? ["The description has changed. ", show] : [];
  const place = document.getElementById("changed")!;
  // A notice that stands there already would be announced again.
  if (isChanged !== place.hasChildNodes()) place.replaceChildren(...notice);
  return isChanged;
}

/** Sets the text only if it differs, so that screen readers do not announce it again. */
function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function find<Found extends HTMLElement>(selector: string): Found {
  return header().querySelector<Found>(selector)!;
}

export async function fetchObject(address: URL): Promise<JsonObject | undefined> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(address, { cache: "no-cache", signal });
    setClock(response.headers.get("date"));
    const content: unknown = JSON.parse(await response.text(), keepDigits);
    return response.ok && isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Some browsers released before 2025 do not pass `source` and therefore show long integers rounded.
 */
function keepDigits(_: string, value: unknown, { source = "" } = {}): unknown {
  return /^-?\d{16,}$/.test(source) ? BigInt(source) : value;
}
