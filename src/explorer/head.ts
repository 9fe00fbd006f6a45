/**
 * The header of both explorer pages, with plots of the node's history. `static/head.ts` updates the
 * header in the browser.
 *
 * @module
 */
import { groupDigits } from "../units.ts";
import { capital, type JsonObject, listOf, objectOf, textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { type Html, markup, type Part, V1 } from "./html.ts";

/** The objects that `GET /v1/info` and `GET /v1/history` return. */
export type ShownInfo = Readonly<JsonObject>;
export type ShownHistory = Readonly<JsonObject>;

/** The formatter returns an empty string for a value that is not shown. */
type Row = readonly [key: string, label: string, format?: (value: unknown) => string];

/** The header shows only the first four figures that have a value. */
const FIGURES: readonly Row[] = [
  ["updated_at", "As of", formatUtc],
  ["progress", "Progress", formatShare],
  ["height", "Height"],
  ["head_at", "Latest block", formatUtc],
  ["peers", "Peers"],
];

const FIGURES_LAST: readonly Row[] = [
  ["response_ms", "Response time", (value) => formatValue(value) && `${formatValue(value)} ms`],
  ["started_at", "Started", formatUtc],
];

const FIGURES_LAST_SEEN: readonly Row[] = [
  ["at", "Last seen", formatUtc],
  ["height", "At height"],
];

/**
 * For each state: the label, the default note, and a text to append to the note. The label of a
 * node that is degraded is its `status_code`, if there is one.
 */
const STATES: Readonly<Record<string, readonly string[]>> = {
  synced: ["In sync"],
  responds: ["Online"],
  // A service without a node.
  running: ["Running"],
  starting: ["Starting"],
  syncing: ["Syncing", "behind its network"],
  degraded: ["Needs attention", "something is wrong"],
  stale: ["Not responding", "", "last known values"],
  // A node that the service has not queried for a while.
  outdated: ["Checking", "", "last known values"],
  unreachable: ["Unreachable", "the node does not respond"],
  silent: ["No connection", "this page cannot reach the service", "last known values"],
};

/** The title of this service's own API; no node has this name. */
export const OWN_TITLE = "Nodeface";

interface Naming {
  readonly title?: string | undefined;
  readonly api: string;
}

interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  /** The value in RFC 3339 format, in UTC; `undefined` if the figure is not a time. */
  readonly time: string | undefined;
}

export interface HeadText {
  readonly name: string;
  readonly about: string;
  readonly title: string;
  /** Empty for a service without a node. */
  readonly iconName: string;
  /** A key of `STATES`, or an empty string. */
  readonly state: string;
  readonly label: string;
  readonly note: string;
  readonly figures: readonly Figure[];
  readonly hint: string;
}

export type StateText = Pick<HeadText, "state" | "label" | "note">;

export function describeInfo(
  info: ShownInfo,
  naming: Naming,
  history: ShownHistory = {},
): HeadText {
  const state = stateOf(info);
  const describe = (rows: readonly Row[], values: ShownInfo) =>
    rows.flatMap(([key, label, format = formatValue]): Figure[] => {
      const value = format(values[key]);
      const [, date, clock] = format === formatUtc && TIME.exec(formatText(values[key])) || [];
      const time = date && `${date}T${clock}Z`;
      const isOmitted = value === "" ||
        // A synced node may report a `progress` below 1. A node that has not begun to sync may
        // report 1.
        (key === "progress" && (state === "synced" || !((values[key] as number) < 1))) ||
        // A service without a node omits its start time, so that a restart does not change its
        // page.
        (key === "started_at" && isService(info));
      return isOmitted ? [] : [{ key, label, value, time }];
    });
  const [name, about] = headingOf(info, naming);
  const [response_ms] = listOf(history.response_ms).slice(-1);
  const figures = info.status === "unreachable"
    ? describe(FIGURES_LAST_SEEN, seenOf(info))
    : describe([...FIGURES, ...columnsOf(history), ...FIGURES_LAST], {
      ...info,
      response_ms: isNumber(response_ms) ? response_ms : undefined,
    });
  return {
    name,
    about,
    title: joinTexts(" · ", name, about),
    iconName: name === OWN_TITLE ? "" : name,
    ...describeState(state, info, history),
    figures: figures.slice(0, 4),
    hint: hintOf(info),
  };
}

const joinTexts = (separator: string, ...texts: readonly string[]): string =>
  texts.filter((text) => text !== "").join(separator);

function columnsOf(history: ShownHistory): Row[] {
  const known = ["interval", "at", "status", ...[...FIGURES, ...FIGURES_LAST].map(([key]) => key)];
  return Object.keys(history).filter((key) => !known.includes(key))
    .map((key) => [key, capital(formatValue(key.replaceAll("_", " ")))]);
}

