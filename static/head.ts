/** Shows an info in the head of both documents. */
import {
  describeInfo,
  describeState,
  formatAge,
  type Info,
  type StateText,
} from "../src/explorer/head.ts";

/** The service's clock less the browser's, in milliseconds; `undefined` until an answer has said it. */
let clockOffset: number | undefined;

const header = () => document.getElementById("node")!;

/** Tells the time by the service's clock: that of the browser may be wrong. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  clockOffset = time - Date.now();
  showAges();
}

/** Shows of each time how long ago it was. */
export function showAges(): void {
  if (clockOffset === undefined) return;
  for (const time of header().querySelectorAll("time")) {
    setText(time, formatAge(Date.now() + clockOffset - Date.parse(time.dateTime)) || time.title);
  }
}

export function showInfo(info: Info): void {
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

/** Shows that the service does not respond. */
export const showSilence = (): void => showState(describeState("silent"));

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
