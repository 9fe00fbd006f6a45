/**
 * Tables for a terminal.
 *
 * @module
 */

/**
 * Rows whose columns line up, two spaces apart, with a line break after each.
 *
 * @param rows the cells, one line each
 */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd();
  return rows.map((row) => `${line(row)}\n`).join("");
}
