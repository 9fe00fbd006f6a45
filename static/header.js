/**
 * Keeps the header current: asks for the node's information while the page is visible, and puts
 * what it says in as text. The labels are in the page, which the service rendered from the same.
 */

/** How often, in milliseconds; less and less often where there is no answer. */
const EVERY = 5_000;
const AT_MOST = 60_000;

/** How long a value may be shown, in characters. */
const VALUE_MAX = 80;

const header = document.getElementById("node");
const facts = JSON.parse(header.dataset.facts);
const states = JSON.parse(header.dataset.states);

/** Starts to ask. */
export function refreshHeader() {
  const address = new URL("info", location.href);
  let pause = EVERY;
  let timer;
  const next = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const info = await ask(address);
    if (info) showInfo(info);
    else showState("silent");
    pause = info ? EVERY : Math.min(2 * pause, AT_MOST);
    timer = setTimeout(next, pause);
  };
  document.addEventListener("visibilitychange", next);
  timer = setTimeout(next, pause);
}

/** The information, from the browser's cache as long as its `Cache-Control` says. */
async function ask(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(EVERY) });
    const info = answer.ok ? await answer.json() : undefined;
    return info && typeof info === "object" ? info : undefined;
  } catch {
    return undefined;
  }
}

function showInfo(info) {
  const shown = facts.map(([key, label]) => [label, show(info[key])]).filter(([, value]) => value);
  put(header.querySelector(".name a"), show(info.name) || show(info.software) || "Node");
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
    show(status),
  );
}

function showState(state, name = "") {
  const [label = name, note = ""] = states[state] ?? [];
  const element = header.querySelector(".state");
  element.dataset.state = state;
  put(element.querySelector("b"), label);
  put(element.querySelector("span"), note);
}

/** Changes text only where it differs, since a screen reader says what changes. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A value as text, as the first HTML has it (`src/explorer/header.ts`). */
export function show(value) {
  if (typeof value === "string") return shorten(value);
  return typeof value === "number" ? shorten(groupDigits(String(value))) : "";
}

/** Puts narrow spaces between the thousands of a number, and none into its fraction. */
function groupDigits(number) {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}

/** At most so many characters, to the end of a word, and no half of a surrogate pair. */
function shorten(text) {
  if (text.length <= VALUE_MAX) return text;
  const wordEnd = text.slice(0, VALUE_MAX).search(/\s\S*$/);
  if (wordEnd >= VALUE_MAX >> 1) return `${text.slice(0, wordEnd)}…`;
  return `${text.slice(0, VALUE_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
