/** Keeps the head of both documents current: requests the info while the page is visible. */
import {
  describeInfo,
  describeState,
  formatAge,
  type Info,
  type StateText,
} from "../src/explorer/head.ts";

/** In milliseconds. The interval doubles after each failure, up to the maximum. */
const INTERVAL = 5_000;
const INTERVAL_MAX = 60_000;

/** The service's clock less the browser's, in milliseconds; `undefined` until an answer has said it. */
let clockOffset: number | undefined;

const header = () => document.getElementById("node")!;

/**
 * Requests the info again and again while the page is visible, and shows it.
 *
 * @param base where the service is
 * @param first when it is requested first, in milliseconds; 0 where nothing else tells the service's time
 */
export function refreshHead(base: URL, first: number = INTERVAL): void {
  const address = new URL("v1/info", base);
  let interval = INTERVAL;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const info = await fetchInfo(address);
    if (info) showInfo(info);
    else showState(describeState("silent"));
    interval = info ? INTERVAL : Math.min(2 * interval, INTERVAL_MAX);
    timer = setTimeout(refresh, interval);
  };
  document.addEventListener("visibilitychange", refresh);
  setInterval(showAges, 1000);
  timer = setTimeout(refresh, first);
}

async function fetchInfo(address: URL): Promise<Info | undefined> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(INTERVAL) });
    setClock(answer.headers.get("date"));
    return answer.ok ? parseInfo(await answer.text()) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the info; an integer above 2^53 becomes a `bigint`. Where the browser does not give the source of
 * a number, its digits are found by the indent that the service writes.
 */
export function parseInfo(text: string): Info | undefined {
  const revive = (key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
    const digits = context?.source ?? sourceOf(text, key);
    return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  };
  const info: unknown = JSON.parse(text, revive);
  return info && typeof info === "object" ? info as Info : undefined;
}

/** The number of a member of the outermost object as it is written; an empty text for none. */
function sourceOf(text: string, key: string): string {
  const before = `\n  ${JSON.stringify(key)}: `;
  const start = text.indexOf(before);
  return start < 0 ? "" : /^[-+.\deE]*/.exec(text.slice(start + before.length))![0];
}

/** Tells the time by the service's clock: that of the browser may be wrong. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  clockOffset = time - Date.now();
  showAges();
}

/** Shows of each time how long ago it was. */
function showAges(): void {
  if (clockOffset === undefined) return;
  for (const time of header().querySelectorAll("time")) {
    setText(time, formatAge(Date.now() + clockOffset - Date.parse(time.dateTime)) || time.title);
  }
}

function showInfo(info: Info): void {
  const { title = "", api = "" } = header().dataset;
  const { name, about, facts, ...state } = describeInfo(info, { title, api });
  const link = find("h1 a");
  if (link.textContent !== name) showIcon(name);
  setText(link, name);
  setText(find(".names p"), about);
  document.title = [name, about].filter((text) => text !== "").join(" · ");
  find("dl").replaceChildren(...facts.map(([label, value, time]) => {
    const fact = document.createElement("div");
    const shown = time
      ? Object.assign(document.createElement("time"), { dateTime: time, title: value })
      : document.createTextNode("");
    shown.textContent = value;
    for (const [tag, content] of [["dt", label], ["dd", shown]] as const) {
      const element = document.createElement(tag);
      element.append(content);
      fact.append(element);
    }
    return fact;
  }));
  showAges();
  showState(state);
}

/** Shows the icon of another name, where it is made of the name. */
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
  // A duration in the note changes every minute.
  else if (span.textContent !== note) element.setAttribute("aria-live", "off");
  element.dataset.state = state;
  setText(element.querySelector("b")!, label);
  setText(span, note);
}

/** Sets a text only if it differs: a screen reader announces every change. */
function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function find<Found extends HTMLElement>(selector: string): Found {
  return header().querySelector<Found>(selector)!;
}
