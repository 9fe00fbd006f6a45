/**
 * Keeps the header current: requests the info while the page is visible. `src/explorer/render-header.ts` renders
 * the first header, and puts the tables of facts and states into the page.
 */

/** In milliseconds. The interval doubles after each failure, up to the maximum. */
const INTERVAL = 5_000;
const INTERVAL_MAX = 60_000;

/** In characters. */
const VALUE_MAX = 80;

const header = document.getElementById("node");
const facts = JSON.parse(header.dataset.facts);
const states = JSON.parse(header.dataset.states);

export function refreshHeader() {
  const address = new URL("info", location.href);
  let interval = INTERVAL;
  let timer;
  const refresh = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const info = await fetchInfo(address);
    if (info) showInfo(info);
    else showState("silent");
    interval = info ? INTERVAL : Math.min(2 * interval, INTERVAL_MAX);
    timer = setTimeout(refresh, interval);
  };
  document.addEventListener("visibilitychange", refresh);
  timer = setTimeout(refresh, interval);
}

async function fetchInfo(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(INTERVAL) });
    const info = answer.ok ? await answer.json() : undefined;
    return info && typeof info === "object" ? info : undefined;
  } catch {
    return undefined;
  }
}

function showInfo(info) {
  const shown = facts.map(([key, label]) => [label, formatValue(info[key])]).filter(([, value]) =>
    value
  );
  const name = formatValue(info.name) || formatValue(info.software) || "Node";
  setText(header.querySelector(".name a"), name);
  header.querySelector("dl").replaceChildren(...shown.map(([label, value]) => {
    const fact = document.createElement("div");
    for (const [tag, text] of [["dt", label], ["dd", value]]) {
      fact.append(Object.assign(document.createElement(tag), { textContent: text }));
    }
    return fact;
  }));
  const { status, synced } = info;
  const known = Object.hasOwn(states, String(status)) ? status : "";
  const well = known === "ok" || status === undefined;
  showState(
    well && synced === true ? "synced" : well && synced === false ? "syncing" : known,
    formatValue(status),
  );
}

function showState(state, name = "") {
  const [label = name, note = ""] = states[state] ?? [];
  const element = header.querySelector(".state");
  element.dataset.state = state;
  setText(element.querySelector("b"), label);
  setText(element.querySelector("span"), note);
}

/** Sets a text only if it differs: a screen reader announces every change. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same as in `src/explorer/render-header.ts`, and what follows. */
export function formatValue(value) {
  if (typeof value === "string") return shorten(value);
  return typeof value === "number" ? shorten(groupDigits(String(value))) : "";
}

function groupDigits(number) {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}

function shorten(text) {
  if (text.length <= VALUE_MAX) return text;
  const wordEnd = text.slice(0, VALUE_MAX).search(/\s\S*$/);
  if (wordEnd >= VALUE_MAX >> 1) return `${text.slice(0, wordEnd)}…`;
  return `${text.slice(0, VALUE_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
