/**
 * Run by `npm run kinds`. Prints how many operations each kind has, how many were called on a real
 * node, and how many responses were valid. Arguments select kinds by name.
 */
import { existsSync } from "node:fs";
import process from "node:process";
import { loadInterface } from "../../src/description/known-interface.ts";
import { KINDS_WITH_INTERFACE } from "../_kinds.ts";
import { askKind, NODES } from "./_ask-kind.ts";
import { type Tally, tally } from "./_interface.ts";

const wanted = process.argv.slice(2);
const here = NODES.filter(({ path }) => existsSync(path));
const names = [...new Set([...KINDS_WITH_INTERFACE, ...here.map(({ name }) => name)])]
  .filter((name) => wanted.length === 0 || wanted.includes(name));
const rows: Tally[] = [];
for (const name of names) {
  const program = here.find((one) => one.name === name);
  if (!program && wanted.length > 0) {
    console.error(`${name}: PROGRAMS in tests/nodes/_start-chains.ts has no program that is here`);
  }
  const { parts, outcomes } = program
    ? await askKind(program)
    : { parts: await loadInterface(name), outcomes: [] };
  rows.push(tally(name, parts, outcomes));
  for (const { name: operation, mistake } of outcomes) {
    if (mistake !== undefined) console.error(`${name}: ${operation} ${mistake}`);
  }
}
const keys = ["operations", "asked", "exist", "right"] as const;
const width = Math.max(5, ...rows.map(({ kind }) => kind.length));
const line = (name: string, cells: readonly unknown[]) =>
  [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(10))].join("  ");
console.log(line("kind", keys));
for (const row of rows) console.log(line(row.kind, keys.map((key) => row[key])));
// A persistent connection would keep this process alive.
process.exit(0);
