/**
 * `npm run kinds`: prints for each kind how many operations it names, how many were called at a real node, and how many
 * responses were valid. Arguments select kinds.
 */
import { existsSync } from "node:fs";
import process from "node:process";
import { KINDS_WITH_INTERFACE, loadInterface } from "../../src/description/known-interface.ts";
import { askKind } from "./_ask-kind.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { type Tally, tally } from "./_interface.ts";

const wanted = process.argv.slice(2);
const kinds = KINDS_WITH_INTERFACE.filter((kind) => wanted.length === 0 || wanted.includes(kind));
const rows: Tally[] = [];
for (const kind of kinds) {
  const canRun = existsSync(PROGRAMS[kind]?.path ?? "");
  const { parts, outcomes } = canRun
    ? await askKind(kind)
    : { parts: await loadInterface(kind), outcomes: [] };
  rows.push(tally(kind, parts, outcomes));
  for (const { name, mistake } of outcomes) {
    if (mistake !== undefined) console.error(`${kind}: ${name} ${mistake}`);
  }
}
const keys = ["operations", "asked", "exist", "right"] as const;
const width = Math.max(5, ...rows.map(({ kind }) => kind.length));
const line = (name: string, cells: readonly unknown[]) =>
  [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(10))].join("  ");
console.log(line("kind", keys));
for (const row of rows) console.log(line(row.kind, keys.map((key) => row[key])));
// A kept connection would keep the process alive.
process.exit(0);
