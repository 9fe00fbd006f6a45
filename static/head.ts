/** Shows an info, and the past of its figures, in the head of both documents. */
import {
  describeInfo,
  describeState,
  formatAge,
  type History,
  type Info,
  renderFigures,
  type StateText,
} from "../src/explorer/head.ts";

let info: Info = {};
let history: History = {};
let shownFigures = "";

/** The service's clock less the browser's, in milliseconds. */
let clockOffset: number | undefined;

const header = () => document.getElementById("node")!;

/** Sets the service's clock from a `Date` header: that of the browser may be wrong. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  clockOffset = time - Date.now();
  showAges();
}

/** Shows how long ago each time was. */
export function showAges(): void {
  if (clockOffset === undefined) return;
  for (const time of header().querySelectorAll("time")) {
    setText(time, formatAge(Date.now() + clockOffset - Date.parse(time.dateTime)) || time.title);
  }
}

export function showInfo(found: Info): void {
  info = found;
  show();
}

export function showHistory(found: History): void {
  history = found;
  show();
}

function show(): void {
  const { title = "", api = "" } = header().dataset;
  const text = describeInfo(info, { title, api }, history);
  const link = find("h1 a");
  if (link.textContent !== text.name) showIcon(text.name);
  setText(link, text.name);
  setText(find(".names p"), text.about);
  document.title = text.title;
  const html = renderFigures(text.figures, history);
  // Equal figures stay, since somebody may be reading them.
  if (html !== shownFigures) find("dl").innerHTML = shownFigures = html;
  setText(find(".hint"), text.hint);
  showState(text);
  showAges();
}

/** Shows the icon of another name, unless it is a logo. */
function showIcon(name: string): void {
  const image = find<HTMLImageElement>(".icon");
  const address = new URL(image.src);
  if (address.searchParams.has("logo")) return;
  address.search = String(new URLSearchParams({ name }));
  image.src = address.href;
  document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = address.href;
}

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

/** Announces another description, with a button that shows it. */
export function showChange(): void {
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
