/**
 * Keeps the header current: requests the info while the page is visible. `src/explorer/render-header.ts` renders
 * the first header, and puts the tables of facts and states into the page.
 */

/** In milliseconds. The interval doubles after each failure, up to the maximum. */
const INTERVAL = 5_000;
const INTERVAL_MAX = 60_000;

/** The title of this service's own API, which names no node. */
const OWN_TITLE = "Nodeface";

/** In UTF-16 code units. */
const VALUE_MAX = 80;
const REASON_MAX = 160;

/** Spaces, and characters that change how the text around them is shown. */
const GAP =
  // deno-lint-ignore no-control-regex
  /[ \x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** The units of an age with their lengths in milliseconds, and from how many on the next one is used. */
const AGES = [
  ["second", 1000, 90],
  ["minute", 60_000, 90],
  ["hour", 3_600_000, 36],
  ["day", 86_400_000, Infinity],
];
const WORDS = new Intl.RelativeTimeFormat("en");

const header = document.getElementById("node");
const factTable = JSON.parse(header.dataset.facts);
const stateTable = JSON.parse(header.dataset.states);

/** The service's clock less the browser's, in milliseconds; `undefined` until an answer has said it. */
let clockOffset;

export function refreshHeader() {
  const address = new URL("info", location.href);
  let interval = INTERVAL;
  let timer;
  const refresh = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const info = await fetchInfo(address);
    if (info) showInfo(info);
    else showState({ state: "silent", ...textsOf("silent") });
    interval = info ? INTERVAL : Math.min(2 * interval, INTERVAL_MAX);
    timer = setTimeout(refresh, interval);
  };
  document.addEventListener("visibilitychange", refresh);
  setInterval(showAges, 1000);
  timer = setTimeout(refresh, interval);
}

async function fetchInfo(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(INTERVAL) });
    setClock(answer.headers.get("date"));
    const info = answer.ok ? parseInfo(await answer.text()) : undefined;
    return info && typeof info === "object" ? info : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the info; an integer above 2^53 becomes a `bigint`. Where the browser does not give the source of
 * a number, its digits are found by the indent that the service writes.
 */
export function parseInfo(text) {
  return JSON.parse(text, (key, value, context) => {
    if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
    const digits = context?.source ?? sourceOf(text, key);
    return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  });
}

/** The number of a member of the outermost object as it is written; an empty text for none. */
function sourceOf(text, key) {
  const before = `\n  ${JSON.stringify(key)}: `;
  const start = text.indexOf(before);
  return start < 0 ? "" : /^[-+.\deE]*/.exec(text.slice(start + before.length))[0];
}

/** Tells the time by the service's clock: that of the browser may be wrong. */
export function setClock(date) {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) return;
  clockOffset = time - Date.now();
  showAges();
}

/** Shows of each time how long ago it was. */
function showAges() {
  if (clockOffset === undefined) return;
  for (const time of header.querySelectorAll("time")) {
    setText(time, formatAge(Date.now() + clockOffset - Date.parse(time.dateTime)) || time.title);
  }
}

/** How long ago something was, in whole units; an empty text for what is no number of milliseconds. */
export function formatAge(milliseconds) {
  const [unit, length] = AGES.find(([, length, most]) => Math.abs(milliseconds) < length * most) ??
    [];
  return unit ? WORDS.format(-Math.trunc(milliseconds / length), unit) : "";
}

