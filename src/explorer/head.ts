/**
 * The head of both documents: a card of the node, made from the object of `GET /v1/info`. It is rendered for the first HTML; `static/head.ts` keeps it current with the same texts.
 *
 * @module
 */
import { groupDigits } from "../info/settings.ts";
import { objectOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { escape, V1 } from "./html.ts";

/** A key that is shown, its label, and its form where it is special. */
type Row = readonly [key: string, label: string, form?: "time" | "percent"];

/** The most important first. */
const FACTS: readonly Row[] = [
  ["updated_at", "As of", "time"],
  ["height", "Height"],
  ["head_at", "Latest block", "time"],
  ["sync_progress", "Progress", "percent"],
  ["peers", "Peers"],
  ["started_at", "Started", "time"],
  ["chain_id", "Chain"],
];

/** Of `last_seen`. */
const FACTS_LAST_SEEN: readonly Row[] = [
  ["at", "Last seen", "time"],
  ["height", "At height"],
];

/**
 * The label of each state, the note where the info gives no reason, and what is said beside the reason.
 * A node that is `ok` is in one of the first three states.
 */
const STATES = {
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
  silent: ["No connection", "", "last known values"],
} as const;

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

/** One fact; a time has its machine-readable form as well (RFC 3339, in UTC). */
type Fact = readonly [label: string, value: string, time?: string];

export interface StateText {
  /** A key of the states, or an empty text. */
  readonly state: string;
  readonly label: string;
  readonly note: string;
}

interface HeadText extends StateText {
  readonly name: string;
  /** The software with its version, and the network. */
  readonly about: string;
  readonly facts: readonly Fact[];
}

export function describeInfo(info: Info, naming: Naming): HeadText {
  const state = stateOf(info);
  const describe = (rows: readonly Row[], values: Info) =>
    rows.flatMap(([key, label, form]): Fact[] => {
      const value = format(values[key], form);
      // Nodes that are in sync stay a little below 100 %. Without a node, the page is the same in every run.
      const isLeftOut = (key === "sync_progress" && state === "synced") ||
        (key === "started_at" && isService(info));
      const time = form === "time" ? timeOf(values[key]) : undefined;
      return value === "" || isLeftOut ? [] : [time ? [label, value, time] : [label, value]];
    });
  const name = nameOf(info, naming);
  const facts = [...describe(FACTS, info), ...describe(FACTS_LAST_SEEN, seenOf(info))];
  return { name, about: aboutOf(info, name), ...describeState(state, info), facts };
}

export function describeState(state: string, info: Info = {}): StateText {
  const [label = formatValue(info.status), usual = "", addition = ""] = textsOf(state);
  const reason = formatText(info.status_reason, REASON_LENGTH_MAX) || usual;
  return { state, label, note: [reason, addition].filter((text) => text !== "").join("; ") };
}

/** Reads who a node was that is gone; of others nothing. */
const seenOf = ({ status, last_seen }: Info): Info =>
  status === "unreachable" ? objectOf(last_seen) : {};

/** Names the node as plain text. The API may have a name where the info has none. */
function nameOf(info: Info, { title, api }: Naming): string {
  const isOwn = isAlone(info);
  const { name, software } = { ...seenOf(info), ...info };
  const known = isOwn ? [] : [name, software].map(formatValue);
  const ofApi = isOwn || api !== OWN_TITLE ? formatText(api, VALUE_LENGTH_MAX) : "";
  const names = [formatText(title, VALUE_LENGTH_MAX), ...known, ofApi];
  return names.find((text) => text !== "") ?? "Node";
}

/** Names what the icon stands for: an empty text for a service without a node. */
export function iconNameOf(info: Info, naming: Naming): string {
  const name = nameOf(info, naming);
  return name === OWN_TITLE ? "" : name;
}

/** Writes the name with what tells it from others, as plain text. */
export function titleOf(info: Info, naming: Naming): string {
  const name = nameOf(info, naming);
  return [name, aboutOf(info, name)].filter((text) => text !== "").join(" · ");
}

const isService = ({ software, api }: Info): boolean => software === "nodeface" && !api;

const isAlone = (info: Info): boolean =>
  isService(info) && (info.name === undefined || info.name === info.software);

function aboutOf(info: Info, name: string): string {
  const known = { ...seenOf(info), ...info };
  const [software, version, network] = [known.software, known.version, known.network]
    .map(formatValue);
  const isNamed = name.toLowerCase() === software!.toLowerCase();
  const what = isNamed ? version && `Version ${version}` : `${software} ${version}`.trim();
  return [isAlone(info) && !isNamed ? "" : what, network].filter((text) => text).join(" · ");
}

/** Only `synced` says of a node that is ok whether it has caught up. */
function stateOf({ status, synced, api }: Info): string {
  if (status !== "ok") return isState(status) ? status : "";
  if (typeof synced === "boolean") return synced ? "synced" : "syncing";
  return api ? "answers" : "running";
}

const isState = (status: unknown): status is string =>
  typeof status === "string" && Object.hasOwn(STATES, status);

const textsOf = (state: string): readonly string[] => STATES[state as keyof typeof STATES] ?? [];

function format(value: unknown, form: "time" | "percent" | undefined): string {
  if (form === "time") return formatTime(value);
  return form === "percent" ? formatShare(value) : formatValue(value);
}

/** Writes a string or a number, else an empty text. */
function formatValue(value: unknown): string {
  const isNumber = typeof value === "bigint" || Number.isFinite(value);
  return formatText(isNumber ? groupDigits(String(value), "\u202f") : value, VALUE_LENGTH_MAX);
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** Writes an RFC 3339 time in UTC without fractions of a second; any other text as it is. */
function formatTime(value: unknown): string {
  return formatText(value, VALUE_LENGTH_MAX).replace(TIME, "$1 $2 UTC");
}

/** Writes the same for machines; `undefined` for any other text. */
function timeOf(value: unknown): string | undefined {
  const [, date, time] = TIME.exec(formatText(value, VALUE_LENGTH_MAX)) ?? [];
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

function formatText(value: unknown, length: number): string {
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
  return new Intl.RelativeTimeFormat("en").format(-Math.trunc(milliseconds / length), unit);
}

/** Renders the head as a `header` element; the address of the icon is HTML already. */
export function renderHead(info: Info, naming: Naming, icon: string): string {
  const { name, about, state, label, note, facts } = describeInfo(info, naming);
  const items = facts.map(([label, value, time]) =>
    `<div><dt>${escape(label)}</dt><dd>${renderValue(value, time)}</dd></div>`
  );
  return `<img class="icon" src="${icon}" alt="" width="40" height="40">` +
    `<div class="names"><h1><a href="${V1}info">${escape(name)}</a></h1><p>${
      escape(about)
    }</p></div>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b> ` +
    `<span>${escape(note)}</span></p><dl>${items.join("")}</dl>`;
}

/** The title keeps what is shown here when the script shows how long ago it was. */
function renderValue(value: string, time: string | undefined): string {
  const text = escape(value);
  return time ? `<time datetime="${time}" title="${text}">${text}</time>` : text;
}
