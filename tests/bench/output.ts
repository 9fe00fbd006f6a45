/** Prints tables row by row on the terminal and as a whole for the report, and shows progress. */
import process from "node:process";

/** A cell; numbers are right-aligned, and NaN is `–`. */
export type Cell = string | number;

/** The options of a measurement. */
export interface Options {
  /** The named runtimes; empty for all. */
  readonly only: readonly string[];
  readonly isQuick: boolean;
  /** Folders with the built checkouts of other commits. */
  readonly beside: readonly string[];
}

/** A part of the report. */
export interface Section {
  title: string;
  /** The subject and the method, in Markdown. */
  text: string;
  table: Table;
}

/** The smallest widths of the first column and of the others on the terminal. */
const FIRST = 26, OTHERS = 7;

/** A header and rows, which are printed as they are added. */
export class Table {
  readonly head: readonly string[];
  readonly rows: string[][] = [];

  constructor(head: readonly string[]) {
    this.head = head;
  }

  /** Adds a row and prints it; numbers have three digits, or all integer digits. */
  add(...cells: Cell[]): void {
    clear();
    if (this.rows.length === 0) console.log(`\n${this.#line(this.head)}`);
    const row = cells.map((cell) => typeof cell === "number" ? format(cell) : cell);
    this.rows.push(row);
    console.log(this.#line(row));
  }

  /** Formats the table in Markdown; `deno fmt` aligns it. */
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

/** Formats a number with three digits, or with all integer digits: `0.97`, `12.3`, `45,678`. */
function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** Shows the current step on a terminal, in a line that the next step overwrites. */
export function step(what: string): void {
  const { isTTY, columns = 80 } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[K${what.slice(0, columns - 1)}`);
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
