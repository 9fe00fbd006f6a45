/**
 * Reads an event of a response (HTML Standard, section 9.2) for the page.
 *
 * @module
 */
import { objectOf } from "../json/values.ts";
import { parsed } from "./form-request.ts";

/** An event as text, or the reason for the end of the response. */
export interface PageEvent {
  readonly text?: string;
  readonly reason?: string;
}

/** @param block the lines of an event; without data, as in a comment, it is none */
export function readEvent(block: string): PageEvent {
  const [, name] = /^event: ?(.*)/m.exec(block) ?? [];
  const data = [...block.matchAll(/^data: ?(.*)/gm)].map(([, line]) => line).join("\n");
  // Operations of hosts may name their own events `end`.
  const { reason } = name === "end" ? objectOf(parsed(data)) : {};
  if (typeof reason === "string") return { reason };
  return data === "" ? {} : { text: name ? `${name} ${data}` : data };
}
