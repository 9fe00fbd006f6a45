/**
 * Keeps the header current: requests the info while the page is visible. `src/explorer/render-header.ts` renders
 * the first header, and puts the tables of facts and states into the page.
 */

/** In milliseconds. The interval doubles after each failure, up to the maximum. */
const INTERVAL = 5_000;
const INTERVAL_MAX = 60_000;

/** In UTF-16 code units. */
const VALUE_MAX = 80;
const REASON_MAX = 160;

/** Spaces, and characters that change how the text around them is shown. */
const GAP =
  // deno-lint-ignore no-control-regex
  /[ \x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

const header = document.getElementById("node");
const factTable = JSON.parse(header.dataset.facts);
const stateTable = JSON.parse(header.dataset.states);

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
  timer = setTimeout(refresh, interval);
}

async function fetchInfo(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(INTERVAL) });
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

function showInfo(info) {
  const { name, facts, ...state } = describeInfo(info);
  setText(header.querySelector(".name a"), name);
  header.querySelector("dl").replaceChildren(...facts.map(([label, value]) => {
    const fact = document.createElement("div");
    for (const [tag, text] of [["dt", label], ["dd", value]]) {
      fact.append(Object.assign(document.createElement(tag), { textContent: text }));
    }
    return fact;
  }));
  showState(state);
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
    .map(([key, label, form]) => [key, label, format(info[key], form)])
    .filter(([key, , value]) => value && !(key === "sync_progress" && state === "synced"))
    .map(([, label, value]) => [label, value]);
  const name = formatValue(info.name) || formatValue(info.software) || "Node";
  return { name, state, ...textsOf(state, info), facts };
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

function formatTime(value) {
  return formatText(value, VALUE_MAX)
    .replace(/^([\d-]{10})T([\d:]{8})(\.\d+)?Z$/, "$1 $2 UTC");
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
