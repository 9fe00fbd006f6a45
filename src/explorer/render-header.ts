/**
 * The header of the page: the current state of the node. It is rendered from the object of
 * `GET /v1/info`; `static/header.js` keeps it current.
 *
 * @module
 */
import { shorten } from "../text.ts";
import { escape } from "./html.ts";

/** The keys that are shown, the most important first, and their labels. */
const FACTS = [
  ["updated_at", "As of"],
  ["network", "Network"],
  ["chain_id", "Chain"],
  ["height", "Height"],
  ["peers", "Peers"],
  ["software", "Software"],
  ["version", "Version"],
] as const;

/** The label of each state, and a note. */
const STATES = {
  ok: ["Running"],
  synced: ["In sync"],
  syncing: ["Syncing", "catching up with its network"],
  stale: ["Not answering", "last known values"],
  unreachable: ["Unreachable", "the node does not answer"],
  /** Set by `header.js` if the service does not answer. */
  silent: ["No connection", "last known values"],
} as const;

const VALUE_LENGTH_MAX = 80;

/** The object of `GET /v1/info`. */
export type Info = Readonly<Record<string, unknown>>;

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
  const facts = FACTS.flatMap(([key, label]) => {
    const value = formatValue(info[key]);
    return value ? [`<div><dt>${label}</dt><dd>${escape(value)}</dd></div>`] : [];
  });
  const { state, label, note } = stateOf(info);
  return `<p class="name"><a href="info">${escape(nameOf(info))}</a></p>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b>` +
    `<span>${escape(note)}</span></p><dl>${facts.join("")}</dl>`;
}

/** The name of the node as plain text. */
export function nameOf(info: Info): string {
  return formatValue(info.name) || formatValue(info.software) || "Node";
}

/** `synced` refines the state of a node that is ok. */
function stateOf({ status, synced }: Info): { state: string; label: string; note: string } {
  const known = Object.hasOwn(STATES, String(status)) ? String(status) : "";
  const state = known === "ok" || status === undefined
    ? synced === true ? "synced" : synced === false ? "syncing" : known
    : known;
  const [label = formatValue(status), note = ""] = STATES[state as keyof typeof STATES] ?? [];
  return { state, label, note };
}

/** A string or a number as text, else an empty text; as in `header.js`. */
function formatValue(value: unknown): string {
  if (typeof value === "string") return shorten(value, VALUE_LENGTH_MAX);
  if (typeof value !== "number" && typeof value !== "bigint") return "";
  return shorten(groupDigits(String(value)), VALUE_LENGTH_MAX);
}

/** Separates the thousands of a number by narrow spaces; leaves its fraction. */
function groupDigits(number: string): string {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}
