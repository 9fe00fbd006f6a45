/**
 * The header of the page: the current state of the node. It is rendered from the object of
 * `GET /v1/info`; `static/header.js` keeps it current and says the same of the same info.
 *
 * @module
 */
import { excerpt } from "../text.ts";
import { escape } from "./html.ts";

/** The keys that are shown, the most important first, their labels, and their form where it is special. */
const FACTS = [
  ["updated_at", "As of", "time"],
  ["sync_progress", "Progress", "percent"],
  ["network", "Network"],
  ["chain_id", "Chain"],
  ["height", "Height"],
  ["peers", "Peers"],
  ["software", "Software"],
  ["version", "Version"],
  ["head_at", "Latest block", "time"],
] as const;

/**
 * The label of each state, the note where the info gives no reason, and what is said beside the reason.
 * A node that is `ok` is in one of the first three states.
 */
const STATES = {
  synced: ["In sync"],
  answers: ["Answers"],
  /** A service without a node. */
  running: ["Running"],
  starting: ["Starting"],
  syncing: ["Syncing", "behind its network"],
  degraded: ["Needs attention", "something is wrong"],
  stale: ["Not answering", "", "last known values"],
  unreachable: ["Unreachable", "the node does not answer"],
  /** Set by `header.js` if the service does not answer. */
  silent: ["No connection", "", "last known values"],
} as const;

/** In UTF-16 code units. */
const VALUE_LENGTH_MAX = 80;
const REASON_LENGTH_MAX = 160;

/** The object of `GET /v1/info`. */
export type Info = Readonly<Record<string, unknown>>;

/** What the header says, as plain text. */
export interface HeaderText {
  readonly name: string;
  /** A key of the states, or an empty text. */
  readonly state: string;
  readonly label: string;
  readonly note: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
}

/** The tables as attribute values: the page has them for its script. */
export const TABLES: Readonly<Record<"facts" | "states", string>> = {
  facts: escape(JSON.stringify(FACTS)),
  states: escape(JSON.stringify(STATES)),
};

/**
 * Renders the header.
 *
 * @returns HTML for a `header` element
 */
export function renderHeader(info: Info): string {
  const { name, state, label, note, facts } = describeInfo(info);
  const items = facts.map(([label, value]) =>
    `<div><dt>${escape(label)}</dt><dd>${escape(value)}</dd></div>`
  );
  return `<p class="name"><a href="info">${escape(name)}</a></p>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b> ` +
    `<span>${escape(note)}</span></p><dl>${items.join("")}</dl>`;
}

/** Says what the header shows of an info; as in `header.js`. */
export function describeInfo(info: Info): HeaderText {
  const state = stateOf(info);
  const [label = formatValue(info.status), usual = "", addition = ""] = textsOf(state);
  const reason = formatText(info.status_reason, REASON_LENGTH_MAX) || usual;
  const facts = FACTS.flatMap(([key, label, form]) => {
    const value = format(info[key], form);
    // Nodes that are in sync stay a little below 100 %.
    const isShown = value !== "" && !(key === "sync_progress" && state === "synced");
    return isShown ? [[label, value] as const] : [];
  });
  const note = [reason, addition].filter((text) => text !== "").join("; ");
  return { name: nameOf(info), state, label, note, facts };
}

/** The name of the node as plain text. */
export function nameOf(info: Info): string {
  return formatValue(info.name) || formatValue(info.software) || "Node";
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

/** A string or a number as text, else an empty text. */
function formatValue(value: unknown): string {
  const isNumber = typeof value === "bigint" || Number.isFinite(value);
  return formatText(isNumber ? groupDigits(String(value)) : value, VALUE_LENGTH_MAX);
}

/** An RFC 3339 time in UTC without fractions of a second; any other text as it is. */
function formatTime(value: unknown): string {
  return formatText(value, VALUE_LENGTH_MAX)
    .replace(/^([\d-]{10})T([\d:]{8})(\.\d+)?Z$/, "$1 $2 UTC");
}

/** A share of 1 as a percentage, rounded down, so that it is 100 only when complete. */
function formatShare(value: unknown): string {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) return "";
  // The sum makes up for products such as 0.57 * 10000, which is a little less than 5700.
  const hundredths = Math.floor(value * 10_000 + 1e-6);
  return `${Math.min(hundredths, value < 1 ? 9_999 : 10_000) / 100}%`;
}

function formatText(value: unknown, length: number): string {
  return typeof value === "string" ? excerpt(value, length) : "";
}

/** Separates the thousands of a number by narrow spaces; leaves its fraction. */
function groupDigits(number: string): string {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}