function hintOf({ status, status_code, status_remedy, peers }: ShownInfo): string {
  const isAlone = status === "syncing" && textOf(peers) === "0";
  const remedy = textOf(status_remedy) ?? (isAlone ? "it has no peers yet" : "");
  const isRetried = status_code !== "outdated" &&
    (status === "unreachable" || status === "stale");
  return joinTexts("; ", capital(remedy), isRetried ? "retrying every few seconds" : "");
}

export function describeState(
  state: string,
  info: ShownInfo = {},
  history: ShownHistory = {},
): StateText {
  const { status, status_code, status_reason } = info;
  const [usualLabel = formatValue(status), usual = "", addition = ""] = STATES[state] ?? [];
  const code = state === "degraded" ? formatValue(status_code) : "";
  const label = capital(code.replaceAll("_", " ")) || usualLabel;
  // The reason is a predicate, such as "is 12 blocks behind its peers".
  const reason = formatText(status_reason, 160).replace(/^is /, "") || usual;
  const at = status === "ok" ? "" : seenOf(info).at ?? sinceOf(history, status);
  const [, day, time] = TIME.exec(formatText(at)) ?? [];
  const isToday = day === new Date().toISOString().slice(0, 10);
  const since = time ? `since ${isToday ? "" : `${day} `}${time.slice(0, 5)} UTC` : "";
  const speed = formatValue(info.blocks_per_second);
  const rate = speed && `${speed} blocks/s`;
  const timeLeft = formatTimeLeft(info.seconds_left);
  const left = timeLeft && `${timeLeft} left`;
  return { state, label, note: joinTexts("; ", reason, rate, left, since, addition) };
}

function sinceOf(history: ShownHistory, status: unknown): unknown {
  const states = listOf(history.status);
  const before = states.findLastIndex((one) => one !== status);
  return before < 0 || before === states.length - 1 ? undefined : listOf(history.at)[before + 1];
}

const seenOf = ({ status, last_seen }: ShownInfo): ShownInfo =>
  status === "unreachable" ? objectOf(last_seen) : {};

function headingOf(info: ShownInfo, { title, api }: Naming): [name: string, about: string] {
  const known: ShownInfo = { ...seenOf(info), ...info };
  const shown = (key: string) => formatValue(known[key]);
  const [software, version, chain] = [shown("software"), shown("version"), shown("chain_id")];
  const isAlone = isService(info) && (info.name === undefined || info.name === info.software);
  const own = isAlone ? [] : [shown("name"), software];
  const ofApi = isAlone || api !== OWN_TITLE ? formatText(api) : "";
  const name = [formatText(title), ...own, ofApi].find((text) => text !== "") ?? "Node";
  const isNamed = name.toLowerCase() === software.toLowerCase();
  const what = isNamed
    ? version && `Version ${version}`
    : isAlone
    ? ""
    : joinTexts(" ", software, version);
  const id = chain.length > 20 ? `${chain.slice(0, 8)}…${chain.slice(-4)}` : chain;
  const where = shown("network_name") || shown("network") || (id && `chain ${id}`);
  return [name, joinTexts(" · ", what, where)];
}

const isService = ({ software, api }: ShownInfo): boolean => software === "nodeface" && !api;

