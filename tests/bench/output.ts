/**
 * Prints tables row by row on the terminal, formats them for the report, and shows the progress.
 */
import process from "node:process";

/** The number NaN is shown as `–`. */
export type Cell = string | number;

export interface Options {
  /** The IDs of runtimes. An empty list selects all runtimes. */
  readonly only: readonly string[];
  readonly isQuick: boolean;
  /** Folders with builds of other commits. */
  readonly beside: readonly string[];
}

export interface Section {
  title: string;
  /** The text is Markdown. */
  text: string;
  table: Table;
}

/** Minimum widths of the columns, in characters. */
const FIRST = 26, OTHERS = 7;

export class Table {
  readonly head: readonly string[];
  readonly rows: string[][] = [];

  constructor(head: readonly string[]) {
    this.head = head;
  }

  add(...cells: Cell[]): void {
    clear();
    if (this.rows.length === 0) console.log(`\n${this.#line(this.head)}`);
    const row = cells.map((cell) => typeof cell === "number" ? format(cell) : cell);
    this.rows.push(row);
    console.log(this.#line(row));
  }

  /** Returns a Markdown table, whose columns `deno fmt` aligns. */
  toString(): string {
    const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
    const rule = this.head.map((_, column) => column === 0 ? "---" : "---:");
    return [this.head, rule, ...this.rows].map(line).join("\n");
  }

  #line(cells: readonly string[]): string {
    return cells.map((cell, column) => {
      const width = Math.max(column === 0 ? FIRST : OTHERS, this.head[column]!.length);
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ");
  }
}

/** Examples: `0.97`, `12.3`, `45,678`. */
export function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** Shows what is measured now, and the time since the start: on a line of its own in a file. */
export function step(what: string): void {
  const { isTTY, columns = 80 } = process.stderr;
  const seconds = Math.floor(performance.now() / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const line = `${time} ${what}`;
  process.stderr.write(isTTY ? `\r\x1b[K${line.slice(0, columns - 1)}` : `${line}\n`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
