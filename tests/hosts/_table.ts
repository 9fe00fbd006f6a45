/** Formats the table of hosts and checks. */

/** The results of one host or bundler, keyed by check. */
export interface Row {
  readonly name: string;
  readonly cells: Map<string, string>;
}

/** A cell is `ok`, `FAIL`, or `-` if the check was not run. */
export function tableOf(rows: readonly Row[]): string {
  const checks = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
  const width = Math.max(...rows.map(({ name }) => name.length));
  const line = (name: string, cells: readonly string[]) =>
    [name.padEnd(width), ...cells.map((text) => text.padStart(4))].join("  ");
  return [
    line("", checks.map((_, i) => `${i + 1}`)),
    ...rows.map(({ name, cells }) => line(name, checks.map((check) => cells.get(check) ?? "-"))),
    "",
    ...checks.map((check, i) => `${`${i + 1}`.padStart(2)}  ${check}`),
  ].join("\n");
}
