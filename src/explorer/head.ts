/**
 * The head of both documents: a card of the node, made from the object of `GET /v1/info`. It is rendered for the first
 * HTML; `static/head.ts` keeps it current with the same texts.
 *
 * @module
 */
import { groupDigits } from "../info/settings.ts";
import { capital, objectOf, textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { escape, V1 } from "./html.ts";
import {
  drawSparkline,
  HEIGHT,
  type History,
  lastOf,
  sinceOf,
  type Sparkline,
  WIDTH,
} from "./sparkline.ts";

/** A key that is shown, its label, and what writes its value: an empty text where it is not shown. */
type Row = readonly [key: string, label: string, format?: (value: unknown) => string];

/** The figures of a node: the first ones that are known are shown. */
const FIGURES: readonly Row[] = [
  ["updated_at", "As of", formatTime],
  ["sync_progress", "Progress", formatShare],
  ["height", "Height"],
  ["head_at", "Latest block", formatTime],
  ["peers", "Peers"],
];

/** Those that take the places that are left; between them come the further columns of the history. */
const FIGURES_LAST: readonly Row[] = [
  ["response_ms", "Response time", (value) => formatValue(value) && `${formatValue(value)} ms`],
  ["started_at", "Started", formatTime],
];

/** Of `last_seen`. */
const FIGURES_LAST_SEEN: readonly Row[] = [
  ["at", "Last seen", formatTime],
  ["height", "At height"],
];

const FIGURES_MAX = 4;

/**
 * The label of each state, the note where the info gives no reason, and what is said beside the reason.
 * A node that is `ok` is in one of the first three states, or syncs.
 */
const STATES: Readonly<Record<string, readonly string[]>> = {
  synced: ["In sync"],
  answers: ["Online"],
  /** A service without a node. */
  running: ["Running"],
  starting: ["Starting"],
  syncing: ["Syncing", "behind its network"],
  degraded: ["Needs attention", "something is wrong"],
  stale: ["Not responding", "", "last known values"],
  unreachable: ["Unreachable", "the node does not respond"],
  /** The state where the service does not respond to the page. */
  silent: ["No connection", "this page has lost the service", "last known values"],
};

/** The remedy by `status_code`, as in `docs/troubleshooting.md`; none where there is nothing to do but to wait. */
const REMEDIES: Readonly<Record<string, string>> = {
  warming_up: "Its own log shows its progress",
  connection_refused: "Start the node, or correct node.url",
  timeout: "Raise node.timeout (at most 10 s); a firewall may drop packets",
  dns: "Correct the name in node.url",
  tls: "Renew its certificate, or set node.tls.ca_file",
  not_tls: "Write http:// in node.url",
  reset: "Look at the node's log: it may have crashed",
  unauthorized: "Set node.auth; the service's log has the line to write",
  forbidden: "Set node.auth, or have the node allow this address",
  no_credentials: "The service's log says why the secret of node.auth cannot be read",
  unknown_kind: "Check port and path in node.url, or set node.kind",
  wrong_kind: "Correct node.kind, or leave it out",
  bad_answer: "The service's log names the source that failed",
  no_leader: "Bring back members until more than half are there",
  alarm: "See the node's documentation",
  no_peers: "Check its firewall, its listening port and its peer list",
  stalled: "Compare with a public source; check its disk, clock and peers",
};

const ASKED_AGAIN = "it is asked again every few seconds";

/** The title of this service's own API, which names no node. */
const OWN_TITLE = "Nodeface";

/** In UTF-16 code units. */
const VALUE_LENGTH_MAX = 80, REASON_LENGTH_MAX = 160;

/** The object of `GET /v1/info`. */
export type Info = Readonly<Record<string, unknown>>;

/** The names of the page where the info has none. */
interface Naming {
  /** The operator's name for it, whatever the node says. */
  readonly title?: string | undefined;
  /** The title of the API: what a service without a node is called, and a node of which nothing is known. */
  readonly api: string;
}

/** One figure; a time has its machine-readable form as well (RFC 3339, in UTC). */
interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  readonly time: string | undefined;
}

export interface StateText {
  /** A key of the states, or an empty text. */
  readonly state: string;
  readonly label: string;
  readonly note: string;
}

export interface HeadText extends StateText {
  readonly name: string;
  /** The software with its version, and the network. */
  readonly about: string;
  /** The name with what tells it from others. */
  readonly title: string;
  /** The name that the icon stands for: an empty text for a service without a node. */
  readonly iconName: string;
  readonly figures: readonly Figure[];
  /** The remedy where something is wrong. */
  readonly hint: string;
}

