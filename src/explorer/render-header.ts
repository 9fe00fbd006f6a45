/**
 * Renders the header of the page: a card with the node's name and its current state, which `static/header.ts` keeps
 * current.
 *
 * @module
 */
import { describeInfo, type Info, type Naming } from "./describe-info.ts";
import { escape } from "./escape-html.ts";
import { MARK_WORDS } from "./words-of-marks.ts";

/** The words of marks as an attribute value: the page has them for its scripts. */
export const MARKS: string = escape(
  JSON.stringify(MARK_WORDS.map(([name, value, word]) => [name, value, word])),
);

/**
 * Renders the header.
 *
 * @param icon the address of the icon
 * @returns HTML for a `header` element
 */
export function renderHeader(info: Info, naming: Naming, icon: string): string {
  const { name, about, state, label, note, facts } = describeInfo(info, naming);
  const items = facts.map(([label, value, time]) =>
    `<div><dt>${escape(label)}</dt><dd>${renderValue(value, time)}</dd></div>`
  );
  return `<img class="icon" src="${escape(icon)}" alt="" width="40" height="40">` +
    `<div class="names"><h1><a href="info">${escape(name)}</a></h1><p>${escape(about)}</p></div>` +
    `<p class="state" role="status" data-state="${escape(state)}"><b>${escape(label)}</b> ` +
    `<span>${escape(note)}</span></p><dl>${items.join("")}</dl>`;
}

/** The title keeps what is shown here when the script shows how long ago it was. */
function renderValue(value: string, time: string | undefined): string {
  const text = escape(value);
  return time ? `<time datetime="${time}" title="${text}">${text}</time>` : text;
}
