/** Tables in Markdown. */

/** A cell: a number is set to the right. */
export type Cell = string | number;

/**
 * Writes a table whose columns line up.
 *
 * @param head the names of its columns; those whose cells are numbers are set to the right
 * @param rows as many cells as there are columns
 */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const isRight = head.map((_, column) =>
    column > 0 &&
    rows.every((row) => /^[-–~≥≤]?\d|^[–-]?$/.test(String(row[column])))
  );
  const widths = head.map((name, column) =>
    Math.max(3, ...[name, ...rows.map((row) => String(row[column] ?? ""))].map(width))
  );
  const pad = (cell: Cell, column: number) => {
    const space = " ".repeat(widths[column]! - width(String(cell)));
    return isRight[column] ? space + cell : cell + space;
  };
  const line = (cells: readonly Cell[]) => `| ${cells.map(pad).join(" | ")} |`;
  const rule = widths.map((size, column) => "-".repeat(size - 1) + (isRight[column] ? ":" : "-"));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

const width = (text: string) => [...text].length;