/** @param history that of the node, where it is known: it has figures that the info lacks */
export function describeInfo(info: Info, naming: Naming, history: History = {}): HeadText {
  const state = stateOf(info);
  const describe = (rows: readonly Row[], values: Info) =>
    rows.flatMap(([key, label, format = formatValue]): Figure[] => {
      const value = format(values[key]);
      // Without a node, the page is the same in every run.
      const isLeftOut = value === "" ||
        (key === "sync_progress" && !isPartial(state, values[key])) ||
        (key === "started_at" && isService(info));
      const time = format === formatTime ? timeOf(values[key]) : undefined;
      return isLeftOut ? [] : [{ key, label, value, time }];
    });
  const [name, about] = namesOf(info, naming);
  const measured = { ...info, response_ms: lastOf(history, "response_ms") };
  const figures = info.status === "unreachable"
    ? describe(FIGURES_LAST_SEEN, seenOf(info))
    : describe([...FIGURES, ...columnsOf(history), ...FIGURES_LAST], measured);
  return {
    ...{ name, about, title: joinTexts(" · ", name, about) },
    iconName: name === OWN_TITLE ? "" : name,
    ...describeState(state, info, history),
    figures: figures.slice(0, FIGURES_MAX),
    hint: hintOf(info),
  };
}

const joinTexts = (separator: string, ...texts: readonly string[]): string =>
  texts.filter((text) => text !== "").join(separator);

/** Nodes that are in sync stay a little below 1; one that says 1 and goes on has not begun. */
const isPartial = (state: string, progress: unknown): boolean =>
  state !== "synced" && (progress as number) < 1;

/** Lists the columns of a history that only its kind of node has. */
function columnsOf(history: History): Row[] {
  const known = new Set([
    "interval",
    "at",
    "status",
    ...[...FIGURES, ...FIGURES_LAST].map(([key]) => key),
  ]);
  return Object.keys(history).filter((key) => !known.has(key)).map((key) => {
    const label = formatValue(key.replaceAll("_", " "));
    return [key, capital(label)] as const;
  });
}

function hintOf({ status, status_code, peers }: Info): string {
  const code = textOf(status_code) ?? "";
  const remedy = Object.hasOwn(REMEDIES, code)
    ? REMEDIES[code]!
    : status === "syncing" && Number(peers) === 0
    ? "It has no peers yet"
    : "";
  return joinTexts("; ", remedy, status === "unreachable" || status === "stale" ? ASKED_AGAIN : "");
}

export function describeState(state: string, info: Info = {}, history: History = {}): StateText {
  const [label = formatValue(info.status), usual = "", addition = ""] = STATES[state] ?? [];
  const reason = formatText(info.status_reason, REASON_LENGTH_MAX) || usual;
  const at = info.status === "ok" ? "" : seenOf(info).at ?? sinceOf(history, info.status);
  const [, , time] = TIME.exec(formatText(at)) ?? [];
  const since = time ? `since ${time.slice(0, 5)} UTC` : "";
  return { state, label, note: joinTexts("; ", reason, since, addition) };
}

/** Reads who a node was that is gone; of others nothing. */
const seenOf = ({ status, last_seen }: Info): Info =>
  status === "unreachable" ? objectOf(last_seen) : {};

/** Names the node, with what tells it from others, as plain text. The API may have a name where the info has none. */
function namesOf(info: Info, { title, api }: Naming): [name: string, about: string] {
  const known: Info = { ...seenOf(info), ...info };
  const textOf = (key: string) => formatValue(known[key]);
  const [software, version, chain] = [textOf("software"), textOf("version"), textOf("chain_id")];
  const isAlone = isService(info) && (info.name === undefined || info.name === info.software);
  const own = isAlone ? [] : [textOf("name"), software];
  const ofApi = isAlone || api !== OWN_TITLE ? formatText(api) : "";
  const name = [formatText(title), ...own, ofApi].find((text) => text !== "") ?? "Node";
  const isNamed = name.toLowerCase() === software.toLowerCase();
  const what = isNamed
    ? version && `Version ${version}`
    : isAlone
    ? ""
    : joinTexts(" ", software, version);
  const where = textOf("network") || (chain && `chain ${shortenId(chain)}`);
  return [name, joinTexts(" · ", what, where)];
}

const isService = ({ software, api }: Info): boolean => software === "nodeface" && !api;

/** Shortens an identifier of many digits to its ends. */
const shortenId = (id: string): string => id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;

