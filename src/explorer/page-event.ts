/**
 * Reads an event of a response (HTML Standard, section 9.2) for the page.
 *
 * @module
 */

/** An event as text, or the reason for the end of the response. */
export interface PageEvent {
  readonly text?: string;
  readonly reason?: string;
}

/** @param block the lines of an event; without data, as in a comment, it is none */
export function readEvent(block: string): PageEvent {
  const [, name] = /^event: ?(.*)/m.exec(block) ?? [];
  const data = [...block.matchAll(/^data: ?(.*)/gm)].map(([, line]) => line).join("\n");
  const reason = name === "end" ? reasonIn(data) : undefined;
  if (reason !== undefined) return { reason };
  return data === "" ? {} : { text: name ? `${name} ${data}` : data };
}

/** Operations of hosts may name their own events `end`. */
function reasonIn(data: string): string | undefined {
  try {
    const { reason } = JSON.parse(data);
    return typeof reason === "string" ? reason : undefined;
  } catch {
    return undefined;
  }
}