function showInfo(info) {
  const { name, about, facts, ...state } = describeInfo(info);
  const link = header.querySelector("h1 a");
  if (link.textContent !== name) showIcon(name);
  setText(link, name);
  setText(header.querySelector(".names p"), about);
  document.title = [name, about].filter((text) => text !== "").join(" · ");
  header.querySelector("dl").replaceChildren(...facts.map(([label, value, time]) => {
    const fact = document.createElement("div");
    const shown = time
      ? Object.assign(document.createElement("time"), { dateTime: time, title: value })
      : document.createTextNode("");
    shown.textContent = value;
    for (const [tag, content] of [["dt", label], ["dd", shown]]) {
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
function showIcon(name) {
  const image = header.querySelector(".icon");
  const address = new URL(image.src);
  if (address.searchParams.has("logo")) return;
  address.search = new URLSearchParams({ name });
  image.src = address;
  document.querySelector("link[rel=icon]").href = address;
}

function showState({ state, label, note }) {
  const element = header.querySelector(".state");
  const span = element.querySelector("span");
  if (element.dataset.state !== state) element.removeAttribute("aria-live");
  // A duration in the note changes every minute.
  else if (span.textContent !== note) element.setAttribute("aria-live", "off");
  element.dataset.state = state;
  setText(element.querySelector("b"), label);
  setText(span, note);
}

/** Sets a text only if it differs: a screen reader announces every change. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same as in `src/explorer/render-header.ts`, and what follows. */
export function describeInfo(info) {
  const state = stateOf(info);
  const facts = factTable
    .map(([key, label, form]) => [key, label, format(info[key], form), form])
    .filter(([, , value]) => value)
    .filter(([key]) => !(key === "sync_progress" && state === "synced"))
    .filter(([key]) => !(key === "started_at" && isService(info)))
    .map(([key, label, value, form]) => {
      const time = form === "time" ? timeOf(info[key]) : undefined;
      return time ? [label, value, time] : [label, value];
    });
  const name = nameOf(info);
  return { name, about: aboutOf(info, name), state, ...textsOf(state, info), facts };
}

function nameOf(info) {
  const { title, api } = header.dataset;
  const isOwn = isAlone(info);
  const known = isOwn ? [] : [info.name, info.software].map(formatValue);
  const ofApi = isOwn || api !== OWN_TITLE ? formatText(api, VALUE_MAX) : "";
  const names = [formatText(title, VALUE_MAX), ...known, ofApi];
  return names.find((text) => text !== "") ?? "Node";
}

const isService = ({ software, api }) => software === "nodeface" && !api;

const isAlone = (info) =>
  isService(info) && (info.name === undefined || info.name === info.software);

function aboutOf(info, name) {
  const [software, version, network] = [info.software, info.version, info.network].map(formatValue);
  const isNamed = name.toLowerCase() === software.toLowerCase();
  const what = isNamed ? version && `Version ${version}` : `${software} ${version}`.trim();
  return [isAlone(info) && !isNamed ? "" : what, network].filter((text) => text).join(" · ");
}

function textsOf(state, info = {}) {
  const [label = formatValue(info.status), usual = "", addition = ""] = stateTable[state] ?? [];
  const reason = formatText(info.status_reason, REASON_MAX) || usual;
  return { label, note: [reason, addition].filter((text) => text !== "").join("; ") };
}

function stateOf({ status, synced, api }) {
  if (status !== "ok") return isState(status) ? status : "";
  if (typeof synced === "boolean") return synced ? "synced" : "syncing";
  return api ? "answers" : "running";
}

const isState = (status) => typeof status === "string" && Object.hasOwn(stateTable, status);

function format(value, form) {
  if (form === "time") return formatTime(value);
  return form === "percent" ? formatShare(value) : formatValue(value);
}

function formatValue(value) {
  const isNumber = typeof value === "bigint" || Number.isFinite(value);
  return formatText(isNumber ? groupDigits(String(value)) : value, VALUE_MAX);
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

function formatTime(value) {
  return formatText(value, VALUE_MAX).replace(TIME, "$1 $2 UTC");
}

function timeOf(value) {
  const [, date, time] = TIME.exec(formatText(value, VALUE_MAX)) ?? [];
  return date && `${date}T${time}Z`;
}

function formatShare(value) {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) return "";
  const hundredths = Math.floor(value * 10_000 + 1e-6);
  return `${Math.min(hundredths, value < 1 ? 9_999 : 10_000) / 100}%`;
}

function formatText(value, length) {
  return typeof value === "string" ? shorten(value.replaceAll(GAP, " ").trim(), length) : "";
}

function groupDigits(number) {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}

function shorten(text, length) {
  if (text.length <= length) return text;
  const wordEnd = text.slice(0, length).search(/\s\S*$/);
  if (wordEnd >= length >> 1) return `${text.slice(0, wordEnd)}…`;
  const isPairCut = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(length - 2));
  return `${text.slice(0, isPairCut ? length - 2 : length - 1)}…`;
}