/** Only `synced` says of a node that is ok whether it has caught up. */
function stateOf({ status, synced, api }: Info): string {
  const state = textOf(status) ?? "";
  if (state !== "ok") return Object.hasOwn(STATES, state) ? state : "";
  if (typeof synced === "boolean") return synced ? "synced" : "syncing";
  return api ? "answers" : "running";
}

/** Writes a string or a number, else an empty text. */
function formatValue(value: unknown): string {
  const isNumber = typeof value === "bigint" || Number.isFinite(value);
  return formatText(isNumber ? groupDigits(String(value), "\u202f") : value);
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** Writes an RFC 3339 time in UTC without fractions of a second; any other text as it is. */
function formatTime(value: unknown): string {
  return formatText(value).replace(TIME, "$1 $2 UTC");
}

/** Writes the same for machines; `undefined` for any other text. */
function timeOf(value: unknown): string | undefined {
  const [, date, time] = TIME.exec(formatText(value)) ?? [];
  return date && `${date}T${time}Z`;
}

/** Writes a share of 1 as a percentage, rounded down, so that it is 100 only when complete. */
function formatShare(value: unknown): string {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) return "";
  // The sum makes up for products such as 0.57 * 10000, which is a little less than 5700.
  const hundredths = Math.floor(value * 10_000 + 1e-6);
  return `${Math.min(hundredths, value < 1 ? 9_999 : 10_000) / 100}%`;
}

/** Zero-width characters, bidirectional controls and tags, by which a text looks like another. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

function formatText(value: unknown, length = VALUE_LENGTH_MAX): string {
  return typeof value === "string" ? excerpt(value.replaceAll(INVISIBLE, ""), length) : "";
}

/** The units of an age with their lengths in milliseconds, and from how many on the next one is used. */
const AGES = [
  ["second", 1000, 90],
  ["minute", 60_000, 90],
  ["hour", 3_600_000, 36],
  ["day", 86_400_000, Infinity],
] as const;

/** Writes an age in whole units; an empty text for what is no number of milliseconds. */
export function formatAge(milliseconds: number): string {
  const age = AGES.find(([, length, most]) => Math.abs(milliseconds) < length * most);
  if (!age) return "";
  const [unit, length] = age;
  // A negative zero is past: what has just happened is not to come.
  return new Intl.RelativeTimeFormat("en").format(-Math.trunc(milliseconds / length) || -0, unit);
}

/**
 * Renders the head: a bar that stays, and below it the figures.
 *
 * @param icon its address, as HTML
 * @param end the HTML at the end of the bar
 * @param calls the HTML of what is said of calls
 */
export function renderHead(text: HeadText, icon: string, end = "", calls = ""): string {
  const { name, about, state, label, note, figures, hint } = text;
  return `<div id="bar" data-scalar-scroll-header>` +
    `<img class="icon" src="${icon}" alt="" width="32" height="32">` +
    `<div class="names"><h1 dir="auto"><a href="${V1}info">${escape(name)}</a></h1>` +
    `<p dir="auto">${escape(about)}</p></div>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b> ` +
    `<span dir="auto">${escape(note)}</span></p>${end}</div>` +
    `<dl>${renderFigures(figures)}</dl>` +
    `<div class="notes"><p class="hint">${escape(hint)}</p>${calls}</div>`;
}

/** Renders figures, with their past where it is known. */
export function renderFigures(figures: readonly Figure[], history: History = {}): string {
  return figures.map(({ key, label, value, time }) =>
    `<div><dt>${escape(label)}</dt><dd>${renderValue(value, time)}${
      renderPlot(drawSparkline(history, key))
    }</dd></div>`
  ).join("");
}

/** The title keeps what is shown here when the script shows how long ago it was. */
function renderValue(value: string, time: string | undefined): string {
  const text = escape(value);
  return time ? `<time datetime="${time}" title="${text}">${text}</time>` : `<b>${text}</b>`;
}

function renderPlot(plot: Sparkline | undefined): string {
  if (!plot) return "";
  const [least, most] = [plot.least, plot.most].map(formatValue);
  const range = least === most ? least : `from ${least} to ${most}`;
  const title = `${range} in the last ${formatAge(plot.span).replace(/ ago$/, "")}`;
  return `<svg role="img" viewBox="0 -1 ${WIDTH} ${HEIGHT + 2}" preserveAspectRatio="none">` +
    `<title>${escape(title)}</title><path d="${plot.path}"/></svg>`;
}
