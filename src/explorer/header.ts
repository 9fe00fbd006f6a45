/**
 * The header of the page: what the node is right now. It is there in the first HTML, from the same
 * object that `GET /v1/info` answers with, and `static/header.js` keeps it current.
 *
 * @module
 */
import { shorten } from "../text.ts";
import { escape } from "./html.ts";

/** The keys that are shown where the info has them, the most wanted first, and their labels. */
const FACTS = [
  ["updated_at", "As of"],
  ["network", "Network"],
  ["chain_id", "Chain"],
  ["height", "Height"],
  ["peers", "Peers"],
  ["software", "Software"],
  ["version", "Version"],
] as const;

/** What a status is called, and what it means where that is not plain. */
const STATES = {
  ok: ["Running"],
  synced: ["In sync"],
  syncing: ["Syncing", "catching up with its network"],
  stale: ["Not answering", "last known values"],
  unreachable: ["Unreachable", "the node does not answer"],
  /** The page's own: the service cannot be reached. */
  silent: ["No connection", "last known values"],
} as const;

/** How long a value may be shown, in characters. */
const VALUE_MAX = 80;

/** What is known of a node: one JSON object, open to any key. */
export type Info = Readonly<Record<string, unknown>>;

/** The tables above, which the page carries for its script, as attribute values. */
export const TABLES: Readonly<Record<"facts" | "states", string>> = {
  facts: escape(JSON.stringify(FACTS)),
  states: escape(JSON.stringify(STATES)),
};

/**
 * Renders the header.
 *
 * @param info the object of `GET /v1/info`
 * @returns HTML to stand in a `header` element
 */
export function renderHeader(info: Info): string {
  const facts = FACTS.flatMap(([key, label]) => {
    const value = show(info[key]);
    return value ? [`<div><dt>${label}</dt><dd>${escape(value)}</dd></div>`] : [];
  });
  const { state, label, note } = stateOf(info);
  return `<p class="name"><a href="info">${escape(nameOf(info))}</a></p>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b>` +
    `<span>${escape(note)}</span></p><dl>${facts.join("")}</dl>`;
}

/** The name of the node as plain text. */
export function nameOf(info: Info): string {
  return show(info.name) || show(info.software) || "Node";
}

/** What `status` says, and `synced` where the node is well. */
function stateOf({ status, synced }: Info): { state: string; label: string; note: string } {
  const known = Object.hasOwn(STATES, String(status)) ? String(status) : "";
  const state = known === "ok" || status === undefined
    ? synced === true ? "synced" : synced === false ? "syncing" : known
    : known;
  const [label = show(status), note = ""] = STATES[state as keyof typeof STATES] ?? [];
  return { state, label, note };
}

/** A value as text: digits in groups; nothing for what is no single value. `header.js` does the same. */
function show(value: unknown): string {
  if (typeof value === "string") return shorten(value, VALUE_MAX);
  if (typeof value !== "number" && typeof value !== "bigint") return "";
  return shorten(groupDigits(String(value)), VALUE_MAX);
}

/** Puts narrow spaces between the thousands of a number, and none into its fraction. */
function groupDigits(number: string): string {
  return number.replace(/\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...whole.slice(first).match(/\d{3}/g) ?? []].join("\u202f");
  });
}
