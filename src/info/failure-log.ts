/**
 * Complaints: each once when it begins, and a word when all is well again, however often the node
 * is asked meanwhile.
 *
 * @module
 */
import type { SourceError } from "./sources/source-error.ts";

/** Is told of everything that is wrong now; says what has changed. */
export type Report = (failures: ReadonlyMap<string, SourceError>, node: string) => void;

/** Makes a report. */
export function createReport(log: (message: string, level?: "info") => void): Report {
  let before = new Set<string>();
  return (failures, node) => {
    const names = new Map<string, string[]>();
    for (const [name, { message }] of failures) {
      names.set(message, [...names.get(message) ?? [], name]);
    }
    const now = new Set([...names].map(([reason, of]) => `${node}, ${of.join(", ")}: ${reason}`));
    for (const line of now) if (!before.has(line)) log(line);
    if (before.size > 0 && now.size === 0) log(`${node}: all is well again`, "info");
    before = now;
  };
}