function stateOf(info: ShownInfo): string {
  const { status, status_code, synced } = info;
  if (status === undefined && isService(info)) return "running";
  const state = status_code === "outdated" ? status_code : textOf(status) ?? "";
  if (state !== "ok") return Object.hasOwn(STATES, state) ? state : "";
  if (typeof synced === "boolean") return synced ? "synced" : "syncing";
  return "responds";
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || Number.isFinite(value);

function formatValue(value: unknown): string {
  return formatText(isNumber(value) ? groupDigits(String(value), "\u202f") : value);
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

function formatUtc(value: unknown): string {
  return formatText(value).replace(TIME, "$1 $2 UTC");
}

/** Rounds down, so that 100% means complete. */
function formatShare(value: unknown): string {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) return "";
  // In floating point, 0.57 * 10000 is a little less than 5700.
  const hundredths = Math.floor(value * 10_000 + 1e-6);
  return `${Math.min(hundredths, value < 1 ? 9_999 : 10_000) / 100}%`;
}

/**
 * Zero-width, bidirectional and tag characters: they can make two different texts look the same.
 */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

function formatText(value: unknown, length = 80): string {
  return typeof value === "string" ? excerpt(value.replaceAll(INVISIBLE, ""), length) : "";
}

/**
 * For each unit: its name, its length in milliseconds, and the count from which the next larger
 * unit is used.
 */
const AGES = [
  ["second", 1000, 90],
  ["minute", 60_000, 90],
  ["hour", 3_600_000, 36],
  ["day", 86_400_000, 730],
  ["year", 31_557_600_000, Infinity],
] as const;

function formatTimeLeft(seconds: unknown): string {
  return isNumber(seconds) ? `about ${roundDuration(1000 * Number(seconds), Math.round)}` : "";
}

/** Rounds to a whole number of a unit. Returns an empty string if the duration is NaN. */
function roundDuration(milliseconds: number, round = Math.trunc): string {
  const age = AGES.find(([, length, most]) => milliseconds < length * most);
  if (!age) return "";
  const [unit, length] = age;
  const count = round(milliseconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function formatAge(milliseconds: number): string {
  const text = roundDuration(Math.abs(milliseconds));
  if (text === "") return "";
  return milliseconds <= -1000 ? `in ${text}` : `${text} ago`;
}

/**
 * @param icon a URL
 * @param other the link to the other view
 * @param calls the lines below the figures
 */
export function renderHead(text: HeadText, icon: Part, other?: Part, calls?: Part): Html {
  const { name, about, state, label, note, figures, hint } = text;
  return markup`
    <div id="bar" data-scalar-scroll-header>
      <img class="icon" src="${icon}" alt="" width="28" height="28">
      <div class="names">
        <h1 dir="auto"><a href="${V1}info">${name}</a></h1>
        <p dir="auto">${about}</p>
      </div>
      <p class="state" role="status" data-state="${state}">
        <b>${label}</b> <span dir="auto">${note}</span>
      </p>
      ${other}
    </div>
    <div class="facts">
      <dl>${renderFigures(figures)}</dl>
      <p class="hint">${hint}</p>
      ${calls}
    </div>`;
}

/** Returns the history up to now: the plot of a figure ends with the value beside it. */
export function untilNow(history: ShownHistory, info: ShownInfo): ShownHistory {
  const columns = Object.entries(history).map(([key, value]) => {
    const column = listOf(value);
    const isOpen = isNumber(info[key]) && isNumber(column.at(-1));
    return [key, isOpen ? [...column.slice(0, -1), info[key]] : value];
  });
  return Object.fromEntries(columns);
}

export function renderFigures(figures: readonly Figure[], history: ShownHistory = {}): Html {
  /** The time that all plots cover, once the first one has told it. */
  let told: Html | undefined;
  const all = figures.map(({ key, label, value, time }) => {
    // The page's script changes this text to an age, such as "2 minutes ago"; the `title` keeps the
    // exact time.
    const text = time
      ? markup`<time datetime="${time}" title="${value}">${value}</time>`
      : markup`<span>${value}</span>`;
    const { span, svg } = plotOf(history, key);
    const shown = told ? undefined : span;
    told ??= span;
    return markup`<div><dt>${label}${shown}</dt><dd>${text}${svg}</dd></div>`;
  });
  return markup`${all}`;
}

const WIDTH = 240, HEIGHT = 24, POINTS_MAX = 240;

/** Returns a plot with the ends of its scale, and the time that it covers. */
function plotOf(history: ShownHistory, key: string): { span?: Html; svg?: Html } {
  const times = listOf(history.at).slice(-POINTS_MAX).map((at) => Date.parse(String(at)));
  const column = listOf(history[key]).slice(-POINTS_MAX);
  const known = column.filter(isNumber);
  const [start, end] = [times[0]!, times.at(-1)!];
  if (known.length < 2 || !(end > start)) return {};
  const least = known.reduce((a, b) => b < a ? b : a);
  const most = known.reduce((a, b) => b > a ? b : a);
  // The difference between two huge numbers could overflow to infinity, so each number is halved.
  const from = (value: number | bigint) => Number(value) / 2 - Number(least) / 2;
  const range = from(most);
  let path = "";
  let isDrawn = false;
  for (const [i, value] of column.entries()) {
    const x = Math.round(WIDTH * (times[i]! - start) / (end - start));
    const share = isNumber(value) ? range > 0 ? from(value) / range : 0.5 : NaN;
    const isPoint = share >= 0 && share <= 1 && x >= 0 && x <= WIDTH;
    if (isPoint) path += `${isDrawn ? "L" : "M"}${x} ${Math.round(HEIGHT * (1 - share))}`;
    isDrawn = isPoint;
  }
  const [low, high] = [formatValue(least), formatValue(most)];
  const time = roundDuration(end - start).replace(/^1 /, "");
  const title = `${low === high ? low : `from ${low} to ${high}`} in the last ${time}`;
  return {
    span: markup`<small>, last ${time}</small>`,
    svg: markup`
      <svg role="img" viewBox="0 -1 ${WIDTH} ${HEIGHT + 2}" preserveAspectRatio="none">
        <title>${title}</title>
        <path d="${path}" vector-effect="non-scaling-stroke"/>
      </svg>
      <small class="scale" aria-hidden="true">${high}${low !== high && markup`<br>${low}`}</small>`,
  };
}
