/** Formats the results of running the tools on the documents. */
import { complaintOf, type Pair } from "./_pairs.ts";

/**
 * Formats a table with a row for each document and a column for each tool. A cell contains `ok`,
 * `FAIL`, `tool` (a known fault of the tool), `doc` (a known fault of the document) or `-` (not
 * run). A list below the table names the tools.
 */
export function tableOf(
  documents: readonly string[],
  tools: readonly string[],
  pairs: Pair[],
): string {
  const cell = (document: string, tool: string) => {
    const pair = pairs.find((pair) => pair.document === document && pair.tool === tool);
    if (!pair) return "-";
    if (complaintOf(pair) !== undefined) return "FAIL";
    if (!pair.fault) return "ok";
    return pair.fault.of === "tool" ? "tool" : "doc";
  };
  const width = Math.max(...documents.map(({ length }) => length));
  const row = (name: string, cells: readonly string[]) =>
    [name.padEnd(width), ...cells.map((text) => text.padStart(4))].join("  ");
  const faults = pairs.filter((pair) => pair.fault && complaintOf(pair) === undefined);
  return [
    row("", tools.map((_, index) => `${index + 1}`)),
    ...documents.map((document) => row(document, tools.map((tool) => cell(document, tool)))),
    "",
    ...tools.map((tool, index) => `${`${index + 1}`.padStart(2)}  ${tool}`),
    "",
    ...faults.map(({ document, tool, fault }) => `${document} × ${tool}: ${fault!.why}`),
  ].join("\n");
}
